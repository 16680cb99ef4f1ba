package system

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var errBoom = errors.New("boom")

func TestWriteFileWholeOrNotAtAll(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	put := func(s string, err error) error {
		return WriteFile(path, func(w io.Writer) error { io.WriteString(w, s); return err })
	}
	if err := put("old", nil); err != nil {
		t.Fatal(err)
	}
	if err := put("half", errBoom); !errors.Is(err, errBoom) || !strings.HasPrefix(err.Error(), "write "+path) {
		t.Error(err)
	}
	if b, _ := os.ReadFile(path); string(b) != "old" {
		t.Errorf("file holds %q", b)
	}
	if e, _ := os.ReadDir(dir); len(e) != 1 {
		t.Errorf("left %v", e)
	}
	err := WriteFile(filepath.Join(dir, "no", "f"), func(io.Writer) error { return nil })
	if err == nil || strings.Contains(err.Error(), TempPrefix) {
		t.Errorf("missing directory: %v", err)
	}
	os.WriteFile(filepath.Join(dir, TempPrefix+"x-123"), nil, 0o644)
	if err := Sweep(dir, filepath.Join(dir, "absent")); err != nil {
		t.Error(err)
	}
	if e, _ := os.ReadDir(dir); len(e) != 1 {
		t.Errorf("after the sweep %v", e)
	}
}
