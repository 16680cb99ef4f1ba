package gram

import (
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"privrec/internal/dataset"
	"privrec/internal/dataset/registry"
	"privrec/internal/protocol/topn"
	"privrec/internal/run"
	"privrec/internal/run/runtest"
)

// someRows are rows of public users, of eight items.
var someRows = [][]int32{{0, 1, 2}, {1, 2}, {2}, {0, 1, 2, 3, 4}, {4, 6}, {0, 6}}

// The sums are those of a plain loop over users, and their matrix has the items of the largest counts.
func TestNewPublic(t *testing.T) {
	m := MatrixConfig{Items: 5, ItemWeight: 0.4, UserWeight: 1}
	p := newPublic(someRows, 8, 2, &m)
	counts, norms := make([]float64, 8), 0.0
	for _, row := range someRows {
		share := min(1, 2/float64(len(row)))
		for _, i := range row {
			counts[i] += share
			norms += share * share
		}
	}
	if !slices.Equal(p.items, []int32{0, 1, 2, 4, 6}) || !slices.Equal(p.counts.values, counts) {
		t.Fatalf("items %v, counts %v, want %v", p.items, p.counts.values, counts)
	}
	squares := 0.0
	for _, c := range counts {
		squares += c * c
	}
	if math.Abs(p.counts.squares-squares) > 1e-12 || math.Abs(p.counts.spread-norms/squares) > 1e-12 {
		t.Errorf("counts: %v and %v, want %v and %v", p.counts.squares, p.counts.spread, squares, norms/squares)
	}
	weights, mean := make([]float64, 8), 0.0
	for _, i := range p.items {
		weights[i] = math.Pow(max(counts[i], 1), -0.2)
		mean += weights[i] / 5
	}
	squares = 0
	for r, i := range p.items {
		for q, j := range p.items {
			want := 0.0
			for _, row := range someRows {
				z := []float64{}
				for _, k := range row {
					if weights[k] > 0 {
						z = append(z, weights[k]/mean)
					}
				}
				if slices.Contains(row, i) && slices.Contains(row, j) {
					want += 1 / norm(z)
				}
			}
			if got := p.square.row(r)[q]; math.Abs(got-want) > 1e-4 { // steps of a grid
				t.Errorf("entry %d, %d is %v, want %v", i, j, got, want)
			}
			if q <= r {
				squares += math.Pow(want*weights[i]*weights[j]/(mean*mean), 2)
			}
		}
	}
	if got := p.matrix.squares; math.Abs(got-squares) > 1e-4 || math.Abs(p.matrix.spread-6/squares) > 1e-4 {
		t.Errorf("the matrix has squares %v, want %v, and spread %v, want %v", got, squares, p.matrix.spread, 6/squares)
	}
}

