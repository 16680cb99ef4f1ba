package cli

import (
	"archive/zip"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// serveFiles starts a web server over a folder and puts its address into $URL: serve DIR.
func serveFiles(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: serve DIR")
	}
	s := httptest.NewServer(http.FileServer(http.Dir(ts.MkAbs(args[0]))))
	ts.Defer(s.Close)
	ts.Setenv("URL", s.URL)
}

// packs writes a zip archive: packs OUT NAME=FILE...
func packs(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: packs OUT NAME=FILE...")
	}
	f, err := os.Create(ts.MkAbs(args[0]))
	ts.Check(err)
	defer f.Close()
	z := zip.NewWriter(f)
	for _, a := range args[1:] {
		name, file, _ := strings.Cut(a, "=")
		b, err := os.ReadFile(ts.MkAbs(file))
		ts.Check(err)
		w, err := z.Create(name)
		ts.Check(err)
		_, err = w.Write(b)
		ts.Check(err)
	}
	ts.Check(z.Close())
}

// flips changes one bit of a byte of a file: flips FILE.
func flips(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: flips FILE")
	}
	b, err := os.ReadFile(ts.MkAbs(args[0]))
	ts.Check(err)
	b[len(b)/2] ^= 1
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), b, 0o644))
}
