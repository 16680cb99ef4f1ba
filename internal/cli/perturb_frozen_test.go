//go:build amd64 && !amd64.v3

// The frozen reports are of amd64 without fused multiplications: processors that fuse
// round their last digits otherwise, and have no such test.

package cli

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"privrec/internal/dataset/compress"
)

// frozenPerturbed has the inputs in a folder in, and a file a program: what it printed and
// wrote.
const frozenPerturbed = "../../testdata/perturbed"

// perturbSettings are command lines by program: every form that is read and written, every
// mechanism, and refusals. --in is a file of testdata/perturbed/in, --out is in a folder of
// its own.
var perturbSettings = map[string][]string{
	"pricdsr": {
		"--in in/histories.tsv --out o.tsv --epsilon 3 --items 12 --length 5",
		"--in in/histories.txt --out o.txt --epsilon 1 --items 12 --length 5 --mechanism sdp-paper --json",
		"--in in/histories.inter --out o.inter --epsilon 2 --items 12 --length 4 --mechanism rr --keep-order",
		"--in in/named.csv --out o.csv --epsilon 2 --catalogue in/names.csv --length 6 --keep-order",
		"--in in/histories.txt --out o.tsv.gz --epsilon 2 --items 12 --length 5 --quiet",
		"--in in/histories.tsv --out o.dat.zst --out-form lines --epsilon inf --limits --items 12 --length 3 --ledger-key in/past.txt",
		"--in in/histories.tsv --out o.csv --epsilon 0 --limits --items 12 --length 14 --small",
		"--in in/apart.tsv --out o.tsv --epsilon 2 --items 12 --length 5",
		"--in in/named.csv --out o.txt --epsilon 2 --catalogue in/names.csv --length 6",
		"--in in/histories.tsv --out o.tsv --epsilon 0 --items 12 --length 5",
	},
	"features": {
		"--attributes in/users.tsv --out o.tsv --epsilon 5 --bands age=35,45 --category gender=F,M",
		"--attributes in/users.tsv --in in/ratings.csv --items 40 --out o.csv --epsilon 20 --number age=0..120 --category gender=F,M --json",
		"--attributes in/users.tsv --out o.inter.zst --epsilon 1.5 --each --number age=0..120 --category gender=F,M --quiet --ledger-key in/past.txt",
		"--attributes in/users.tsv --in in/ratings.csv --items 40 --out o.dat --out-form tsv --epsilon 6 --draw 3 --category gender=F,M",
		"--attributes in/users.tsv --out o.tsv --epsilon 5 --category gender=F,X",
		"--attributes in/users.tsv --out o.tsv --epsilon 5 --draw 3 --category gender=F,M",
	},
	"exposure": {
		"--in in/slates.tsv --out o.tsv --ratio 0.4",
		"--in in/slates.txt --out o.txt --ratio 0.5 --replace popularity --catalogue in/counts.csv --json",
		"--in in/shown.csv --out o.csv --ratio 0.5 --replace in-batch --batch 5 --own-rows",
		"--in in/slates.txt --out o.inter --ratio 0.3 --select similar --vectors in/vectors.tsv --history in/past.txt --items 16",
		"--in in/slates.tsv --out o.csv.gz --ratio 0.6 --select dissimilar --weighted --reference slate --vectors in/vectors.tsv --quiet",
		"--in in/shown.csv --out o.inter.zst --replace rr --epsilon 2 --items 16 --ledger-key in/past.txt",
		"--in in/slates.txt --out o.dat --out-form tsv --replace rr --epsilon 0.01 --catalogue in/counts.csv",
		"--in in/short.txt --out o.tsv --ratio 0.5",
		"--in in/shown.csv --out o.txt --ratio 0.5",
		"--in in/slates.txt --out o.tsv --ratio 1.5",
	},
}

// TestPerturbFrozen demands the frozen bytes of what perturb prints and writes, with one
// worker; what it writes with three must be the same.
func TestPerturbFrozen(t *testing.T) {
	t.Parallel()
	for kind, settings := range perturbSettings {
		var got strings.Builder
		for _, line := range settings {
			args := append([]string{"perturb", kind, "--seed", "7"}, strings.Fields(line)...)
			fmt.Fprintf(&got, "== %s\n", line)
			files := perturbInFolder(t, append(args, "--workers", "1"))
			for _, name := range slices.Sorted(maps.Keys(files)) {
				got.WriteString(shown(name, files))
			}
			if three := perturbInFolder(t, append(args, "--workers", "3")); !maps.EqualFunc(three, files, bytes.Equal) {
				t.Errorf("perturb %s %s: other bytes with three workers", kind, line)
			}
		}
		path := filepath.Join(frozenPerturbed, kind+".txt")
		if *update {
			if err := os.WriteFile(path, []byte(got.String()), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), got.String()); diff != "" {
			t.Errorf("%s (go test ./internal/cli -run TestPerturbFrozen -update rewrites it):\n%s", path, diff)
		}
	}
}

// perturbInFolder runs the program in a folder of its own. It returns the files that are
// left, by name, and as if they were files the exit code and what was printed.
func perturbInFolder(t *testing.T, args []string) map[string][]byte {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(filepath.Join(dir, "in"), os.DirFS(filepath.Join(frozenPerturbed, "in"))); err != nil {
		t.Fatal(err)
	}
	c := program(t, dir, []string{"GODEBUG=cpu.fma=off", "PRIVREC_DATA="}, args...)
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	var exit *exec.ExitError
	if err := c.Run(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(dir, "in")); err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{"exit code": fmt.Appendln(nil, c.ProcessState.ExitCode()), "stdout": out.Bytes(), "stderr": errs.Bytes()}
	for _, e := range left {
		if files[e.Name()], err = os.ReadFile(filepath.Join(dir, e.Name())); err != nil {
			t.Fatal(err)
		}
	}
	return files
}

// shown is a file for the eye: a packed one by its size and digest, and what was printed by
// the name of the report that says the same.
func shown(name string, files map[string][]byte) string {
	b := files[name]
	if compress.Of(name) != compress.Plain {
		return fmt.Sprintf("-- %s: %d bytes, sha256 %x\n", name, len(b), sha256.Sum256(b))
	}
	for _, report := range []string{"o.report.txt", "o.report.json"} {
		if name == "stdout" && bytes.Equal(b, files[report]) {
			return "-- stdout: as " + report + "\n"
		}
	}
	return fmt.Sprintf("-- %s\n%s", name, b)
}
