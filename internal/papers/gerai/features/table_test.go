package features

import (
	"errors"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"privrec/internal/dataset"
	"privrec/internal/dataset/registry"
	"privrec/internal/tensor"
)

// A user with the ratings 5, 4, 4, 1 of a catalogue of 99 items, by hand.
func TestStatisticsByHand(t *testing.T) {
	row := make([]float64, Numbers)
	if err := Statistics(Counts{0, 1, 0, 0, 2, 1}, 99, row); err != nil {
		t.Fatal(err)
	}
	log := func(n float64) float64 { return 2*math.Log(1+n)/math.Log(100) - 1 }
	h := 0.25*math.Log(4) + 0.5*math.Log(2) + 0.25*math.Log(4) // 1.5 ln 2
	want := []float64{log(4), log(1), -1, -1, log(2), log(1), -0.5, -1, -1, 0, -0.5, 0.5, -0.5, 2*h/math.Log(5) - 1, 0.5, -1, 1, 0.25}
	for k, name := range StatisticNames() {
		if math.Abs(row[k]-want[k]) > 1e-15 {
			t.Errorf("%s is %v, want %v", name, row[k], want[k])
		}
	}
	// The median of two in the middle, 2 and 5; of an odd number; of none.
	for _, c := range []struct {
		counts Counts
		median float64
	}{{Counts{0, 1, 1, 0, 0, 2}, 0.25}, {Counts{0, 1, 1, 0, 0, 1}, -0.5}, {Counts{9, 0, 0, 0, 0, 7}, 1}, {Counts{}, 0}} {
		if err := Statistics(c.counts, 99, row); err != nil || row[14] != c.median {
			t.Errorf("median of %v is %v (%v), want %v", c.counts, row[14], err, c.median)
		}
	}
	if want := append([]float64{-1, -1, -1, -1, -1, -1}, make([]float64, 12)...); !slices.Equal(row, want) {
		t.Errorf("without ratings: %v", row)
	}
	if err := Statistics(Counts{0, 1, 0, 0, 2, 1}, 3, row); err == nil || !strings.Contains(err.Error(), "4 ratings, but the catalogue has 3 items") {
		t.Errorf("more ratings than items: %v", err)
	}
	if err := Statistics(Counts{3, 1, 0, 0, 2, 1}, 99, row); err != nil || row[0] != log(7) || row[5] != log(1) || row[17] != 0.25 {
		t.Errorf("three ratings of unknown level: %v (%v)", row, err)
	}
	if err := Statistics(Counts{0, 20, 20, 20, 20, 20}, 100, row); err != nil || row[0] != 1 || row[13] != 1 {
		t.Errorf("the whole catalogue, all levels alike: %v (%v)", row, err)
	}
}

// some are interactions of three users, of whom the second has no ratings.
func some() *dataset.Interactions {
	return &dataset.Interactions{
		Name: "some", Recipe: "own", Users: 3, Items: 9, UserIDs: []string{"a", "b", "c"}, ItemIDs: strings.Split("123456789", ""),
		Train: [][]int32{{0, 3, 4, 8}, {}, {2}}, Ratings: [][]float32{{5, 4, 4, 1}, {}, {3}},
		Features: &dataset.Features{Source: "users.tsv", UserIDs: []string{"a", "b", "c"}, Columns: []dataset.Column{
			{Name: "gender", Levels: []string{"F", "M"}, Codes: []int32{1, 0, 0}},
			{Name: "age", Kind: dataset.Numeric, Numbers: []float64{35, 46, 12}},
			{Name: "occupation", Levels: []string{"doctor", "writer"}, Codes: []int32{1, 0, 1}},
		}},
	}
}

