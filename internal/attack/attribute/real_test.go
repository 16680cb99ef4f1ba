package attribute

import (
	"os"
	"testing"

	"privrec/internal/dataset"
	"privrec/internal/dataset/registry"
	"privrec/internal/rng"
	"privrec/internal/tensor"
)

// realUsers are the users of ML-100K: their training interactions, and the classes of three attributes.
type realUsers struct {
	x          tensor.Matrix
	attributes []realAttribute
}

type realAttribute struct {
	name    string
	class   []int32
	classes int
}

func real100K(t testing.TB) realUsers {
	t.Helper()
	dir := os.Getenv("PRIVREC_DATA")
	if dir == "" {
		// The data are not in the repository; .ci/run, where they are, fails if this skips.
		t.Skip("PRIVREC_DATA is not set: skipping the check on real data")
	}
	rows, err := registry.LoadInteractions(t.Context(), "ml-100k", "gerai", dataset.View{},
		registry.Options{Dir: dir, CacheDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	u := realUsers{x: tensor.New(rows.Users, rows.Items)}
	for i, items := range rows.Train {
		for _, v := range items {
			tensor.Row(u.x, i)[v] = 1
		}
	}
	for _, name := range []string{"age", "gender", "occupation"} {
		c, err := rows.Features.Column(name)
		if err != nil {
			t.Fatal(err)
		}
		if name == "age" {
			bands, err := c.Bands(name, 35, 45)
			if err != nil {
				t.Fatal(err)
			}
			c = &bands
		}
		u.attributes = append(u.attributes, realAttribute{name, c.Codes, len(c.Levels)})
	}
	return u
}

// cut returns the rows and classes of some users.
func cut(x tensor.Matrix, class, users []int32) (tensor.Matrix, []int32) {
	y, c := tensor.New(len(users), x.Cols), make([]int32, len(users))
	for i, u := range users {
		copy(tensor.Row(y, i), tensor.Row(x, int(u)))
		c[i] = class[u]
	}
	return y, c
}

// BenchmarkReal is one attacker on five cuts of ML-100K for each of three attributes.
func BenchmarkReal(b *testing.B) {
	u := real100K(b)
	for _, a := range Attackers() {
		b.Run(a.Name(), func(b *testing.B) {
			for b.Loop() {
				for _, of := range u.attributes {
					realScores(b, u, a, of)
				}
			}
		})
	}
}

// realScores returns the mean scores of an attacker over five cuts.
func realScores(t testing.TB, u realUsers, a Attacker, of realAttribute) (mean Scores) {
	const splits = 5
	for k := range uint64(splits) {
		s, err := Stratified(of.class, of.classes, 0.8, rng.Seed(1).Stream("split/"+of.name, k))
		if err != nil {
			t.Fatal(err)
		}
		x, class := cut(u.x, of.class, s.Train)
		test, truth := cut(u.x, of.class, s.Test)
		g, err := a.Fit(t.Context(), x, class, of.classes, rng.Seed(1).Stream(of.name+"/"+a.Name(), k))
		if err != nil {
			t.Fatal(err)
		}
		p := room(test.Rows, of.classes)
		if err := g.Probabilities(test, p); err != nil {
			t.Fatal(err)
		}
		got, err := Measure(p, truth, of.classes)
		if err != nil {
			t.Fatal(err)
		}
		mean.Micro += got.Micro / splits
		mean.Macro += got.Macro / splits
		mean.Weighted += got.Weighted / splits
		mean.Balanced += got.Balanced / splits
		mean.AUC += got.AUC / splits
	}
	return mean
}
