package fetch

import (
	"archive/tar"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func gz(b []byte) []byte {
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	z.Write(b)
	z.Close()
	return out.Bytes()
}

// tarred makes a tar of the headers given; a regular file holds content.
func tarred(t *testing.T, content string, headers ...tar.Header) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, h := range headers {
		h.Mode = 0o644
		if h.Typeflag == tar.TypeReg {
			h.Size = int64(len(content))
		}
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if h.Typeflag == tar.TypeReg {
			io.WriteString(w, content)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func deflated(b []byte) []byte {
	var out bytes.Buffer
	w, _ := flate.NewWriter(&out, 9)
	w.Write(b)
	w.Close()
	return out.Bytes()
}

// open unpacks bytes as the archive a into a fresh folder, which lies in another one
// that must stay empty otherwise.
func open(t *testing.T, a Archive, b []byte) (folder string, err error) {
	t.Helper()
	outer := t.TempDir()
	folder = filepath.Join(outer, "in")
	if err := os.Mkdir(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "x")
	if err := os.WriteFile(file, b, 0o644); err != nil {
		t.Fatal(err)
	}
	x := &extraction{ctx: context.Background(), archive: a, to: folder}
	if err = x.run(file); err == nil {
		_, err = x.files()
	}
	if entries, _ := os.ReadDir(outer); len(entries) != 1 {
		t.Errorf("something was written outside the folder: %v", entries)
	}
	return folder, err
}

func TestUnpack(t *testing.T) {
	reg := func(name string) tar.Header { return tar.Header{Name: name, Typeflag: tar.TypeReg} }
	dir := tar.Header{Name: "d/", Typeflag: tar.TypeDir}
	link := tar.Header{Name: "d/a.txt", Typeflag: tar.TypeSymlink, Linkname: "/etc/passwd"}
	hard := tar.Header{Name: "d/a.txt", Typeflag: tar.TypeLink, Linkname: "../../x"}
	device := tar.Header{Name: "d/null", Typeflag: tar.TypeChar, Devmajor: 1, Devminor: 3}
	zeros := make([]byte, 64<<20)
	flat := deflated(zeros)
	text := []byte("rows\n")
	many := make([]tar.Header, 300)
	for i := range many {
		many[i] = reg("d/n" + strings.Repeat("x", i%50))
	}
	cutGz := gz(noise(5000))
	for _, c := range []struct {
		name  string
		bytes []byte
		want  string // of the error; "" for success
	}{
		{"zip", zipped(t, "d/a.txt", "rows\n"), ""},
		{"zip, other folder", zipped(t, "q/a.txt", "rows\n"), ""},
		{"zip, exact name wins", zipped(t, "q/a.txt", "other\n", "d/a.txt", "rows\n", "z/a.txt", "other\n"), ""},
		{"tar", tarred(t, "rows\n", dir, reg("./d/a.txt")), ""},
		{"tar.gz", gz(tarred(t, "rows\n", dir, reg("d/a.txt"))), ""},
		{"gz", gz(text), ""},

		{"zip, two alike", zipped(t, "q/a.txt", "1", "z/a.txt", "2"), "could both be"},
		{"zip, lacks it", zipped(t, "d/b.txt", "1"), "does not contain d/a.txt"},
		{"zip, path escape", zipped(t, "d/a.txt", "rows\n", "../evil.txt", "x"), "would leave the folder"},
		{"zip, hidden path escape", zipped(t, "d/a.txt", "rows\n", "d/../../evil.txt", "x"), "would leave the folder"},
		{"zip, absolute path", zipped(t, "/tmp/a.txt", "x"), "would leave the folder"},
		{"zip, backslashes", zipped(t, `..\a.txt`, "x"), "would leave the folder"},
		{"zip, drive", zipped(t, `c:a.txt`, "x"), "would leave the folder"},
		{"zip, link", rawZip("d/a.txt", 0o777|os.ModeSymlink, text, text, 0), "is a link"},
		{"zip, device", rawZip("d/a.txt", 0o666|os.ModeDevice, text, text, 0), "is a link, a device"},
		{"zip, bomb", rawZip("d/a.txt", 0o644, zeros, flat, 8), "unpacks to more"},
		{"zip, bomb that lies about its size", rawZip("d/a.txt", 0o644, zeros[:1000], flat, 8), "cannot unpack"},
		{"zip, wrong checksum", rawZip("d/a.txt", 0o644, text, []byte("rowz\n"), 0), "cannot unpack"},
		{"zip, cut", zipped(t, "d/a.txt", "rows\n")[:60], "cannot unpack"},
		{"tar, path escape", tarred(t, "x", reg("../a.txt")), "would leave the folder"},
		{"tar, link", tarred(t, "x", link), "is a link"},
		{"tar, hard link", tarred(t, "x", hard), "is a link"},
		{"tar, device", tarred(t, "x", reg("d/a.txt"), device), "is a link, a device"},
		{"tar, many entries", tarred(t, "x", many...), "more than 200 entries"},
		{"gz, bomb", gz(zeros), "unpacks to more"},
		{"tar.gz, bomb", gz(tarred(t, string(zeros), reg("d/other"), reg("d/a.txt"))), "unpacks to more"},
		{"gz, cut", cutGz[:3000], "unexpected EOF"},
		{"text", []byte("user,item\n"), "is not a zip, tar or gzip archive"},
		{"empty", nil, "is not a zip, tar or gzip archive"},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := Archive{URL: "https://a.b/x.zip", Files: []string{"d/a.txt"}, Into: "sub"}
			folder, err := open(t, a, c.bytes)
			if c.want != "" {
				if err == nil || !strings.Contains(err.Error(), c.want) {
					t.Errorf("error %v, want %q", err, c.want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := string(read(t, folder, "sub", "a.txt")); got != "rows\n" {
				t.Errorf("holds %q", got)
			}
		})
	}
}

// Limits count: what is allowed just fits, one byte more does not.
func TestLimits(t *testing.T) {
	b := zipped(t, "a.txt", string(noise(1000)))
	a := Archive{URL: "https://a.b/x.zip", Files: []string{"a.txt"}, Limits: Limits{Bytes: 1000, Files: 1}}
	if _, err := open(t, a, b); err != nil {
		t.Error(err)
	}
	a.Limits.Bytes = 999
	if _, err := open(t, a, b); err == nil {
		t.Error("a byte too many was unpacked")
	}
	if _, err := open(t, a, gz(noise(1000))); err == nil || !strings.Contains(err.Error(), "unpacks to more") {
		t.Errorf("a byte too many of a stream: %v", err)
	}
	a.Limits = Limits{Bytes: 1 << 40}
	if _, err := open(t, a, gz(make([]byte, 8<<20))); err == nil || !strings.Contains(err.Error(), "100 bytes for each byte") {
		t.Errorf("a ratio beyond the limit: %v", err)
	}
	a.Limits = Limits{Bytes: 1 << 40, Ratio: 2000}
	if _, err := open(t, a, gz(make([]byte, 8<<20))); err != nil {
		t.Errorf("a ratio below the limit: %v", err)
	}
	a.Limits = Limits{Files: 1}
	if _, err := open(t, a, zipped(t, "a.txt", "x", "b.txt", "y")); err == nil {
		t.Error("an entry too many was unpacked")
	}
}

// For any bytes, unpacking ends, writes nothing outside its folder and nothing
// beyond its limit.
func FuzzUnpack(f *testing.F) {
	t := &testing.T{}
	f.Add(zipped(t, "d/a.txt", "rows\n", "d/b", "x"))
	f.Add(gz([]byte("rows\n")))
	f.Add(gz(tarred(t, "rows\n", tar.Header{Name: "d/a.txt", Typeflag: tar.TypeReg})))
	f.Add(tarred(t, "rows\n", tar.Header{Name: "../a.txt", Typeflag: tar.TypeReg}, tar.Header{Name: "a.txt", Typeflag: tar.TypeSymlink, Linkname: "/"}))
	f.Fuzz(func(t *testing.T, b []byte) {
		a := Archive{URL: "https://a.b/x.zip", Files: []string{"d/a.txt", "d/b"}, Limits: Limits{Bytes: 1 << 16}}
		folder, _ := open(t, a, b)
		entries, err := os.ReadDir(folder)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			st, err := e.Info()
			if err != nil || !st.Mode().IsRegular() || st.Size() > 1<<16 || e.Name() != "a.txt" && e.Name() != "b" {
				t.Errorf("left %v, %v", st, err)
			}
		}
	})
}

func FuzzReceipt(f *testing.F) {
	f.Add([]byte(`{"version":1,"name":"a","time":"2026-01-02T03:04:05Z","terms":"","pinned_new":true,"archives":null,"files":[{"name":"x","bytes":1,"sha256":"` + sum(nil) + `"}]}`))
	f.Add([]byte(`{"version":1,"name":"a","files":[{"name":"../x","sha256":"00"}]}`))
	f.Add([]byte("<html>"))
	f.Fuzz(func(t *testing.T, b []byte) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "receipt.json"), b, 0o644); err != nil {
			t.Fatal(err)
		}
		r, err := readReceipt(dir)
		if err != nil {
			return
		}
		for _, f := range r.Files {
			if !filepath.IsLocal(f.Name) {
				t.Errorf("takes a file outside the folder: %q", f.Name)
			}
		}
		if err := r.write(dir); err != nil {
			t.Fatal(err)
		}
		if again, err := readReceipt(dir); err != nil || len(again.Files) != len(r.Files) {
			t.Errorf("does not read back: %v", err)
		}
	})
}
