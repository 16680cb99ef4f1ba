package cli

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// perturbed runs privrec perturb KIND in this process and returns what it printed.
func perturbed(t testing.TB, kind string, args ...string) string {
	t.Helper()
	var out, errs bytes.Buffer
	app := &App{Stdout: &out, Stderr: &errs}
	if code := app.Execute(context.Background(), append([]string{"perturb", kind, "--quiet"}, args...)); code != 0 {
		t.Fatalf("%v: exit code %d: %s", args, code, errs.String())
	}
	return out.String()
}

// realRows reads a packed table of a real set, without its header. The sets are not in the repository, so that a
// test may skip on a machine without them: .ci/run fails on both of these skips where the data are. A set that is
// there and lacks the table is an error.
func realRows(t testing.TB, set, name string) (rows [][]string) {
	t.Helper()
	dir := os.Getenv("PRIVREC_DATA")
	if dir == "" {
		t.Skipf("PRIVREC_DATA is not set: skipping the check on the real %s", set)
	}
	if _, err := os.Stat(filepath.Join(dir, set)); os.IsNotExist(err) { // a folder with other sets only
		t.Skipf("PRIVREC_DATA has no %s: %v", set, err)
	}
	f, err := os.Open(filepath.Join(dir, set, name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Split(strings.TrimSuffix(string(b), "\n"), "\n") {
		if i > 0 {
			rows = append(rows, strings.Split(line, "\t"))
		}
	}
	return rows
}
