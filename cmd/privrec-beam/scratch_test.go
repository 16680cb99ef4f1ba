package main

import (
	"os"
	"path/filepath"
	"testing"

	"privrec/internal/system"
)

// A folder that a killed process left is removed, one that a process holds is not, nor anything else.
func TestSweep(t *testing.T) {
	dir := t.TempDir()
	left, held, other := filepath.Join(dir, scratchPrefix+"1"), filepath.Join(dir, scratchPrefix+"2"), filepath.Join(dir, "privrec-beam-3")
	for _, name := range []string{left, held, other} {
		if err := os.Mkdir(name, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(name, "rows"), []byte("true"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	l, err := system.TakeFolder(held)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Free()
	sweep(dir)
	for name, want := range map[string]bool{left: false, held: true, other: true} {
		if _, err := os.Stat(name); (err == nil) != want {
			t.Errorf("%s: %v", filepath.Base(name), err)
		}
	}
	work, end, err := scratch()
	if err != nil {
		t.Fatal(err)
	}
	sweep(filepath.Dir(work))
	if _, err := os.Stat(work); err != nil {
		t.Error("a folder in use was removed")
	}
	end()
	if _, err := os.Stat(work); err == nil {
		t.Error("a folder was left")
	}
}
