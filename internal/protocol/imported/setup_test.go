package imported_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"privrec/internal/dataset"
	"privrec/internal/dataset/registry"
	"privrec/internal/experiment"
	"privrec/internal/papers"
	"privrec/internal/rng"
	"privrec/internal/run"
)

// task returns a task of the program.
func task(t testing.TB, name string) run.Task {
	t.Helper()
	for _, x := range papers.All() {
		if x.String() == name {
			return x
		}
	}
	t.Fatalf("no task %q", name)
	return run.Task{}
}

// start runs a task in a folder of its own.
func start(t testing.TB, name string, sets ...string) (dir, text string, err error) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "run")
	var out bytes.Buffer
	_, err = task(t, name).Start(t.Context(), run.Options{Sets: append([]string{"run.out=" + dir, "run.workers=1"}, sets...), Stdout: &out,
		Log: slog.New(slog.DiscardHandler), Progress: run.Silent{}})
	return dir, out.String(), err
}

// must runs a task, which must not fail.
func must(t testing.TB, name string, sets ...string) (dir, text string) {
	t.Helper()
	dir, text, err := start(t, name, sets...)
	if err != nil {
		t.Fatal(err)
	}
	return dir, text
}

// exported are the files of a model as another program would have written them.
type exported struct{ recs, train, truth, nonMembers string }

// sets names the files for privrec import lists.
func (e exported) sets() []string {
	sets := []string{"recs=" + e.recs, "rows.train=" + e.train}
	if e.truth != "" {
		sets = append(sets, "rows.truth="+e.truth)
	}
	if e.nonMembers != "" {
		sets = append(sets, "rows.non_members="+e.nonMembers)
	}
	return sets
}

// files names them for the attacks.
func (e exported) files() []string {
	sets := []string{"files.recs=" + e.recs, "files.train=" + e.train}
	if e.nonMembers != "" {
		sets = append(sets, "files.non_members="+e.nonMembers)
	}
	return sets
}

// export writes the lists of a finished run of this program, its training rows in their order, its test rows, and what
// was held out. k is the length of the lists, of all users of the data.
func export(t testing.TB, dir string, k int) exported {
	t.Helper()
	ctx := t.Context()
	a, err := experiment.Ask(ctx, papers.All(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	m, err := run.ReadManifest(dir)
	if err != nil {
		t.Fatal(err)
	}
	o, err := experiment.ReadOutcome(dir)
	if err != nil {
		t.Fatal(err)
	}
	var hold run.HoldOut
	if m.HoldOut != nil {
		hold = *m.HoldOut
	}
	held := hold.Of(rng.Seed(m.Seed))
	load := func(v dataset.View) *dataset.Interactions {
		d, err := registry.LoadInteractions(ctx, o.Data.Name, o.Data.Recipe, v, registry.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	whole := load(dataset.View{Seed: held.Seed})
	given := whole
	if m.HoldOut != nil {
		given = load(dataset.View{HoldOut: &held})
	}
	var train, truth, others, lists bytes.Buffer
	for _, b := range []*bytes.Buffer{&train, &truth, &others} {
		fmt.Fprintln(b, "user_id\titem_id")
	}
	histories, _, err := a.Histories(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range histories {
		for _, i := range h.Items {
			fmt.Fprintf(&train, "%s\t%s\n", h.User, i)
		}
	}
	for u, id := range whole.UserIDs {
		for _, i := range whole.Test[u] {
			fmt.Fprintf(&truth, "%s\t%s\n", id, whole.ItemIDs[i])
		}
		for _, i := range whole.Train[u] {
			if _, kept := slices.BinarySearch(given.Train[u], i); !kept {
				fmt.Fprintf(&others, "%s\t%s\n", id, whole.ItemIDs[i])
			}
		}
	}
	got, err := a.Recommend(ctx, experiment.Question{Users: whole.UserIDs, K: k})
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintln(&lists, "user_id\titem_id\trank\tscore")
	for _, l := range got.Lists {
		for r, i := range l.Items {
			fmt.Fprintf(&lists, "%s\t%s\t%d\t%v\n", l.User, i.Item, r+1, i.Score)
		}
	}
	folder := t.TempDir()
	if kept := os.Getenv("PRIVREC_TEST_EXPORTED"); kept != "" { // for looking at by hand
		folder = filepath.Join(kept, filepath.Base(filepath.Dir(filepath.Dir(dir))))
		if err := os.MkdirAll(folder, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	e := exported{recs: filepath.Join(folder, "lists.tsv"), train: filepath.Join(folder, "train.tsv"), truth: filepath.Join(folder, "truth.tsv")}
	write := func(path string, b *bytes.Buffer) {
		if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write(e.recs, &lists)
	write(e.train, &train)
	write(e.truth, &truth)
	if m.HoldOut != nil {
		e.nonMembers = filepath.Join(folder, "non-members.tsv")
		write(e.nonMembers, &others)
	}
	return e
}

// written writes a file into a folder of its own.
func written(t testing.TB, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// itemsOf returns how many items the data of a run have.
func itemsOf(t testing.TB, o *experiment.Outcome[experiment.Data]) int {
	t.Helper()
	d, err := registry.LoadInteractions(t.Context(), o.Data.Name, o.Data.Recipe, dataset.View{Seed: 1},
		registry.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return d.Items
}

// attributesOf writes the gender of the users of a data set.
func attributesOf(t testing.TB, data string) string {
	t.Helper()
	_, f, err := registry.LoadLog(t.Context(), data, dataset.View{Seed: 1}, registry.Options{})
	if err != nil {
		t.Fatal(err)
	}
	c, err := f.Column("gender")
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	fmt.Fprintln(&b, "user_id\tgender")
	for u, code := range c.Codes {
		fmt.Fprintf(&b, "%s\t%s\n", f.UserIDs[u], c.Levels[code])
	}
	return written(t, "attributes.tsv", b.String())
}

// text reads a file.
func text(t testing.TB, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
