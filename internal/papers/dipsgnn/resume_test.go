package dipsgnn

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"privrec/internal/run"
	"privrec/internal/run/runtest"
)

// stations notes at which look of the fuse a run came by the places of interest,
// and what to do there.
type stations struct {
	run.Silent
	fuse *runtest.Fuse
	at   map[string]int
	then func(place string)
	open string // the epoch under way
	fits string // in which training; epochs are numbered from 1 in each

	inner bool // within a stretch that is no epoch
}

func (s *stations) pass(place string) {
	s.at[place] = s.fuse.Looks
	if s.then != nil {
		s.then(place)
	}
}

func (s *stations) Phase(text string) {
	if strings.HasPrefix(text, "train on all samples") {
		s.fits = "refit, "
	}
	s.pass(text)
}

func (s *stations) Begin(what string, _ int) {
	if s.inner = !strings.HasPrefix(what, "epoch"); s.inner { // reading, ranking: no place by itself
		return
	}
	s.open = s.fits + what
	s.pass(s.open + " begins")
}

func (s *stations) Add(int) {
	if !s.inner {
		s.pass(s.open + " trained")
	}
}

func (s *stations) End(string) {
	if !s.inner {
		s.pass(s.open + " ends")
	}
	s.inner = false
}

func (s *stations) options(o run.Options) run.Options { o.Progress = s; return o }

// uninterrupted is a whole run: its artefacts and its stations.
func uninterrupted(t *testing.T, sets []string) (map[string]string, *stations) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "run")
	s := &stations{fuse: runtest.NewFuse(t, 0, nil), at: map[string]int{}}
	if err := try(s.fuse, Task(), dir, sets, s.options(run.Options{})); err != nil {
		t.Fatal(err)
	}
	s.at["the end"] = s.fuse.Looks
	return runtest.Artefacts(t, dir), s
}

// moments are looks at which to interrupt: before anything is kept, while
// training, before validation and inside it, and in both final evaluations.
func moments(s *stations) []int {
	return []int{
		1, s.at["epoch 1/2 begins"] + 3, s.at["epoch 1/2 trained"] + 1, s.at["epoch 1/2 trained"] + 2, s.at["epoch 2/2 ends"],
		s.at["epoch 2/2 ends"] + 1, s.at["refit, epoch 1/2 trained"] + 3, s.at["evaluate"] + 1, s.at["the end"],
	}
}

// interrupt runs until the fuse blows and demands a clean interruption.
func interrupt(t *testing.T, dir string, sets []string, at int, resume bool) {
	t.Helper()
	err := try(runtest.NewFuse(t, at, nil), Task(), dir, sets, run.Options{Resume: resume})
	if !run.WasInterrupted(err) {
		t.Fatalf("interrupted at look %d: %v", at, err)
	}
	for _, file := range []string{"lock", "metrics.json", "privacy.json", "result.json"} {
		if _, err := os.Stat(filepath.Join(dir, file)); err == nil {
			t.Errorf("interrupted at look %d: %s is there", at, file)
		}
	}
}

func resume(t *testing.T, dir string, sets []string) map[string]string {
	t.Helper()
	if err := try(t.Context(), Task(), dir, sets, run.Options{Resume: true}); err != nil {
		t.Fatal(err)
	}
	return runtest.Artefacts(t, dir)
}

// A run that is interrupted anywhere and resumed leaves the bytes of the one
// that was not: results, account, ledger, scores by user, checkpoint, page.
func TestResumeAfterInterruption(t *testing.T) {
	want, s := uninterrupted(t, nil)
	for _, at := range moments(s) {
		t.Run(fmt.Sprintf("look %d of %d", at, s.fuse.Looks), func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "run")
			interrupt(t, dir, nil, at, false)
			runtest.Same(t, "resumed", resume(t, dir, nil), want)
		})
	}
}

// The same after two interruptions, at two places, with other numbers of workers.
func TestResumeTwice(t *testing.T) {
	want, s := uninterrupted(t, nil)
	for _, c := range []struct{ first, second int }{
		{s.at["epoch 1/2 trained"] + 2, 10},
		{s.at["epoch 1/2 trained"], s.at["refit, epoch 1/2 begins"] + 2},
		{s.at["evaluate"] + 2, s.at["load standin-tiny"] + 7},
	} {
		dir := filepath.Join(t.TempDir(), "run")
		interrupt(t, dir, []string{"run.workers=2"}, c.first, false)
		interrupt(t, dir, []string{"run.workers=1"}, c.second, true)
		runtest.Same(t, fmt.Sprintf("interrupted at %d, then %d", c.first, c.second), resume(t, dir, []string{"run.workers=5"}), want)
	}
}

// What a kill leaves: the directory as it lies on disk at some moment, without
// any goodbye.
func TestResumeAfterKill(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	s := &stations{fuse: runtest.NewFuse(t, 0, nil), at: map[string]int{}}
	copies := map[string]string{}
	s.then = func(place string) {
		if copies[place] != "" {
			return
		}
		to := filepath.Join(t.TempDir(), "run")
		if err := os.CopyFS(to, os.DirFS(dir)); err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(filepath.Join(to, "lock")); err != nil {
			t.Fatal(err)
		}
		copies[place] = to
	}
	if err := try(s.fuse, Task(), dir, nil, s.options(run.Options{})); err != nil {
		t.Fatal(err)
	}
	want := runtest.Artefacts(t, dir)
	for _, place := range []string{"epoch 1/2 ends", "refit, epoch 1/2 begins", "refit, epoch 2/2 begins", "evaluate"} {
		if copies[place] == "" {
			t.Fatalf("the run never came by %q", place)
		}
		runtest.Same(t, "killed at "+place, resume(t, copies[place], nil), want)
	}
}

// A finished run that is resumed shows its result again and changes nothing.
func TestResumeFinished(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	start(t, Task(), dir, []string{"train.epochs=1"})
	before := runtest.Artefacts(t, dir)
	runtest.Same(t, "resumed when finished", resume(t, dir, []string{"train.epochs=1"}), before)
}
