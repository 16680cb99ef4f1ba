package reproduce

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"privrec/internal/claims"
	"privrec/internal/record"
	"privrec/internal/reproduce/grid"
	"privrec/internal/reproduce/roster"
)

// queueGrid has a row with two printed numbers, one with one number and a claim, and one with neither. All sizes are
// of generated data, which are always there.
const queueGrid = `# three rows
name: fake-table
paper: fake
table: 3
title: Fakes compared
source: {cite: "A. Author, 2026", where: page 7, about: one seed}
unit: percent
metrics:
  - {metric: Recall@20, printed: R}
  - {metric: MRR@20, printed: M}
data:
  - {name: ml-1m, printed: ML-1M, stand_in: standin-tiny}
profiles:
  smoke: {about: nothing, stand_in: true, seeds: [1, 2], set: [level=D]}
  quick: {about: less, stand_in: true, seeds: [1], set: []}
  full: {about: all, stand_in: true, seeds: [1, 2], set: []}
rows:
  - {method: Neither, data: ml-1m, task: train fake, config: fake.yaml, evaluation: noise on, set: [value=0.1],
     printed: [null, null]}
  - {method: Two, data: ml-1m, task: train fake, config: fake.yaml, evaluation: noise on, printed: [19, 5.5]}
  - {method: Claimed, data: ml-1m, task: train fake, config: fake.yaml, evaluation: noise on, set: [value=0.3],
     printed: [null, 5]}
`

// claimed is a paper with two claims about the row Claimed.
func claimed() []*claims.Paper {
	part := []claims.Part{{Says: "reaches", Lines: []string{"Claimed"}, By: 0.1}}
	return []*claims.Paper{{Name: "fake", Claims: []claims.Claim{
		{ID: "a", Grid: "fake-table", Parts: part}, {ID: "b", Grid: "fake-table", Parts: part},
	}}}
}

// follow makes runs of a queue for a time, and returns its lines.
func follow(
	t *testing.T, ctx context.Context, g *grid.Grid, o roster.Options, shelf *record.Shelf, during time.Duration,
) (lines []string) {
	t.Helper()
	p, err := NewPlan([]*grid.Grid{g}, o)
	if err != nil {
		t.Fatal(err)
	}
	q, err := NewQueue(p, claimed(), shelf, func(line string) { lines = append(lines, line) })
	if err != nil {
		t.Fatal(err)
	}
	if err := q.Make(ctx, time.Now().Add(during)); err != nil && ctx.Err() == nil {
		t.Fatal(err)
	}
	return lines
}

// First seeds come before second ones; among them a row that claims are about, then the one with more printed
// numbers, then the rest. Every finished run is kept, and none is made twice.
func TestQueueOrder(t *testing.T) {
	f := &fake{}
	g, o := mustLoad(t, queueGrid, f.task()), options(t, "full")
	shelf := openShelf(t)
	lines := follow(t, t.Context(), g, o, shelf, time.Hour)
	var began []string
	for _, l := range lines {
		if rest, ok := strings.CutPrefix(l, "begin "); ok {
			_, why, _ := strings.Cut(rest, ": ")
			why, _, _ = strings.Cut(why, "; about")
			began = append(began, why)
		}
	}
	want := []string{
		"for fake-table, 1 printed number without one of ours, 2 claims about it",
		"for fake-table, 2 printed numbers without one of ours",
		"for fake-table, a row without results",
	}
	if len(began) != 6 || !slices.Equal(began[:3], want) {
		t.Errorf("began %q, want first %q", began, want)
	}
	for _, why := range began[3:] {
		holds(t, why, "seed 2 beside 1")
	}
	if n := f.starts.Load(); n != 6 {
		t.Errorf("%d runs began, want 6", n)
	}
	for _, empty := range []bool{false, true} { // also where the directories are gone
		if empty {
			o.Out = t.TempDir()
		}
		lines = follow(t, t.Context(), g, o, shelf, time.Hour)
		holds(t, strings.Join(lines, "\n"), "nothing is left to make", "finished 0 runs; 6 of 6 are done")
	}
	if n := f.starts.Load(); n != 6 {
		t.Errorf("kept runs are made again: %d began", n)
	}
}

// A run whose results are too large to be kept keeps no other from being made, and is not made again.
func TestQueueOfLargeResults(t *testing.T) {
	f := &fake{}
	text := strings.Replace(queueGrid, "printed: [19, 5.5]", "set: [fail=large], printed: [19, 5.5]", 1)
	g, o := mustLoad(t, text, f.task()), options(t, "full")
	shelf := openShelf(t)
	for _, want := range []string{"finished 6 runs; 6 of 6 are done", "finished 0 runs; 6 of 6 are done"} {
		holds(t, strings.Join(follow(t, t.Context(), g, o, shelf, time.Hour), "\n"), "more than 61440", want)
	}
	if n := f.starts.Load(); n != 6 {
		t.Errorf("%d runs began, want 6", n)
	}
}

