package calculator

import (
	"os"
	"path/filepath"
	"testing"
)

// A curve that meets a file made meanwhile leaves it.
func TestCurveLeavesNothing(t *testing.T) {
	out := filepath.Join(t.TempDir(), "x.svg")
	k := &Curve{Out: out}
	if err := os.WriteFile(out, []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := k.write([]byte("theirs")); err == nil {
		t.Error("a file made meanwhile was replaced")
	}
	if got, err := os.ReadFile(out); err != nil || string(got) != "mine" {
		t.Errorf("%q, %v", got, err)
	}
}
