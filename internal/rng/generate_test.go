//go:build slow

package rng

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// The committed assembly is what its generator writes. It needs the
// assembler's module in the module cache, or the network.
func TestGeneratedFilesAreCurrent(t *testing.T) {
	dir := t.TempDir()
	for part, flags := range map[string][]string{"words_amd64": nil, "noise_amd64": {"-noise"}} {
		assembly, stubs := filepath.Join(dir, part+".s"), filepath.Join(dir, part+".go")
		cmd := exec.Command("go", append(append([]string{"run", "."}, flags...), "-out", assembly, "-stubs", stubs, "-pkg", "rng")...)
		cmd.Dir = "gen"
		if b, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, b)
		}
		for _, f := range []string{assembly, stubs} {
			want, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			got, err := os.ReadFile(filepath.Base(f))
			if err != nil {
				t.Fatal(err)
			}
			// The first line names the command with its paths.
			_, want, _ = bytes.Cut(want, []byte("\n"))
			_, got, _ = bytes.Cut(got, []byte("\n"))
			if !bytes.Equal(got, want) {
				t.Errorf("%s is stale: run go generate", filepath.Base(f))
			}
		}
	}
}
