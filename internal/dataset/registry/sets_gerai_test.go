package registry

import (
	"math"
	"reflect"
	"slices"
	"testing"

	"privrec/internal/dataset"
)

// checkRatings compares every training row's rating with that of the log.
func checkRatings(t *testing.T, x *dataset.Interactions, v dataset.View, opts Options) {
	t.Helper()
	l, _, err := LoadLog(t.Context(), x.Name, v, opts)
	if err != nil {
		t.Fatal(err)
	}
	want := map[[2]string]float32{}
	for row := range l.Users {
		want[[2]string{l.UserIDs[l.Users[row]], l.ItemIDs[l.Items[row]]}] = l.Values[row]
	}
	for u, items := range x.Train {
		if len(x.Ratings[u]) != len(items) {
			t.Fatalf("user %s: %d ratings of %d rows", x.UserIDs[u], len(x.Ratings[u]), len(items))
		}
		for k, i := range items {
			if w := want[[2]string{x.UserIDs[u], x.ItemIDs[i]}]; x.Ratings[u][k] != w {
				t.Fatalf("user %s, item %s: rating %v, want %v", x.UserIDs[u], x.ItemIDs[i], x.Ratings[u][k], w)
			}
		}
	}
}

func TestInteractionsKeepRatingsAndFeatures(t *testing.T) {
	seeded := dataset.View{Seed: 5}
	x, err := LoadInteractions(t.Context(), "standin-tiny", "gerai", seeded, Options{})
	if err != nil {
		t.Fatal(err)
	}
	checkRatings(t, x, seeded, Options{})
	if x.Valid != nil {
		t.Error("recipe gerai holds validation rows out")
	}
	f := x.Features
	if f == nil || !slices.Equal(f.UserIDs, x.UserIDs) || len(f.Columns) != 3 || f.Columns[0].Name != "gender" {
		t.Fatalf("features %+v", f)
	}
	group, err := f.Columns[1].Bands("age group", 35, 45)
	if err != nil {
		t.Fatal(err)
	}
	if len(group.Codes) != x.Users || slices.Contains(group.Codes, -1) || len(group.Levels) != 3 {
		t.Errorf("age groups %+v", group)
	}

	// The validation rows come out of the training rows, never out of the test rows.
	v, err := LoadInteractions(t.Context(), "standin-tiny", "gerai-valid", seeded, Options{})
	if err != nil {
		t.Fatal(err)
	}
	checkRatings(t, v, seeded, Options{})
	if !reflect.DeepEqual(v.Test, x.Test) {
		t.Error("recipe gerai-valid has other test rows")
	}
	train, held := 0, 0
	for u := range x.Users {
		both := slices.Sorted(slices.Values(slices.Concat(v.Train[u], v.Valid[u])))
		if !slices.Equal(both, x.Train[u]) {
			t.Fatalf("user %d: train and validation %v, recipe gerai trains on %v", u, both, x.Train[u])
		}
		// A twentieth, rounded down or up.
		if n := len(v.Valid[u]); n != len(both)/20 && n != len(both)/20+1 {
			t.Errorf("user %d: %d of %d rows held out", u, n, len(both))
		}
		train, held = train+len(both), held+len(v.Valid[u])
	}
	// On average a twentieth: within 6.2 of the largest deviation that rounding can have (false alarm 1e-9).
	if math.Abs(float64(held)-float64(train)/20) > 6.2*math.Sqrt(float64(x.Users)/4) {
		t.Errorf("%d of %d rows held out, want about %d", held, train, train/20)
	}

	// Recipes that keep neither have neither.
	if x, err = LoadInteractions(t.Context(), "standin-tiny", "rdpgcf", seeded, Options{}); err != nil ||
		x.Ratings != nil || x.Features != nil {
		t.Errorf("recipe rdpgcf: ratings %v, features %v, error %v", x.Ratings != nil, x.Features != nil, err)
	}
}

// The counts of the age groups and of the split are those of the data's own files, read or
// cached.
func TestRealGERAIInteractions(t *testing.T) {
	dir := realData(t)
	for _, c := range []struct {
		name   string
		train  int
		groups [3]int
	}{
		{"ml-100k", 80000, [3]int{544, 209, 190}},
		{"ml-1m", 800193, [3]int{3421, 1193, 1426}},
	} {
		v, opts := dataset.View{Seed: 3}, Options{Dir: dir, CacheDir: t.TempDir()}
		x, err := LoadInteractions(t.Context(), c.name, "gerai", v, opts)
		if err != nil {
			t.Fatal(err)
		}
		checkRatings(t, x, v, opts)
		train := 0
		for _, r := range x.Ratings {
			train += len(r)
		}
		age, err := x.Features.Column("age")
		if err != nil {
			t.Fatal(err)
		}
		group, err := age.Bands("age group", 35, 45)
		if err != nil {
			t.Fatal(err)
		}
		var groups [3]int
		for _, g := range group.Codes {
			groups[g]++
		}
		if train != c.train || groups != c.groups {
			t.Errorf("%s: %d training rows, age groups %v, want %d and %v", c.name, train, groups, c.train, c.groups)
		}
		again, err := LoadInteractions(t.Context(), c.name, "gerai", v, opts)
		if err != nil {
			t.Fatal(err)
		}
		again.Source.Cache, again.Source.Files = x.Source.Cache, x.Source.Files
		if !reflect.DeepEqual(x, again) {
			t.Errorf("%s: the cache gave other data", c.name)
		}
	}
}