// The prior's factor grows with the noise, from 0, and falls with the size of the public sums and with their spread.
func TestFactor(t *testing.T) {
	for _, c := range []struct{ deviation, squares, spread, want float64 }{
		{0, 40, 0, 0},
		{12, 40, 0, 12 / (2 * 6.0)},
		{24, 40, 0, 24 / (2 * 6.0)},
		{12, 160, 0, 12 / (4 * 6.0)},
		{12, 40, 6, 12 / (2 * 12.0)},
		{12, 0, 0, 0},
		{math.Inf(1), 40, 0, math.Inf(1)},
	} {
		if got := factor(c.deviation, c.squares, c.spread, 10); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

// Noise hides counts whose sum on the public items is within two of its deviations.
func TestHidden(t *testing.T) {
	p := newPublic([][]int32{{0, 1}, {0}}, 3, 9, nil)
	// 15/(2 sqrt(2)) is 5.303
	for deviation, want := range map[float64]bool{0: false, 5.3: false, 5.31: true, 1e9: true} {
		if got := p.hidden([]float64{9, 6, 100}, deviation); got != want {
			t.Errorf("deviation %v: %t", deviation, got)
		}
	}
}

// The prior adds the public matrix times a factor, on the items of both, and keeps the sum of the released diagonal on
// public items; without noise it adds nothing.
func TestAdd(t *testing.T) {
	m := MatrixConfig{Items: 5, ItemWeight: 0.4, UserWeight: 1}
	p := newPublic(someRows, 8, 9, &m)
	plan := newPlan([]int32{1, 2, 5}, []float64{1.5, 1, 0.5}, 3, 1)
	g := symmetric(3, func(i, j int) float64 { return float64(10 + 3*i + j) })
	diagonal := []float64{20, 21, 22}
	out, sum, items, unit := p.add(clone(g), diagonal, plan)
	if unit != mean(diagonal) || !slices.Equal(items, plan.Items) || !slices.Equal(out.x, g.x) ||
		!slices.Equal(sum, diagonal) {
		t.Errorf("without noise: unit %v, items %v, %v, %v", unit, items, out.x, sum)
	}
	plan.Sum.Multiplier = 4
	out, sum, items, unit = p.add(clone(g), diagonal, plan)
	if !slices.Equal(items, []int32{0, 1, 2, 4, 5, 6}) {
		t.Fatalf("items %v", items)
	}
	at := func(a square, of []int32, i, j int32) float64 {
		r, q := slices.Index(of, i), slices.Index(of, j)
		if r < 0 || q < 0 {
			return 0
		}
		return a.row(r)[q]
	}
	squares, w := 0.0, map[int32]float64{1: 1.5, 2: 1}
	for _, pair := range [][2]int32{{1, 1}, {1, 2}, {2, 2}} {
		squares += math.Pow(at(p.square, p.items, pair[0], pair[1])*w[pair[0]]*w[pair[1]], 2)
	}
	f := factor(plan.Sum.Deviation(), squares, p.matrix.spread, 6)
	own := func(i int32) float64 { return f * at(p.square, p.items, i, i) }
	kept := (20 + 21) / (20 + 21 + own(1) + own(2)) // 5 is no public item
	scale := func(i int32) float64 {
		if i == 5 {
			return 1
		}
		return math.Sqrt(kept)
	}
	if !(f > 0.1) || !(kept < 0.99) || math.Abs(unit-(20+21+22)/3.0) > 1e-9 {
		t.Errorf("factor %v, kept %v, unit %v", f, kept, unit)
	}
	for r, i := range items {
		for q, j := range items {
			want := (at(g, plan.Items, i, j) + f*at(p.square, p.items, i, j)) * scale(i) * scale(j)
			if math.Abs(out.row(r)[q]-want) > 1e-9 {
				t.Errorf("entry %d, %d is %v, want %v", i, j, out.row(r)[q], want)
			}
		}
		want := own(i)
		if k := slices.Index(plan.Items, i); k >= 0 {
			want += diagonal[k]
		}
		if want *= scale(i) * scale(i); math.Abs(sum[r]-want) > 1e-9 {
			t.Errorf("diagonal of %d is %v, want %v", i, sum[r], want)
		}
	}
}

// openData makes two own data sets of generated users, and returns the settings that make one public to the other: the
// ids of its items differ, and their titles are the same but for case and articles. Item 0 has no title in both.
func openData(t *testing.T) []string {
	t.Helper()
	dir := t.TempDir()
	log, _, err := registry.LoadLog(t.Context(), "standin-tiny", dataset.View{Seed: 3}, registry.Options{})
	if err != nil {
		t.Fatal(err)
	}
	seen := map[[2]int32]bool{}
	rows := map[string][][]string{"own-shop": {{"user_id", "item_id"}}, "own-open": {{"user_id", "item_id"}}}
	for k, u := range log.Users {
		i := log.Items[k]
		if seen[[2]int32{u, i}] {
			continue
		}
		seen[[2]int32{u, i}] = true
		if u%4 == 0 {
			rows["own-open"] = append(rows["own-open"], []string{fmt.Sprint(u), fmt.Sprintf("o%d", i)})
		} else {
			rows["own-shop"] = append(rows["own-shop"], []string{fmt.Sprint(u), fmt.Sprint(i)})
		}
	}
	titles := map[string][][]string{"own-shop": {{"item_id", "title"}}, "own-open": {{"item_id", "title"}}}
	for i := 1; i < len(log.ItemIDs); i++ {
		titles["own-shop"] = append(titles["own-shop"], []string{fmt.Sprint(i), fmt.Sprintf("Thing %d, The (1995)", i)})
		titles["own-open"] = append(titles["own-open"],
			[]string{fmt.Sprintf("o%d", i), fmt.Sprintf("the thing %d (1995)", i)})
	}
	for name := range rows {
		if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
		for file, table := range map[string][][]string{name + ".csv": rows[name], "titles.csv": titles[name]} {
			var b strings.Builder
			if err := csv.NewWriter(&b).WriteAll(table); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, name, file), []byte(b.String()), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	t.Setenv("PRIVREC_DATA", dir)
	t.Setenv("PRIVREC_CACHE", t.TempDir())
	return []string{"data.name=own-shop", "data.recipe=ratio", "data.floor=none", "public.data.name=own-open",
		"public.data.recipe=ratio",
		"public.match=title"}
}

// Beside every method stands what public rows alone are worth, and the page says how many items matched. Under noise
// that hides everything the prior ranks as they do; with hardly any noise it ranks as without them.
func TestPublicRows(t *testing.T) {
	sets := openData(t)
	for _, task := range suite.Tasks {
		values := func(more ...string) (floor, ours map[string]float64) {
			t.Helper()
			dir := filepath.Join(t.TempDir(), task.Name)
			text := suite.Start(t, task, dir, append(slices.Clone(sets), more...)...)
			o := runtest.ReadJSON[topn.Outcome](t, dir, "metrics.json", true)
			if len(o.Floors) != 3 || o.Floors[2].Name != "public, epsilon 0" ||
				!strings.Contains(text, "public, epsilon 0 (floor)") ||
				!strings.Contains(text, " items have the title of an item of own data open (own-open): ") {
				t.Fatalf("floors %+v in\n%s", o.Floors, text)
			}
			if e, err := suite.Open(t, dir).Evaluate(t.Context()); err != nil || e.Differs != 0 {
				t.Errorf("%s evaluated again: %v", task.Name, err)
			}
			return o.Floors[2].Values, o.Evaluations[0].Values
		}
		floor, alone := values("privacy.epsilon=900")
		if floor["Recall@20"] < 0.2 {
			t.Errorf("%s: public rows alone have %v", task.Name, floor)
		}
		if task.Name == "dp-popularity" {
			continue
		}
		if _, ours := values("privacy.epsilon=0.001", "model.public=prior"); !reflect.DeepEqual(ours, floor) {
			t.Errorf("%s: under noise without end %v, public rows alone have %v", task.Name, ours, floor)
		}
		_, ours := values("privacy.epsilon=900", "model.public=prior")
		if math.Abs(ours["Recall@20"]-alone["Recall@20"]) > 0.02 {
			t.Errorf("%s: with hardly any noise %v, without public rows %v", task.Name, ours, alone)
		}
	}
}

// The prior has the same bytes with any number of workers.
func TestPriorBytes(t *testing.T) {
	sets := openData(t)
	task := suite.Task(t, "dp-ease")
	start := func(more ...string) string {
		dir := filepath.Join(t.TempDir(), "run")
		suite.Start(t, task, dir, append(slices.Clone(sets), more...)...)
		return dir
	}
	one, three := start("model.public=prior"), start("model.public=prior", "run.workers=3")
	runtest.Same(t, "three workers", runtest.Artefacts(t, three), runtest.Artefacts(t, one))
}

// What cannot be run is refused before anything is released, and the message names the key or the data set.
func TestPublicRefused(t *testing.T) {
	sets := openData(t)
	dir := os.Getenv("PRIVREC_DATA")
	text := read(t, filepath.Join(dir, "own-shop", "own-shop.csv"))
	for _, name := range []string{"own-copy", "own-other"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "own-copy", "own-copy.csv"), text, 0o644); err != nil {
		t.Fatal(err)
	}
	rows := []byte("user_id,item_id\na,b\na,c\nb,b\nb,c\n")
	if err := os.WriteFile(filepath.Join(dir, "own-other", "own-other.csv"), rows, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ sets, want string }{
		{"public.data.name=own-shop", "public.data.name"},
		{"public.data.name=own-copy public.match=id", "has the rows of own-shop, whose users are protected"},
		{"public.data.name=own-other",
			"own-other: field \"title\": its items have no titles here: looked for titles.tsv, titles.csv"},
		{"public.data.name=own-other public.match=id", "no item has the id of an item of own-shop"},
		{"public.data.name= public.data.recipe= model.public=prior public.match=",
			"model.public: needs public.data.name"},
		{"model.public=prior stream.from=here", "model.public: must be left out with a stream"},
		{"public.data.name=", "public.data.name: must be given with other keys of public"},
		{"public.data.name=standin-tiny public.data.recipe=gerai",
			"standin-tiny: field \"title\": privrec knows of no titles of its items"},
		{"public.data.name=standin-tiny public.data.recipe=unknown", "unknown recipe"},
	} {
		out := filepath.Join(t.TempDir(), "run")
		all := append(slices.Clone(sets), strings.Fields(c.sets)...)
		err := suite.Try(t.Context(), suite.Task(t, "dp-ease"), out, all, run.Options{})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.sets, err, c.want)
		}
		if exists(filepath.Join(out, ReleasedFile)) {
			t.Errorf("%s: released all the same", c.sets)
		}
	}
}
