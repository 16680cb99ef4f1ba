//go:build !f64

// Where a run goes on does not depend on the width of numbers. What a checkpoint keeps is tested in both widths,
// in resume_test.go.

package dipsgnn

import (
	"fmt"
	"path/filepath"
	"testing"

	"privrec/internal/run/runtest"
)

// Runs with another course: early stopping, selection on test, no noise, ids, T=2.
func TestResumeOtherRuns(t *testing.T) {
	for _, c := range []struct {
		name string
		sets []string
	}{
		{"code", variants[len(variants)-1].sets},
		{"ids without noise, two steps", []string{"model.user_input=id", "privacy.transitions.epsilon=.inf",
			`eval.noise=["off"]`, "model.steps=2"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			want, s := uninterrupted(t, c.sets)
			for _, at := range []int{s.at["epoch 2/2 begins"] + 2, s.at["epoch 2/2 trained"] + 2} {
				dir := filepath.Join(t.TempDir(), "run")
				interrupt(t, dir, c.sets, at, false)
				runtest.Same(t, fmt.Sprint("interrupted at look ", at), resume(t, dir, c.sets), want)
			}
		})
	}
}

// Early stopping counts on over an interruption: it stops where it would have.
func TestResumeWithEarlyStop(t *testing.T) {
	var sets []string
	var want map[string]string
	var s *stations
	for seed := 1; s == nil || s.at["refit, epoch 1/1 begins"] == 0; seed++ { // in which the first epoch is the best
		if seed > 30 {
			t.Fatal("nothing stopped early, so nothing is tested")
		}
		sets = []string{"train.epochs=6", "train.patience=1", "train.rate=1", "train.decay_by=1", "eval.k=[20]",
			fmt.Sprint("run.seed=", seed)}
		want, s = uninterrupted(t, sets)
	}
	for _, place := range []string{"epoch 2/6 begins", "refit, epoch 1/1 begins", "evaluate"} {
		dir := filepath.Join(t.TempDir(), "run")
		interrupt(t, dir, sets, s.at[place]+2, false)
		runtest.Same(t, "interrupted after "+place, resume(t, dir, sets), want)
	}
}

// Interrupted and gone on with, a run leaves the bytes of one in one go: the graphs are the same again.
func TestEdgeRandResumes(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	start(t, Task(), dir, onEdges)
	want := runtest.Artefacts(t, dir)
	for _, at := range []int{2, 12, 40} {
		dir := filepath.Join(t.TempDir(), "run")
		interrupt(t, dir, onEdges, at, false)
		runtest.Same(t, fmt.Sprint("interrupted at ", at), resume(t, dir, onEdges), want)
	}
}
