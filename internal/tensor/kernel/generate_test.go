package kernel

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestGenerated demands that the committed assembly is what gen/ writes.
func TestGenerated(t *testing.T) {
	if testing.Short() {
		t.Skip("short: builds the generator")
	}
	offline := append(os.Environ(), "GOPROXY=off", "GOFLAGS=-mod=readonly")
	list := exec.Command("go", "list", "-deps", "./...")
	list.Dir, list.Env = "gen", offline
	if out, err := list.CombinedOutput(); err != nil {
		t.Skipf("the modules of gen/go.mod are not on this machine (cd gen && go mod download): %v\n%s", err, out)
	}
	dir := t.TempDir()
	cmd := exec.Command("sh", "gen/generate.sh", dir)
	cmd.Env = offline
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("gen/generate.sh: %v\n%s", err, out)
	}
	written, err := os.ReadDir(dir)
	if err != nil || len(written) != 15 {
		t.Fatalf("gen/generate.sh wrote %d files, want 5 of 3 kinds: %v", len(written), err)
	}
	for _, file := range written {
		name := file.Name()
		want, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s is not what gen/ writes: run go generate", name)
		}
	}
}
