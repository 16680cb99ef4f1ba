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

// realRows reads a packed table of a real set, without its header.
func realRows(t testing.TB, set, name string) (rows [][]string) {
	t.Helper()
	dir := os.Getenv("PRIVREC_DATA")
	if dir == "" { // .ci/run sets it where the data are, and fails when a test says this then
		t.Skipf("PRIVREC_DATA is not set: skipping the check on the real %s", set)
	}
	f, err := os.Open(filepath.Join(dir, set, name))
	if os.IsNotExist(err) { // a folder with other sets only; .ci/run fails when a test says this
		t.Skipf("PRIVREC_DATA has no %s: %v", set, err)
	}
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
