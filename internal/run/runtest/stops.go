package runtest

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"privrec/internal/privacy"
	"privrec/internal/run"
)

// Stops interrupts and kills a task at several moments, lets each run continue to its end, and checks the ledger on
// disk at every moment that the run reports progress, as a kill would leave it. The ledger must never say less about
// unprotected data than that of the finished run, nor less about releases than the checkpoint beside it. All ends must
// be equal.
func Stops(t *testing.T, task run.Task, o run.Options) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "run")
	w := &witness{t: t, dir: dir, fuse: NewFuse(t, 0, nil)}
	if err := begin(w.fuse, task, dir, o, w); err != nil {
		t.Fatal(err)
	}
	w.note("the end")
	final := onDisk(t, dir)
	if _, err := (privacy.Reading{}).File(filepath.Join(dir, "ledger.jsonl")); err != nil {
		t.Error(err)
	}
	declaredFirst(t, final.entries)
	declaredAll(t, dir, final.entries)
	w.check(final.entries)
	want := Artefacts(t, dir)

	goOn := func(what, dir string) {
		t.Helper()
		w := &witness{t: t, dir: dir, fuse: NewFuse(t, 0, nil)}
		w.note(what)
		o := o
		o.Resume = true
		if err := begin(w.fuse, task, dir, o, w); err != nil {
			t.Fatalf("%s, resumed: %v", what, err)
		}
		w.note("the end")
		w.check(final.entries)
		Same(t, what+", resumed", Artefacts(t, dir), want)
	}
	for _, at := range spread(w.fuse.Looks) {
		what := fmt.Sprintf("interrupted at look %d of %d", at, w.fuse.Looks)
		dir := filepath.Join(t.TempDir(), "run")
		if err := begin(NewFuse(t, at, nil), task, dir, o, run.Silent{}); !run.WasInterrupted(err) {
			t.Fatalf("%s: %v", what, err)
		}
		goOn(what, dir)
	}
	for _, k := range w.kills {
		goOn("killed at "+k.place, k.dir)
	}
}

// spread returns the moments, of n, at which to stop a run: early and late ones, or one in the middle in short tests.
func spread(n int) []int {
	if testing.Short() {
		return []int{1 + n/2}
	}
	return []int{1 + n/4, n - n/5}
}

// begin starts a task without output.
func begin(ctx context.Context, task run.Task, dir string, o run.Options, p run.Progress) error {
	o.Sets = append(append([]string{}, o.Sets...), "run.out="+dir)
	o.Log, o.Stdout, o.Progress = slog.New(slog.DiscardHandler), new(bytes.Buffer), p
	o.NoiseSeed = 1 // so that runs can be compared
	_, err := task.Start(ctx, o)
	return err
}

// Fuse is a context that ends when the task calls Err for the at-th time. A test thus interrupts the task at an exact
// place.
type Fuse struct {
	context.Context
	Looks int // calls of Err so far

	cancel context.CancelCauseFunc
	cause  error
	at     int
}

// NewFuse makes a context that ends at call number at of Err; 0: never. cause nil stands for
// context.Canceled.
func NewFuse(t *testing.T, at int, cause error) *Fuse {
	ctx, cancel := context.WithCancelCause(t.Context())
	t.Cleanup(func() { cancel(nil) })
	return &Fuse{Context: ctx, cancel: cancel, cause: cause, at: at}
}

// Err implements context.Context.
func (f *Fuse) Err() error {
	f.Looks++
	if f.Looks == f.at {
		f.cancel(f.cause)
	}
	return f.Context.Err()
}

// witness keeps the content of a run directory wherever its run reports progress.
type witness struct {
	run.Silent
	t     *testing.T
	dir   string
	fuse  *Fuse
	seen  []moment
	kills []kill

	ledger     []byte      // as it was at the last note
	checkpoint os.FileInfo // nil: none
}

// unchanged reports whether ledger and checkpoint are the same as at the last note. A stage reports progress thousands
// of times and seldom changes them.
func (w *witness) unchanged() bool {
	b, _ := os.ReadFile(filepath.Join(w.dir, "ledger.jsonl")) // nil where there is none; onDisk reports it
	info, err := os.Stat(filepath.Join(w.dir, "checkpoint", "checkpoint.safetensors"))
	if err != nil {
		info = nil
	}
	same := bytes.Equal(b, w.ledger) && (info == nil) == (w.checkpoint == nil) &&
		(info == nil || os.SameFile(info, w.checkpoint) && info.ModTime().Equal(w.checkpoint.ModTime()))
	w.ledger, w.checkpoint = b, info
	return same && len(w.seen) > 0
}

// kill holds a copy of a run directory as a kill would leave it.
type kill struct{ place, dir string }

// Phase implements run.Progress.
func (w *witness) Phase(text string) { w.note(text) }

// Begin implements run.Progress.
func (w *witness) Begin(what string, _ int) { w.note(what + " begins") }

// Add implements run.Progress.
func (w *witness) Add(int) { w.note(fmt.Sprintf("look %d", w.fuse.Looks)) }

// End implements run.Progress.
func (w *witness) End(summary string) { w.note(summary) }

// killedAt is the number of the moment at which a run is killed. It counts only moments at which the ledger or
// checkpoint changed.
const killedAt = 6

// note reads the run directory and, at the moment of the kill, copies it.
func (w *witness) note(place string) {
	w.t.Helper()
	if w.unchanged() {
		return
	}
	m := onDisk(w.t, w.dir)
	m.place = place
	if n := len(w.seen); n > 0 && w.seen[n-1].same(m) {
		return
	}
	w.seen = append(w.seen, m)
	if len(w.seen) != killedAt || place == "the end" {
		return
	}
	to := filepath.Join(w.t.TempDir(), "run")
	if err := os.CopyFS(to, os.DirFS(w.dir)); err != nil {
		w.t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(to, "lock")); err != nil {
		w.t.Fatal(err)
	}
	w.kills = append(w.kills, kill{place, to})
}

// check compares every moment with the finished ledger and with its own checkpoint.
func (w *witness) check(final ledgerEntries) {
	w.t.Helper()
	units := final.units()
	for _, m := range w.seen {
		m.check(w.t, final, units)
	}
}
