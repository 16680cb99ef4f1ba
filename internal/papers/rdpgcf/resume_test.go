package rdpgcf

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"privrec/internal/run"
	"privrec/internal/run/runtest"
)

// fuse is a context that ends at its n-th look: interruption at an exact place.
type fuse struct {
	context.Context
	cancel context.CancelFunc
	looks  int
	at     int // 0: never
}

func newFuse(t *testing.T, at int) *fuse {
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	return &fuse{Context: ctx, cancel: cancel, at: at}
}

func (f *fuse) Err() error {
	f.looks++
	if f.looks == f.at {
		f.cancel()
	}
	return f.Context.Err()
}

// A run that is interrupted anywhere, even twice, and resumed leaves the bytes of the
// one that was not: parameters, vectors, scores, ledger and account.
func TestResume(t *testing.T) {
	for _, name := range []string{"bprmf", "ngcf", "rdpgcf", "edgerand"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sets := []string{"train.epochs=3", "train.batch=700", "eval.every=true"}
			whole := newFuse(t, 0)
			dir := filepath.Join(t.TempDir(), "whole")
			if err := try(whole, task(t, name), dir, sets, run.Options{}); err != nil {
				t.Fatal(err)
			}
			want := runtest.Artefacts(t, dir)
			step := max(1, whole.looks/4)
			for at := 1; at <= whole.looks; at += step {
				dir := filepath.Join(t.TempDir(), fmt.Sprint("run", at))
				for again, look := range []int{at, max(1, (whole.looks-at)/2)} {
					err := try(newFuse(t, look), task(t, name), dir, sets, run.Options{Resume: again > 0})
					if err == nil { // the second fuse may be longer than what was left
						break
					}
					if !run.WasInterrupted(err) {
						t.Fatalf("interrupted at look %d: %v", look, err)
					}
					for _, file := range []string{"metrics.json", "privacy.json", "result.json"} {
						if _, err := os.Stat(filepath.Join(dir, file)); err == nil && look < whole.looks-1 {
							t.Errorf("interrupted at look %d: %s is there", look, file)
						}
					}
				}
				if err := try(t.Context(), task(t, name), dir, sets, run.Options{Resume: true}); err != nil {
					t.Fatal(err)
				}
				runtest.Same(t, fmt.Sprintf("interrupted at look %d of %d", at, whole.looks), runtest.Artefacts(t, dir), want)
			}
		})
	}
}
