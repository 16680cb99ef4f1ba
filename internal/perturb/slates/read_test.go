package slates

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"privrec/internal/dataset"
	"privrec/internal/dataset/format"
	"privrec/internal/perturb"
	"privrec/internal/run"
)

// Rows of slates that stand apart are refused with a command that puts them together: its output is read.
func TestApart(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	rows := "position,user_id,slate_id,item_id\n1,u1,s1,a\n1,u2,s1,c\n2,u1,s1,b\n2,u2,s1,d\n2,u3,s9,k\n1,u3,s9,j\n"
	if err := os.WriteFile("my slates.csv", []byte(rows), 0o644); err != nil {
		t.Fatal(err)
	}
	read := func(path string) (n int, err error) {
		set := &perturb.Settings{In: path, InForm: format.CSV, Progress: run.Silent{}}
		r, err := Open(t.Context(), set, perturb.NewCatalogue(), 100)
		if err != nil {
			return 0, err
		}
		defer r.Close()
		for {
			if n == 0 {
				r.held = false // Open has read it
			} else if ok, err := r.Next(); !ok || err != nil {
				return n, err
			}
			n++
		}
	}
	_, err := read("my slates.csv")
	var fault *dataset.Error
	if !errors.As(err, &fault) {
		t.Fatal(err)
	}
	_, command, ok := strings.Cut(fault.Hint, "from 1: ")
	if !ok {
		t.Fatalf("no command in %q", fault.Hint)
	}
	if out, err := exec.Command("bash", "-c", command).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v: %s", command, err, out)
	}
	if n, err := read(filepath.Join(dir, "SORTED")); n != 3 || err != nil {
		t.Errorf("%d slates are read after %s, want 3: %v", n, command, err)
	}
}
