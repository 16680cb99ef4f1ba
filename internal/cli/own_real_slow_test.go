//go:build slow

package cli

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"privrec/internal/dataset"
	"privrec/internal/dataset/registry"
	"privrec/internal/demo"
	"privrec/internal/experiment"
	"privrec/internal/papers"
)

// ownNumbers are the cells that TestOwnNumbers compares: a task on a built-in set, and on the same rows as own data.
var ownNumbers = []struct {
	task, built, own string
	sets             []string
}{
	{"ease", "ml-100k gerai", "own-ml ratio", nil},
	{"itemknn", "ml-100k gerai", "own-ml ratio", nil},
	{"bprmf", "ml-100k gerai-valid", "own-ml distinct+ratio+valid-5", []string{"train.epochs=1", "model.dim=8"}},
	{"gcn", "ml-100k gerai", "own-ml ratio", []string{"train.epochs=1", "model.dim=8", "eval.candidates=50"}},
	{"gru4rec", "ml-100k dipsgnn", "own-ml 10-core+last-50+fraction",
		[]string{"train.epochs=1", "model.dim=8", "train.select=last", "train.refit=false"}},
	{"dasl-single", "cd-amazon-toy-game", "own-toys+own-games",
		[]string{"train.epochs=1", "model.dim=8", "train.refit=false"}},
}

// A set under the name of own data, in generic files with the ids of the built-in set, gives the numbers of the built-in
// set: MovieLens 100K with its attributes, and toys with games, as two sets that are called as its domains are.
func TestOwnNumbers(t *testing.T) {
	data := ownCopies(t)
	t.Setenv("PRIVREC_DATA", data)
	t.Setenv("PRIVREC_CACHE", t.TempDir())
	for _, c := range ownNumbers {
		t.Run(c.task+" "+c.own, func(t *testing.T) {
			var got [2]ownResult
			for k, on := range []string{c.built, c.own} {
				name, recipe, _ := strings.Cut(on, " ")
				sets := append(slices.Clone(c.sets), "data.name="+name)
				if recipe != "" {
					sets = append(sets, "data.recipe="+recipe)
				}
				if recipe != "" && k == 1 { // EASE and ItemKNN stand beside own data alone
					sets = append(sets, "data.floor=none")
				}
				got[k] = ownRun(t, c.task, sets)
			}
			if diff := gocmp.Diff(got[0], got[1]); diff != "" {
				t.Errorf("%s and %s differ: %s", c.built, c.own, diff)
			}
		})
	}
}

// A set under the name of own data has the rows of the built-in set, each in its part: Gowalla, whose split is
// published, and both domains of toys with games.
func TestOwnRows(t *testing.T) {
	at := registry.Options{Dir: ownCopies(t), NoCache: true}
	t.Run("gowalla", func(t *testing.T) {
		var got [2]*dataset.Interactions
		for k, on := range [][2]string{{"gowalla", "lightgcn"}, {"own-gowalla", "split"}} {
			d, err := registry.LoadInteractions(t.Context(), on[0], on[1], dataset.View{Seed: 1}, at)
			if err != nil {
				t.Fatal(err)
			}
			got[k] = &dataset.Interactions{Users: d.Users, Items: d.Items, Train: d.Train, Valid: d.Valid, Test: d.Test,
				UserIDs: d.UserIDs, ItemIDs: d.ItemIDs}
		}
		if !reflect.DeepEqual(got[0], got[1]) { // a million rows: the first that differs is enough
			t.Errorf("own data differ: %s", firstRow(got[0], got[1]))
		}
	})
	t.Run("toys and games", func(t *testing.T) {
		var got [2]*dataset.Cross
		for k, on := range []string{"cd-amazon-toy-game", "own-toys+own-games"} {
			set, err := registry.FindCross(on)
			if err != nil {
				t.Fatal(err)
			}
			d, err := registry.LoadCross(t.Context(), on, set.Domains[0].Name, set.Domains[1].Name,
				dataset.View{Seed: 1}, at)
			if err != nil {
				t.Fatal(err)
			}
			got[k] = &dataset.Cross{Users: d.Users, UserIDs: d.UserIDs, Domains: d.Domains}
			for i := range got[k].Domains {
				got[k].Domains[i].Name = ""
			}
		}
		if !reflect.DeepEqual(got[0], got[1]) {
			t.Error("own data differ")
		}
	})
}