// Table 1 has 21 features and 44 values, of which the last 26 are one-hot vectors in the order of
// the declared levels.
func TestClear(t *testing.T) {
	c, err := Clear(some(), false)
	if err != nil {
		t.Fatal(err)
	}
	if c.X.Rows != 3 || c.X.Cols != 44 || len(c.Kinds) != Features || c.Kinds[19].Name != "occupation" || c.Kinds[19].Categories != 21 {
		t.Fatalf("%d by %d, kinds %v", c.X.Rows, c.X.Cols, c.Kinds)
	}
	row := make([]float64, Numbers)
	if err := Statistics(Counts{0, 1, 0, 0, 2, 1}, 9, row); err != nil {
		t.Fatal(err)
	}
	for k, v := range row {
		if tensor.Row(c.X, 0)[k] != tensor.Float(v) {
			t.Errorf("value %d is %v, want %v", k, tensor.Row(c.X, 0)[k], v)
		}
	}
	for u, want := range [][]int{{19, 20 + 20, 41 + 1}, {18, 20 + 2, 41 + 2}, {18, 20 + 20, 41}} {
		var ones []int
		for k, v := range tensor.Row(c.X, u) {
			if k >= Numbers && v == 1 {
				ones = append(ones, k)
			}
		}
		if !slices.Equal(ones, want) {
			t.Errorf("user %d: ones at %v, want %v", u, ones, want)
		}
	}
	only, err := ClearAttributes(some())
	if err != nil || only.X.Cols != 26 || len(only.Kinds) != 3 || !slices.Equal(tensor.Row(only.X, 1), tensor.Row(c.X, 1)[Numbers:]) {
		t.Errorf("attributes alone: %v (%v)", only, err)
	}
	scaled, err := Clear(some(), true)
	if err != nil {
		t.Fatal(err)
	}
	for k := range Numbers {
		lo, hi := tensor.Float(2), tensor.Float(-2)
		for u := range 3 {
			lo, hi = min(lo, tensor.Row(scaled.X, u)[k]), max(hi, tensor.Row(scaled.X, u)[k])
		}
		if constant := k == 2; constant && (lo != 0 || hi != 0) || !constant && (lo != -1 || hi != 1) { // ratings of 2: none
			t.Errorf("number %d is scaled to %v to %v", k, lo, hi)
		}
	}
}

// All values are within [-1, 1], every attribute has one bit, and shares and counts agree, for any
// ratings.
func TestClearProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := some()
		x.Users, x.UserIDs = 1, []string{"u"}
		n := rapid.IntRange(0, 9).Draw(t, "n")
		x.Train, x.Ratings = [][]int32{nil}, [][]float32{nil}
		for i := range n {
			x.Train[0] = append(x.Train[0], int32(i))
			x.Ratings[0] = append(x.Ratings[0], float32(rapid.IntRange(0, 5).Draw(t, "rating")))
		}
		age := rapid.Float64Range(0, 120).Draw(t, "age")
		x.Features = &dataset.Features{UserIDs: x.UserIDs, Columns: []dataset.Column{
			{Name: "gender", Levels: []string{"F"}, Codes: []int32{0}},
			{Name: "age", Kind: dataset.Numeric, Numbers: []float64{age}},
			{Name: "occupation", Levels: []string{rapid.SampledFrom([]string{"7", "20", "writer", "none"}).Draw(t, "occupation")}, Codes: []int32{0}},
		}}
		c, err := Clear(x, rapid.Bool().Draw(t, "min-max"))
		if err != nil {
			t.Fatal(err)
		}
		at := 0
		for _, k := range c.Kinds {
			sum := tensor.Float(0)
			for _, v := range tensor.Row(c.X, 0)[at : at+k.Width()] {
				if !(v >= -1 && v <= 1) {
					t.Fatalf("%s is %v", k.Name, v)
				}
				sum += v
			}
			if k.Categories > 0 && sum != 1 {
				t.Fatalf("%s has %v ones", k.Name, sum)
			}
			at += k.Width()
		}
	})
}

