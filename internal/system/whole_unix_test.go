//go:build unix

package system

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A file is looked at before it is read: a pipe that nobody writes to is not waited for, a sparse file of six
// gigabytes is not read, and each error says what is there.
func TestReadFile(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := os.WriteFile(at("good"), []byte("12345"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(at("pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(at("sparse"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(at("sparse"), 6<<30); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(at("good"), at("link")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"good", "link"} {
		if b, err := ReadFile(at(name), 5); err != nil || string(b) != "12345" {
			t.Errorf("%s: %q, %v", name, b, err)
		}
	}
	for path, want := range map[string]string{
		at("good"): "has 5 bytes, more than the 4 that are read", at("pipe"): "is a pipe, want a file", at("sparse"): "has 6442450944 bytes, more than",
		dir: "is a folder, want a file", os.DevNull: "is a device, want a file", at("none"): "no such file",
	} {
		b, err := ReadFile(path, 4)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) || b != nil {
			t.Errorf("%s: %q, %v, want %q", path, b, err, want)
		}
	}
	if _, err := ReadFile(at("none"), 4); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	if _, err := ReadFile(filepath.Join(at("good"), "below"), 4); !NotAFolder(err) {
		t.Errorf("below a file: %v", err)
	}
}

// A bounded reader gives what fits, in reads of any size, and fails where there is more.
func TestBounded(t *testing.T) {
	text := bytes.Repeat([]byte("abc"), 1000)
	for _, most := range []int64{0, 1, 2999, 3000, 5000} {
		b, err := io.ReadAll(Bounded(bytes.NewReader(text), most))
		if want := min(int(most), len(text)); !bytes.Equal(b, text[:want]) || (err != nil) != (most < 3000) {
			t.Errorf("%d: %d bytes, %v", most, len(b), err)
		}
	}
}
