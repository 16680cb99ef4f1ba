package stream

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"privrec/internal/rng"
	"privrec/internal/system"
)

// victim names the environment of a process that works on a stream until it is killed.
const victim = "PRIVREC_TEST_STREAM"

// TestMain is also the process that tests kill.
func TestMain(m *testing.M) {
	dir := os.Getenv(victim)
	if dir == "" {
		os.Exit(m.Run())
	}
	if err := work(dir, os.Getenv(victim+"_ROWS")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// work brings a stream to its end, from wherever it is: a file for each step, then its release. The files lie in a
// folder by the number of the step.
func work(dir, rows string) error {
	for {
		f, err := Open(context.Background(), dir, false)
		if err != nil {
			return err
		}
		switch n := len(f.now.Files); {
		case f.now.Step == f.Horizon:
			return f.Close()
		case n > f.now.Step:
			_, err = f.Release()
		default:
			_, err = f.Add(context.Background(), filepath.Join(rows, fmt.Sprint(n+1, ".csv")), dayOf(n), false)
		}
		if err != nil {
			return err
		}
		if err := f.Close(); err != nil {
			return err
		}
	}
}

// feed writes the file of every step into a folder.
func feed(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	for step, rows := range files {
		if err := os.Rename(rowsFile(t, rows), filepath.Join(dir, fmt.Sprint(step+1, ".csv"))); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// names returns the names of a stream's files, as a process beside it sees them, with what tells two files of a name
// apart.
func names(dir string) string {
	var all strings.Builder
	for _, folder := range []string{dir, filepath.Join(dir, releasedFolder)} {
		entries, err := os.ReadDir(folder)
		if err != nil {
			continue
		}
		for _, e := range entries {
			if info, err := e.Info(); err == nil {
				fmt.Fprintln(&all, e.Name(), info.ModTime().UnixNano(), info.Size())
			}
		}
	}
	return all.String()
}

// keeps fails if something that was released changed, and returns all that is released.
func keeps(t *testing.T, dir string, seen map[string]string) map[string]string {
	t.Helper()
	now := map[string]string{}
	for name, text := range contents(t, dir) {
		if strings.HasPrefix(name, releasedFolder+"/") && !system.Unfinished(filepath.Base(name)) {
			now[name] = text
		}
	}
	for name, text := range seen {
		if now[name] != text {
			t.Fatalf("%s changed after it was seen", name)
		}
	}
	return now
}

// A stream whose commands are killed again and again, each after a drawn number of changes to its files, goes on,
// never changes what it released, lists all of it, and ends with the bytes of one that was not killed. Secure noise is
// not the same again: there the rest holds.
func TestKilled(t *testing.T) {
	rows := feed(t)
	draw := rng.Seed(1).Stream("kills")
	streams(t, func(t *testing.T, s Settings, seed uint64) {
		made := create(t, s, seed)
		begin := func() string {
			dir := copied(t, made)
			if err := open(t, dir, true).Close(); err != nil {
				t.Fatal(err)
			}
			return dir
		}
		whole := begin()
		if err := work(whole, rows); err != nil {
			t.Fatal(err)
		}
		want := contents(t, whole)
		delete(want, aboutName)
		kills, least := 0, 17 // of each of the three streams
		if testing.Short() {
			least = 5
		}
		for kills < least {
			dir, seen := begin(), map[string]string{}
			for done := false; !done; {
				changes := draw.IntN(5)
				c := exec.Command(os.Args[0])
				c.Env = append(os.Environ(), victim+"="+dir, victim+"_ROWS="+rows)
				var said strings.Builder
				c.Stderr = &said
				before := names(dir)
				if err := c.Start(); err != nil {
					t.Fatal(err)
				}
				ended := make(chan error, 1)
				go func() { ended <- c.Wait() }()
				var err error
				for killed := false; !killed; {
					select {
					case err = <-ended:
						killed = true
					default:
						if now := names(dir); now != before {
							before = now
							changes--
						}
						if changes <= 0 {
							c.Process.Kill() // it may have ended by itself
							err, killed = <-ended, true
						}
					}
				}
				if done = err == nil; said.Len() > 0 {
					t.Fatalf("%v: %s", err, said.String())
				}
				if !done {
					kills++
				}
				seen = keeps(t, dir, seen)
				if err := on(t, dir, func(f *Folder) error { return nil }); err != nil { // heals; the ledger lists all
					t.Fatal(err)
				}
				seen = keeps(t, dir, seen)
				if got := contents(t, dir); len(got) != len(seen)+4 {
					t.Fatalf("beside the files of a stream: %v", slices.Sorted(maps.Keys(got)))
				}
			}
			got := contents(t, dir)
			delete(got, aboutName)
			if len(seen) != len(files) || !s.Secure && !maps.Equal(got, want) {
				t.Fatalf("%d releases, and other bytes than those of a stream that was not killed", len(seen))
			}
		}
	})
}

// A command that stops between two of its writes has happened or has not: between the state and the release, with half
// a file beside them, or where the release cannot be written.
func TestStoppedBetweenWrites(t *testing.T) {
	streams(t, func(t *testing.T, s Settings, seed uint64) {
		dir := create(t, s, seed)
		if err := on(t, dir, func(f *Folder) error {
			_, err := f.Add(t.Context(), rowsFile(t, files[0]), "", false)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		added := copied(t, dir)
		path := filepath.Join(dir, releasedFolder, "00001.safetensors")
		if err := os.MkdirAll(path, 0o700); err != nil { // where the release is to be written
			t.Fatal(err)
		}
		release := func(f *Folder) error { _, err := f.Release(); return err }
		if err := on(t, dir, release); err == nil || !strings.Contains(err.Error(), "it is a folder") {
			t.Fatal(err)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"/.tmp-state.safetensors-70001", "/released/.tmp-00001.safetensors-70000"} {
			if err := os.WriteFile(dir+name, []byte("half"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		var was map[string]string
		for range 2 {
			if err := on(t, dir, func(f *Folder) error { return nil }); err != nil {
				t.Fatal(err)
			}
			now := contents(t, dir)
			if was != nil && !maps.Equal(now, was) || now["released/00001.safetensors"] == "" {
				t.Error("the release is not written, or again")
			}
			for name := range now {
				if system.Unfinished(filepath.Base(name)) {
					t.Errorf("%s is still there", name)
				}
			}
			was = now
		}
		// the state was not written: the same release is drawn again, but for secure noise, of which nothing was shown
		if err := open(t, added, true).Close(); err != nil {
			t.Fatal(err)
		}
		if err := on(t, added, release); err != nil {
			t.Fatal(err)
		}
		const name = "released/00001.safetensors"
		if same := contents(t, added)[name] == was[name]; same == s.Secure {
			t.Errorf("the release again is equal: %v", same)
		}
		if err := os.Remove(filepath.Join(dir, aboutName)); err != nil {
			t.Fatal(err)
		}
		refuses(t, "is not the folder of a stream", func() error { // as one whose making was stopped
			_, err := Open(t.Context(), dir, false)
			return err
		})
	})
}