// What is wrong is named with file, user and field.
func TestClearRefuses(t *testing.T) {
	for _, c := range []struct {
		change func(x *dataset.Interactions)
		want   string
	}{
		{func(x *dataset.Interactions) { x.Features = nil }, `field "gender": the data have no user features`},
		{func(x *dataset.Interactions) { x.Features.Columns = x.Features.Columns[1:] }, `users.tsv: field "gender": attribute is missing`},
		{func(x *dataset.Interactions) { x.Features.Columns[0].Levels[0] = "X" }, `users.tsv: field "gender": user "b" has "X", want one of the declared levels [F M]`},
		{func(x *dataset.Interactions) { x.Features.Columns[0].Codes[2] = -1 }, `users.tsv: field "gender": user "c" has no value`},
		{func(x *dataset.Interactions) { x.Features.Columns[1].Numbers[1] = math.NaN() }, `field "age": user "b" has no value`},
		{func(x *dataset.Interactions) { x.Features.Columns[2].Levels[0] = "21" }, `field "occupation": user "a" has "writer"`},
		{func(x *dataset.Interactions) { x.Features.Columns[2].Levels[1] = "poet" }, `field "occupation": user "a" has "poet"`},
		{func(x *dataset.Interactions) {
			x.Features.Columns[0] = dataset.Column{Name: "gender", Kind: dataset.Numeric, Numbers: []float64{1, 2, 3}}
		}, `field "gender": is a number`},
		{func(x *dataset.Interactions) { x.Ratings = nil }, `field "rating": recipe own keeps no ratings`},
		{func(x *dataset.Interactions) { x.Ratings[2][0] = 3.5 }, `some: field "rating": user "c": item "3" has rating 3.5`},
		{func(x *dataset.Interactions) { x.Ratings[0][1] = float32(math.NaN()) }, `user "a": item "4" has rating NaN`},
		{func(x *dataset.Interactions) { x.Ratings[0][1] = -1 }, `user "a": item "4" has rating -1`},
		{func(x *dataset.Interactions) { x.Ratings[0][1] = 6 }, `user "a": item "4" has rating 6`},
		{func(x *dataset.Interactions) { x.Items = 2 }, `user "a": 4 ratings, but the catalogue has 2 items`},
		{func(x *dataset.Interactions) { x.UserIDs = []string{"a", "d", "c"} }, `no features of user "d", who has interactions`},
		{func(x *dataset.Interactions) { x.UserIDs = []string{"a", "b"} }, `features of user "c", who has no interactions`},
	} {
		x := some()
		c.change(x)
		_, err := Clear(x, false)
		var data *dataset.Error
		if !errors.As(err, &data) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}

// The real sets: counts of attributes as their own files have them, and Table 1 of all users.
func TestClearReal(t *testing.T) {
	dir := os.Getenv("PRIVREC_DATA")
	if dir == "" { // .ci/run sets it where the data are, and fails when a test says this then
		t.Skip("PRIVREC_DATA is not set: skipping the check on real data")
	}
	for _, c := range []struct {
		name         string
		gender, age  []int
		occupation   []int // least, most
		mean, median float64
	}{
		{"ml-100k", []int{273, 670}, []int{544, 209, 190}, []int{7, 196}, 3.53, 4},
		{"ml-1m", []int{1709, 4331}, []int{3421, 1193, 1426}, []int{17, 759}, 3.58, 4},
	} {
		x, err := registry.LoadInteractions(t.Context(), c.name, "gerai", dataset.View{Seed: 1},
			registry.Options{Dir: dir, CacheDir: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		attributes, err := Attributes(x.Features)
		if err != nil {
			t.Fatal(err)
		}
		counts := map[string][]int{}
		for _, a := range attributes {
			counts[a.Name] = make([]int, len(a.Levels))
			for _, code := range a.Codes {
				counts[a.Name][code]++
			}
		}
		o := counts[Occupation]
		if !slices.Equal(counts[Gender], c.gender) || !slices.Equal(counts[Age], c.age) || len(o) != 21 || slices.Min(o) != c.occupation[0] || slices.Max(o) != c.occupation[1] {
			t.Errorf("%s: %v", c.name, counts)
		}
		if c.name == "ml-100k" && o[slices.Index(attributes[1].Levels, "student")] != 196 {
			t.Errorf("%s: %v", c.name, o)
		}
		tab, err := Clear(x, false)
		if err != nil {
			t.Fatal(err)
		}
		mean, median := 0.0, make([]float64, x.Users)
		for u := range x.Users {
			row := tensor.Row(tab.X, u)
			mean += (2*float64(row[17]) + 3) / float64(x.Users)
			median[u] = 2*float64(row[14]) + 3
			if n := math.Exp((float64(row[0])+1)/2*math.Log1p(float64(x.Items))) - 1; math.Abs(n-float64(len(x.Train[u]))) > 1e-3*n {
				t.Fatalf("%s: user %d has %v ratings, want %d", c.name, u, n, len(x.Train[u]))
			}
		}
		slices.Sort(median)
		t.Logf("%s: mean of means %.4f, median of medians %v", c.name, mean, median[x.Users/2])
		if tab.X.Cols != 44 || math.Abs(mean-c.mean) > 0.2 || median[x.Users/2] != c.median {
			t.Errorf("%s: %d values, mean %v, median %v", c.name, tab.X.Cols, mean, median[x.Users/2])
		}
	}
}
