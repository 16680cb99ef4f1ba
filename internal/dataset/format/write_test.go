package format_test

import (
	"bufio"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"privrec/internal/dataset"
	"privrec/internal/dataset/format"
	"privrec/internal/dataset/standin"
)

// tiny is rows and features of a small stand-in.
func tiny(t *testing.T) (*dataset.Log, *dataset.Features) {
	t.Helper()
	p, err := standin.Find("tiny")
	if err != nil {
		t.Fatal(err)
	}
	l, f, err := p.Generate(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	return l, f
}

func TestWriteFailsWhole(t *testing.T) {
	l, f := tiny(t)
	dir := t.TempDir()
	blocked := filepath.Join(dir, "file")
	os.WriteFile(blocked, nil, 0o600)
	var data *dataset.Error
	if _, err := format.WriteAtomic(filepath.Join(blocked, "x"), "a", l, f, "", false); err == nil || errors.As(err, &data) {
		t.Errorf("wrote below a file, or called it a fault of the data: %v", err)
	}
	// The final name is taken by a folder: the rename fails and no scrap stays.
	os.Mkdir(filepath.Join(dir, "a.inter"), 0o700)
	if _, err := format.WriteAtomic(dir, "a", l, f, "", false); err == nil || err.Error() != "write "+filepath.Join(dir, "a.inter")+": file exists" {
		t.Errorf("wrote over a folder, or named a scrap: %v", err)
	}
	left, _ := os.ReadDir(dir)
	if len(left) != 2 {
		t.Errorf("scraps left: %v", left)
	}
	if _, err := os.Stat("/dev/full"); err == nil {
		full := bufio.NewWriter(func() *os.File { f, _ := os.OpenFile("/dev/full", os.O_WRONLY, 0); return f }())
		format.WriteInter(full, l)
		if full.Flush() == nil {
			t.Error("a full disk went unnoticed")
		}
	}
}

// TestWriteKeepsWhatIsThere checks that no file of another program is replaced or deleted.
func TestWriteKeepsWhatIsThere(t *testing.T) {
	l, f := tiny(t)
	for _, ext := range []string{".standin", ".inter", ".user"} {
		dir := t.TempDir()
		path := filepath.Join(dir, "a"+ext)
		os.WriteFile(path, []byte("mine"), 0o600)
		_, err := format.WriteAtomic(dir, "a", l, f, "", false)
		var failed *format.WriteError
		if !errors.As(err, &failed) || failed.File != path || !strings.Contains(failed.Hint(), "--force") {
			t.Errorf("%s: error %v", ext, err)
		}
		left, _ := os.ReadDir(dir)
		if b, _ := os.ReadFile(path); string(b) != "mine" || len(left) != 1 {
			t.Errorf("%s: now %q beside %v", ext, b, left)
		}
		// Replacing takes the old set's users and card away too.
		real := *l
		real.StandIn = false
		if files, err := format.WriteAtomic(dir, "a", &real, nil, "", true); err != nil || len(files) != 1 {
			t.Errorf("%s: replaced by %v, %v", ext, files, err)
		}
		if left, _ := os.ReadDir(dir); len(left) != 1 || left[0].Name() != "a.inter" {
			t.Errorf("%s: left %v", ext, left)
		}
	}
	// A later error leaves what was there.
	dir := t.TempDir()
	os.WriteFile(filepath.Join(dir, "a.inter"), []byte("mine"), 0o600)
	os.Mkdir(filepath.Join(dir, "a.user"), 0o700)
	if _, err := format.WriteAtomic(dir, "a", l, f, "", true); err == nil {
		t.Error("replaced a folder")
	}
	if b, _ := os.ReadFile(filepath.Join(dir, "a.inter")); string(b) != "mine" {
		t.Errorf("the old file is now %q", b)
	}
}

func TestWriteRefusesLineEnds(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new")
	for _, id := range []string{"a\tb", "a\nb", "a\r"} {
		l, f := tiny(t)
		l.ItemIDs[3] = id
		if _, err := format.WriteAtomic(dir, "a", l, f, "", false); err == nil || !strings.Contains(err.Error(), "item") {
			t.Errorf("item %q: %v", id, err)
		}
		l, f = tiny(t)
		f.UserIDs[3] = id
		if _, err := format.WriteAtomic(dir, "a", l, f, "", false); err == nil || !strings.Contains(err.Error(), "user") {
			t.Errorf("user %q: %v", id, err)
		}
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("a folder was made for nothing")
	}
}