// firstRow names the first user whose rows differ.
func firstRow(a, b *dataset.Interactions) string {
	if !slices.Equal(a.UserIDs, b.UserIDs) || !slices.Equal(a.ItemIDs, b.ItemIDs) {
		return fmt.Sprintf("%d users and %d items, want %d and %d, by their ids", b.Users, b.Items, a.Users, a.Items)
	}
	for u, id := range a.UserIDs {
		if !slices.Equal(a.Train[u], b.Train[u]) || !slices.Equal(a.Test[u], b.Test[u]) {
			return fmt.Sprintf("user %s is trained on %d items and tested on %d, want %d and %d", id, len(b.Train[u]),
				len(b.Test[u]), len(a.Train[u]), len(a.Test[u]))
		}
	}
	return "in a validation part"
}

// ownResult is what a run measured, without names.
type ownResult struct {
	Floors, Evaluations []map[string]float64
}

// ownRun trains a task and returns what it measured.
func ownRun(t *testing.T, task string, sets []string) (r ownResult) {
	t.Helper()
	out := filepath.Join(t.TempDir(), "run")
	args := []string{"train", task, "--quiet", "--out", out, "--set", "run.workers=2"}
	for _, s := range sets {
		args = append(args, "--set", s)
	}
	var stdout, stderr bytes.Buffer
	app := &App{Tasks: papers.All(), Demo: demo.Run, Benches: benches(), Stdout: &stdout, Stderr: &stderr}
	if code := app.Execute(context.Background(), args); code != 0 {
		t.Fatalf("%v: exit %d\n%s", args, code, stderr.String())
	}
	b, err := os.ReadFile(filepath.Join(out, "metrics.json"))
	if err != nil {
		t.Fatal(err)
	}
	var o struct {
		Floors      []experiment.Scores `json:"floors"`
		Evaluations []experiment.Scores `json:"evaluations"`
	}
	if err := json.Unmarshal(b, &o); err != nil {
		t.Fatal(err)
	}
	for _, f := range o.Floors {
		r.Floors = append(r.Floors, f.Values)
	}
	for _, e := range o.Evaluations {
		r.Evaluations = append(r.Evaluations, e.Values)
	}
	return r
}

// ownCopies makes a folder with the built-in sets and their rows as own data. The sets are not part of
// the project: the test skips where they are missing.
func ownCopies(t *testing.T) string {
	t.Helper()
	real := os.Getenv("PRIVREC_DATA")
	dir := t.TempDir()
	for _, name := range []string{"ml-100k", "gowalla", "cd-amazon-toy-game"} {
		if _, err := os.Stat(filepath.Join(real, name)); real == "" || err != nil {
			t.Skip("PRIVREC_DATA names no folder with " + name)
		}
		if err := os.Symlink(filepath.Join(real, name), filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	write := func(name, text string) {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for from, to := range map[string]string{
		"ml-100k/ml-100k.inter": "own-ml/own-ml.inter", "ml-100k/ml-100k.user": "own-ml/own-ml.user",
		"gowalla/train.txt": "own-gowalla/train.txt", "gowalla/test.txt": "own-gowalla/test.txt",
	} {
		write(to, unzipped(t, filepath.Join(real, from)))
	}
	write("own-ml/columns.yaml", "features: [gender, age, occupation]\nnumbers: [age]\n") // the other is the postcode
	pair := map[string]*strings.Builder{"A": {}, "B": {}}
	for _, b := range pair {
		b.WriteString("user_id,item_id,timestamp\n")
	}
	lines := bufio.NewScanner(strings.NewReader(unzipped(t, filepath.Join(real, "cd-amazon-toy-game/interactions.tsv"))))
	for lines.Scan() {
		if v := strings.Split(lines.Text(), "\t"); len(v) == 4 && pair[v[2]] != nil {
			fmt.Fprintf(pair[v[2]], "%s,%s:%s,%s\n", v[0], v[2], v[3], v[1])
		}
	}
	write("own-toys/own-toys.csv", pair["A"].String())
	write("own-games/own-games.csv", pair["B"].String())
	return dir
}

// unzipped returns the text of a file, which may be there as .gz alone.
func unzipped(t *testing.T, path string) string {
	t.Helper()
	if b, err := os.ReadFile(path); err == nil {
		return string(b)
	}
	f, err := os.Open(path + ".gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
