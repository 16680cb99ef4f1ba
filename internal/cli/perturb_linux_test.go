package cli

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// An interruption in the middle of a file that is still being read ends with 130, and
// leaves neither output nor anything beside it.
func TestInterruptedPerturbLeavesNothing(t *testing.T) {
	for _, order := range []string{"--keep-order=true", "--keep-order=false"} {
		dir := t.TempDir()
		in, out := filepath.Join(dir, "in.txt"), filepath.Join(dir, "out.tsv")
		if err := syscall.Mkfifo(in, 0o600); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		var errs bytes.Buffer
		done := make(chan int)
		go func() {
			app := &App{Stdout: &bytes.Buffer{}, Stderr: &errs}
			done <- app.Execute(ctx, []string{"perturb", "pricdsr", "--quiet", "--in", in, "--out", out, "--epsilon", "5", "--items", "99", "--length", "9", order})
		}()
		w, err := os.OpenFile(in, os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		for u := range 20_000 {
			fmt.Fprintf(w, "%d 1 2 3\n", u)
		}
		for { // work has begun: there is something to leave behind
			if m, _ := filepath.Glob(filepath.Join(dir, ".tmp-perturb-*", "*")); len(m) > 0 {
				break
			}
			time.Sleep(time.Millisecond)
		}
		cancel()
		w.Close()
		if code := <-done; code != exitInterrupted || !strings.Contains(errs.String(), "error: interrupted\n") {
			t.Errorf("%s: exit code %d: %s", order, code, errs.String())
		}
		left, err := os.ReadDir(dir)
		if err != nil || len(left) != 1 {
			t.Errorf("%s: left %v (%v)", order, left, err)
		}
	}
}

// The first interruption ends a run whose input is a pipe that has nothing to say: one that
// a writer holds open, and one that no writer has opened.
func TestInterruptEndsAReadFromAPipe(t *testing.T) {
	for _, held := range []bool{true, false} {
		dir := t.TempDir()
		in := filepath.Join(dir, "in.txt")
		if err := syscall.Mkfifo(in, 0o600); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		var errs bytes.Buffer
		done := make(chan int)
		go func() {
			app := &App{Stdout: &bytes.Buffer{}, Stderr: &errs}
			done <- app.Execute(ctx, []string{"perturb", "pricdsr", "--quiet", "--in", in, "--out", filepath.Join(dir, "out.tsv"), "--epsilon", "5", "--items", "99", "--length", "9"})
		}()
		if held {
			w, err := os.OpenFile(in, os.O_WRONLY, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer w.Close()
			fmt.Fprintln(w, "1 1 2 3")
		}
		cancel()
		select {
		case code := <-done:
			if code != exitInterrupted || !strings.Contains(errs.String(), "error: interrupted\n") {
				t.Errorf("held %v: exit code %d: %s", held, code, errs.String())
			}
		case <-time.After(time.Minute):
			t.Fatalf("held %v: still reading", held)
		}
	}
}
