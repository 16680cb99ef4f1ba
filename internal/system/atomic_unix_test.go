//go:build unix

package system

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// What is at the path decides how it is written: a link stays, a pipe and a device are written to, a folder is refused.
func TestWriteFileIntoWhatIsThere(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0o022))
	hello := func(w io.Writer) error { _, err := io.WriteString(w, "hello"); return err }
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for link, to := range map[string]string{"link": "there", "dangling": "new", "twice": "link", "absolute": at("there")} {
		if err := os.Symlink(to, at(link)); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"link": "there", "dangling": "new", "twice": "there", "absolute": "there"} {
		if err := os.WriteFile(at("there"), []byte("old"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := WriteFile(at(link), hello); err != nil {
			t.Fatal(err)
		}
		info, err := os.Lstat(at(link))
		if err != nil || info.Mode()&fs.ModeSymlink == 0 {
			t.Errorf("%s: no link any more: %v, %v", link, info, err)
		}
		if b, err := os.ReadFile(at(to)); err != nil || string(b) != "hello" {
			t.Errorf("%s: the file that it names has %q, %v", link, b, err)
		}
	}
	if err := os.Symlink("round", at("round")); err != nil {
		t.Fatal(err)
	}
	if err := WriteFile(at("round"), hello); err == nil {
		t.Error("a link to itself was written")
	}
	if err := WriteFile(dir, hello); err == nil || !strings.Contains(err.Error(), "it is a folder") {
		t.Errorf("a folder: %v", err)
	}
	if err := syscall.Mkfifo(at("pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	got := make(chan string, 1)
	go func() {
		b, err := os.ReadFile(at("pipe"))
		got <- fmt.Sprint(string(b), err)
	}()
	if err := WriteFile(at("pipe"), hello); err != nil {
		t.Fatal(err)
	}
	if b := <-got; b != "hello<nil>" {
		t.Errorf("the pipe gave %s", b)
	}
	if info, err := os.Lstat(at("pipe")); err != nil || info.Mode()&fs.ModeNamedPipe == 0 {
		t.Errorf("no pipe any more: %v, %v", info, err)
	}
	for name, write := range map[string]func(string, func(io.Writer) error) error{"shown": WriteFile, "private": WritePrivate} {
		if err := write(at(name), hello); err != nil {
			t.Fatal(err)
		}
		want := map[string]fs.FileMode{"shown": 0o644, "private": 0o600}[name]
		if info, err := os.Stat(at(name)); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: mode %v, want %v (%v)", name, info.Mode(), want, err)
		}
	}
}
