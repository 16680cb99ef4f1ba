package gram

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"privrec/internal/protocol/topn/topntest"
	"privrec/internal/rng"
	"privrec/internal/run"
)

// ownData makes data of the stand-in's rows a data set of the user's own with stated items, and returns its folder and
// the list.
func ownData(t *testing.T) (dir, list string) {
	t.Helper()
	d := topntest.OnStandIn(t).Data
	dir = t.TempDir()
	t.Setenv("PRIVREC_DATA", dir)
	text := "user_id,item_id\n"
	for u, items := range d.Train {
		for _, i := range items {
			text += d.UserIDs[u] + "," + d.ItemIDs[i] + "\n"
		}
	}
	list = filepath.Join(dir, "items.txt")
	for path, text := range map[string]string{
		filepath.Join(dir, "own-x", "own-x.csv"): text, list: "nobody has it\n" + strings.Join(d.ItemIDs, "\n") + "\n",
	} {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir, list
}

// trained trains a task on own data with stated items, and returns its directory.
func trained(t *testing.T, task, list string, more ...string) string {
	t.Helper()
	at := slices.IndexFunc(suite.Tasks, func(x run.Task) bool { return x.Name == task })
	dir := filepath.Join(t.TempDir(), "run")
	suite.Start(t, suite.Tasks[at], dir, append([]string{"data.name=own-x", "data.recipe=ratio", "data.items=" + list,
		"data.floor=none", "eval.candidates=0"}, more...)...)
	return dir
}

// The release of a run is read without its rows: they are gone, and the ids are those of the stated list in its order.
func TestOpenKept(t *testing.T) {
	data, list := ownData(t)
	for _, task := range []string{"dp-ease", "dp-itemknn"} {
		dir := trained(t, task, list, "privacy.epsilon=900")
		name := filepath.Join(data, "own-x", "own-x.csv")
		if err := os.Rename(name, name+".away"); err != nil {
			t.Fatal(err)
		}
		k, err := OpenKept(t.Context(), dir)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(name+".away", name); err != nil {
			t.Fatal(err)
		}
		if !slices.Contains(k.IDs, "nobody has it") || len(k.Items) != len(k.Pairs) || k.Rank < 1 || k.Data != "own-x" {
			t.Errorf("%s: %d ids, %d items, %d rows, rank %d, data %s", task, len(k.IDs), len(k.Items), len(k.Pairs),
				k.Rank, k.Data)
		}
		for i, row := range k.Pairs {
			for j, v := range row {
				if v != k.Pairs[j][i] || math.IsNaN(v) {
					t.Fatalf("%s: pair %d, %d: %v and %v", task, i, j, v, k.Pairs[j][i])
				}
			}
		}
	}
}

// What has no released matrix, or no public items, is refused with a reason.
func TestOpenKeptRefuses(t *testing.T) {
	data, list := ownData(t)
	for _, c := range []struct {
		what, want string
		dir        func() string
	}{
		{"no run", "there is no run in", func() string { return data }},
		{"counts alone", "released counts and no matrix of items", func() string {
			return trained(t, "dp-popularity", list)
		}},
		{"items of the rows", "takes its items from the rows", func() string { return trained(t, "dp-ease", "") }},
		{"another list", "has other bytes than when the run in", func() string {
			dir := trained(t, "dp-ease", list)
			if err := os.WriteFile(list, []byte("other\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			return dir
		}},
	} {
		if _, err := OpenKept(t.Context(), c.dir()); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.what, err, c.want)
		}
	}
}

// A stand-in has no stated list: its ids are those of its rows. A run may have its release from a stream.
func TestOpenKeptOfStandIn(t *testing.T) {
	want := topntest.OnStandIn(t).Data
	for _, sets := range [][]string{nil, {"stream.from=" + kept(t, false)}} {
		dir := filepath.Join(t.TempDir(), "run")
		suite.Start(t, suite.Tasks[1], dir, sets...)
		k, err := OpenKept(t.Context(), dir)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(k.IDs, want.ItemIDs) || len(k.Items) < 2 {
			t.Errorf("%v: %d items and ids %v, want %v", sets, len(k.Items), k.IDs, want.ItemIDs)
		}
		// noise of two deviations is within a few users; who has fewer items than count counts for less than one
		if users := float64(want.Users); k.Users > 2*users || k.Users < users/4 {
			t.Errorf("%v: %v users, the data have %v", sets, k.Users, users)
		}
	}
}

// Factors finds a planted matrix of low rank again off the diagonal, and keeps rows within the bound.
func TestFactors(t *testing.T) {
	const n, rank, most = 30, 2, 0.9
	s := rng.Seed(1).Stream("factors")
	plant, x := make([][]float64, n), make([][]float64, n)
	for i := range plant {
		plant[i] = []float64{0.6 * s.NormFloat64() / 2, 0.5 * s.NormFloat64() / 2}
		for squares(plant[i]) > most {
			plant[i][0] /= 2
			plant[i][1] /= 2
		}
	}
	for i := range x {
		for j := range n {
			x[i] = append(x[i], plant[i][0]*plant[j][0]+plant[i][1]*plant[j][1])
		}
		x[i][i] = 7 // is not read
	}
	got, err := Factors(t.Context(), x, rank, most)
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		if len(got[i]) != rank || squares(got[i]) > most*(1+1e-12) {
			t.Fatalf("row %d: %v", i, got[i])
		}
		for j := range i {
			if v := got[i][0]*got[j][0] + got[i][1]*got[j][1]; math.Abs(v-x[i][j]) > 0.02 {
				t.Errorf("%d, %d: %v, want %v", i, j, v, x[i][j])
			}
		}
	}
	if all, err := Factors(t.Context(), [][]float64{{0, -1}, {-1, 0}}, 2, most); err != nil || len(all[0]) != 1 {
		t.Errorf("one positive eigenvalue: %v (%v)", all, err)
	}
}
