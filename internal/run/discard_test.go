package run

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Discard removes the runs that carry the note and nothing else, and nothing at
// all when one of the directories must stay.
func TestDiscard(t *testing.T) {
	base := t.TempDir()
	at := func(name string) string { return filepath.Join(base, name) }
	start := func(name string, notes ...string) {
		t.Helper()
		o := quiet(new(bytes.Buffer), Options{Sets: []string{"run.out=" + at(name)}, Notes: notes})
		if _, err := toyTask(nil).Start(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	start("ours", "of the tour")
	start("busy", "of the tour")
	start("theirs")
	put(t, base, map[string]string{"notes/diary": "mine", "file": "mine", "remains/lock": "", "config/config.yaml": ""})
	l, err := acquire(at("busy"))
	if err != nil {
		t.Fatal(err)
	}
	before := tree(t, base)
	for _, name := range []string{"theirs", "notes", "file", "busy", "config"} {
		err := Discard("of the tour", at("ours"), at(name))
		var usage *UsageError
		if !errors.As(err, &usage) || usage.Hint() == "" {
			t.Errorf("%s: %v", name, err)
		}
		if diff := cmp.Diff(before, tree(t, base)); diff != "" {
			t.Errorf("%s: changed:\n%s", name, diff)
		}
	}
	if err := l.release(); err != nil {
		t.Fatal(err)
	}
	if err := Discard("of the tour", at("ours"), at("absent"), at("busy"), at("remains")); err != nil {
		t.Error(err)
	}
	for name, want := range map[string]bool{"ours": false, "busy": false, "remains": true, "theirs": true} {
		if _, err := os.Stat(at(name)); (err == nil) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestHold(t *testing.T) {
	base := t.TempDir()
	dir := filepath.Join(base, "a", "b")
	release, err := Hold(dir)
	if err != nil {
		t.Fatal(err)
	}
	var usage *UsageError
	if _, err := Hold(dir); !errors.As(err, &usage) {
		t.Errorf("held twice: %v", err)
	}
	if err := release(); err != nil {
		t.Error(err)
	}
	if e, _ := os.ReadDir(base); len(e) > 0 {
		t.Errorf("left %v", e)
	}
	put(t, dir, map[string]string{"lock": "yale"})
	if _, err := Hold(dir); !errors.As(err, &usage) {
		t.Errorf("the lock of another process: %v", err)
	}
}
