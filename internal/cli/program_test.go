package cli

import (
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// program returns the program as a command that runs in a folder, with variables beside those of the environment.
func program(t *testing.T, dir string, env []string, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), self, args...)
	c.Args[0] = "privrec" // by which TestMain knows the program
	c.Dir, c.Env = dir, append(os.Environ(), env...)
	return c
}

// shippedFiles yields the YAML files that come with the program, by path from this folder, in order.
func shippedFiles(t *testing.T) iter.Seq2[string, []byte] {
	t.Helper()
	paths, err := filepath.Glob("../../configs/*/*.yaml")
	if err != nil || len(paths) == 0 {
		t.Fatal(paths, err)
	}
	return func(yield func(string, []byte) bool) {
		for _, path := range paths {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if !yield(path, text) {
				return
			}
		}
	}
}
