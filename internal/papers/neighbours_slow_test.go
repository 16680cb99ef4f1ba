//go:build slow && !f64

package papers

import (
	"context"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"privrec/internal/dataset"
	"privrec/internal/dataset/registry"
	"privrec/internal/private/release"
	"privrec/internal/rng"
	"privrec/internal/run"
	"privrec/internal/run/runtest"
	"privrec/internal/tensor"
)

// TestNeighboursByUser leaves out all users then, and TestNeighboursByRow all training rows.
//
// slow:TestNeighboursByUser
// slow:TestNeighboursByRow
func init() { everyUser, rowStep = true, 1 }

// The telling users are left out under the recipes that TestNeighboursByUser does not try, and under all of them of
// data with repeated rows, and under secure noise.
func TestNeighboursByUserAll(t *testing.T) {
	for name, c := range map[string]struct {
		secure, repeats bool
		recipes         []string
	}{
		"all recipes":   {recipes: userRecipes[fewRecipes:]},
		"repeated rows": {repeats: true, recipes: userRecipes},
		"secure":        {secure: true, recipes: userRecipes},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBattery(t)
			b.secure, b.data = c.secure, ", "+name
			b.byUser(c.repeats, c.recipes)
			b.show()
		})
	}
}

// manyUsers is how many users of MovieLens 100K are left out, one after the other: the first of the 500 that
// docs/privacy.md tells of.
const manyUsers = 60

// The counts of train dp-popularity on MovieLens 100K, as own data, move by no more than is stated without any of 60
// users. The counts are computed as the task does, which a run of it under every recipe confirms.
func TestNeighboursOfMovieLens(t *testing.T) {
	from := os.Getenv("PRIVREC_DATA")
	if from == "" {
		t.Skip("PRIVREC_DATA is not set: skipping the neighbours of MovieLens 100K")
	}
	rows, err := os.ReadFile(filepath.Join(from, "ml-100k", "ml-100k.inter.gz"))
	if err != nil {
		t.Fatal(err)
	}
	data := t.TempDir()
	folder := filepath.Join(data, "own-shop")
	if err := os.Mkdir(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "own-shop.inter.gz"), rows, 0o644); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PRIVREC_DATA", data)
	t.Setenv("PRIVREC_CACHE", t.TempDir())
	whole, _, err := registry.LoadLog(t.Context(), "own-shop", dataset.View{}, registry.Options{Dir: data})
	if err != nil {
		t.Fatal(err)
	}
	const most = 20 // items that a user contributes
	names := slices.Clone(whole.ItemIDs)
	users := rand.New(rand.NewPCG(1, 2)).Perm(len(whole.UserIDs))[:manyUsers]
	for _, recipe := range []string{"all", "ratio", "ratio-valid", "leave-one-out", "recent", "distinct+last-50+ratio-60+valid-20", "distinct+rating-4+ratio", "5-core", "distinct+items-20+ratio"} {
		exact, err := contributed(t.Context(), whole, recipe, names, most)
		if err != nil {
			t.Fatalf("%s: %v", recipe, err)
		}
		if got := popularity(t, recipe); !slices.Equal(got, held(exact)) {
			t.Errorf("%s: a run of train dp-popularity is given other counts", recipe)
		}
		var mu sync.Mutex
		var shares []float64 // of pairs with the same items
		others := 0          // pairs of which one has items that the other does not have
		tensor.Parallel(len(users), 10, func(_, lo, hi int) {
			for _, u := range users[lo:hi] {
				keep := make([]bool, whole.Len())
				for row, of := range whole.Users {
					keep[row] = int(of) != u
				}
				less, err := contributed(t.Context(), whole.Keep(keep), recipe, names, most)
				sum, same := 0.0, err == nil
				for i := range less {
					same = same && math.IsNaN(exact[i]) == math.IsNaN(less[i])
					if d := exact[i] - less[i]; !math.IsNaN(d) {
						sum += d * d
					}
				}
				mu.Lock()
				if err != nil {
					t.Errorf("%s: without user %s: %v", recipe, whole.UserIDs[u], err)
				}
				if same {
					shares = append(shares, math.Sqrt(sum/most))
				} else {
					others++
				}
				mu.Unlock()
			}
		})
		slices.Sort(shares)
		largest := shares[len(shares)-1]
		t.Logf("%-34s %d users left out: %d pairs have other items; in the others the counts move by %.3g of what is stated in the median, %.3g at most",
			recipe, len(users), others, shares[len(shares)/2], largest)
		filters := strings.Contains(recipe, "core") || strings.Contains(recipe, "items-")
		if !filters && largest > 1+1e-9 { // what a filter by counts moves is open in the account, and so are other items
			t.Errorf("%s: the counts move by up to %.3g of what is stated", recipe, largest)
		}
	}
}

// contributed returns the exact counts of train dp-popularity on rows under a recipe, by name; NaN for an item that the
// data do not have.
func contributed(ctx context.Context, l *dataset.Log, recipe string, names []string, most int) ([]float64, error) {
	set, err := registry.Find("own-shop")
	if err != nil {
		return nil, err
	}
	r, err := set.Recipe(recipe)
	if err != nil {
		return nil, err
	}
	r.Split.Seed = 1
	filtered, ladder, err := r.Filter(l)
	if err != nil {
		return nil, err
	}
	s, err := r.Finish(filtered, ladder, nil)
	if err != nil {
		return nil, err
	}
	parts, err := r.Split.Parts(filtered)
	if err != nil {
		return nil, err
	}
	d, err := dataset.NewInteractions(s, filtered, parts)
	if err != nil {
		return nil, err
	}
	out := make([]float64, len(names))
	for i := range out {
		out[i] = math.NaN()
	}
	at := make([]int, d.Items)
	place := map[string]int{}
	for i, id := range names {
		place[id] = i
	}
	for i, id := range d.ItemIDs {
		at[i] = place[id]
		out[at[i]] = 0
	}
	draw := release.Draw{Items: most, Stream: rng.Seed(1).Stream("private.contributions.counts")}
	for _, list := range draw.All(d.UserIDs, d.Train) {
		for _, i := range list {
			out[at[i]]++
		}
	}
	return out, nil
}

// held returns the counts of the items that the data have.
func held(counts []float64) (out []float64) {
	for _, x := range counts {
		if !math.IsNaN(x) {
			out = append(out, x)
		}
	}
	return out
}

// popularity returns the counts that a run of train dp-popularity is given.
func popularity(t *testing.T, recipe string) []float64 {
	t.Helper()
	r, err := runtest.Observed(t, runtest.Task(t, All(), "dp-popularity"), run.Options{Config: filepath.Join(configs, "private/smoke-dp-popularity.yaml"),
		Sets: []string{"data.name=own-shop", "data.recipe=" + recipe, "run.out=" + filepath.Join(t.TempDir(), "run")}}, nil)
	if err != nil {
		t.Fatalf("%s: %v", recipe, err)
	}
	return r.Exact(release.CountsPurpose)
}