// A queue that is killed loses no finished run, and the next one goes on.
func TestQueueStopped(t *testing.T) {
	f := &fake{}
	g, o := mustLoad(t, queueGrid, f.task()), options(t, "full")
	shelf := openShelf(t)
	kept := func() int {
		found, err := filepath.Glob(filepath.Join(shelfDir(shelf), "*.json"))
		if err != nil {
			t.Fatal(err)
		}
		return len(found)
	}
	for round, want := range []int{1, 2} {
		ctx, kill := context.WithCancel(t.Context())
		began := f.starts.Load()
		f.ctx = func() {
			if f.starts.Load() == began+2 {
				kill()
			}
		}
		follow(t, ctx, g, o, shelf, time.Hour)
		kill()
		if n := kept(); n != want {
			t.Errorf("killed %d times: %d runs are kept, want %d", round+1, n, want)
		}
	}
	f.ctx = nil
	follow(t, t.Context(), g, o, shelf, time.Hour)
	if n := kept(); n != 6 {
		t.Errorf("%d runs are kept, want 6", n)
	}
	if n := f.starts.Load(); n != 8 { // the two that were killed, and six
		t.Errorf("%d runs began, want 8", n)
	}
}

// A run that fails is said once, and is not tried again by the same queue.
func TestQueueFailure(t *testing.T) {
	f := &fake{}
	g := mustLoad(t, strings.Replace(queueGrid, "set: [value=0.3]", "set: [fail=error]", 1), f.task())
	lines := follow(t, t.Context(), g, options(t, "full"), openShelf(t), time.Hour)
	text := strings.Join(lines, "\n")
	if n := strings.Count(text, "it broke"); n != 2 {
		t.Errorf("%d failures are said, want one for each seed:\n%s", n, text)
	}
	holds(t, text, "finished 4 runs; 4 of 6 are done")
}

// A run that does not end in the time left gives way to one that does; where none does, the first begins.
func TestQueueTime(t *testing.T) {
	g, o := mustLoad(t, queueGrid, (&fake{}).task()), options(t, "full")
	p, err := NewPlan([]*grid.Grid{g}, o)
	if err != nil {
		t.Fatal(err)
	}
	q, err := NewQueue(p, claimed(), nil, func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range q.wants {
		seconds := 10.0
		if w.run.Method == "Claimed" {
			seconds = 12
		}
		if err := p.learn(w.run, seconds); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		left float64
		want string
	}{{100, "Claimed"}, {13, "Two"}, {1, "Claimed"}} {
		got, _, err := q.next(c.left)
		if err != nil {
			t.Fatal(err)
		}
		if got == nil || got.run.Method != c.want {
			t.Errorf("%g s left: %v, want %s", c.left, got, c.want)
		}
	}
}

// shelfDir returns the folder of a shelf of this test.
func shelfDir(s *record.Shelf) string { return shelves[s] }

var shelves = map[*record.Shelf]string{}

func openShelf(t *testing.T) *record.Shelf {
	t.Helper()
	dir := t.TempDir()
	s, err := record.OpenShelf(dir)
	if err != nil {
		t.Fatal(err)
	}
	shelves[s] = dir
	t.Cleanup(func() { s.Close(); delete(shelves, s) })
	return s
}

// A table of kept runs has the bytes of that of their directories, with intervals over users and claims; what is
// changed in a record changes the table, and one of older results is shown as stale.
func TestTableOfKeptRuns(t *testing.T) {
	f := &fake{}
	text := strings.Replace(fakeGrid, "evaluation: noise on,", "evaluation: noise on, set: [users=10],", 1)
	g, o := mustLoad(t, text, f.task()), options(t, "full")
	made, err := makeTable(t.Context(), g, o)
	if err != nil || made.Err() != nil {
		t.Fatal(err, made.Err())
	}
	want := markdown(t, made)
	shelf := openShelf(t)
	for _, r := range made.Runs {
		if err := shelf.Keep(r.Dir); err != nil {
			t.Fatal(err)
		}
	}
	look := func() string {
		t.Helper()
		shelf, err := record.OpenShelf(shelfDir(shelf))
		if err != nil {
			t.Fatal(err)
		}
		defer shelf.Close()
		from := options(t, "full")
		from.Records, from.NoRun = shelf, true
		out, err := makeTable(t.Context(), g, from)
		if err != nil {
			t.Fatal(err)
		}
		return markdown(t, out)
	}
	if got := look(); got != want {
		t.Errorf("kept runs make\n%s\nthe runs\n%s", got, want)
	}
	if n := f.starts.Load(); n != 6 {
		t.Errorf("%d runs began, want 6", n)
	}
	for _, c := range []struct{ old, new, says string }{
		{`"Recall@20":0.2}`, `"Recall@20":0.25}`, "22.67"},
		{`"results": 0,`, `"results": 3,`,
			"stale: it was recorded by a program with results 3 of train fake, and these are 0"},
	} {
		path := filepath.Join(shelfDir(shelf), filepath.Base(made.Runs[0].Dir)+".json")
		was, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		changed := strings.Replace(string(was), c.old, c.new, 1)
		if changed == string(was) {
			t.Fatalf("no %s in\n%s", c.old, was)
		}
		if err := os.WriteFile(path, []byte(changed), 0o644); err != nil {
			t.Fatal(err)
		}
		got := look()
		if got == want {
			t.Errorf("%s in place of %s is not seen", c.new, c.old)
		}
		holds(t, got, c.says)
		if err := os.WriteFile(path, was, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
