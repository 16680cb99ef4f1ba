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

// An interruption in the middle of slates that are still being read ends with 130, and
// leaves neither output nor anything beside it. A pipe is refused where the slates would
// have to be read twice.
func TestInterruptedSlatesLeaveNothing(t *testing.T) {
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in.txt"), filepath.Join(dir, "out.tsv")
	if err := syscall.Mkfifo(in, 0o600); err != nil {
		t.Fatal(err)
	}
	var errs bytes.Buffer
	app := &App{Stdout: &bytes.Buffer{}, Stderr: &errs}
	if code := app.Execute(context.Background(), []string{"perturb", "exposure", "--in", in, "--out", out, "--ratio", "0.5"}); code != 2 || !strings.Contains(errs.String(), "--in is read twice") {
		t.Errorf("a pipe that is read twice: exit code %d: %s", code, errs.String())
	}
	for _, how := range [][]string{{"--ratio", "0.5"}, {"--replace", "rr", "--epsilon", "3"}} {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		errs.Reset()
		done := make(chan int)
		go func() {
			app := &App{Stdout: &bytes.Buffer{}, Stderr: &errs}
			done <- app.Execute(ctx, append([]string{"perturb", "exposure", "--quiet", "--in", in, "--out", out, "--items", "99"}, how...))
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
			t.Errorf("%v: exit code %d: %s", how, code, errs.String())
		}
		left, err := os.ReadDir(dir)
		if err != nil || len(left) != 1 {
			t.Errorf("%v: left %v (%v)", how, left, err)
		}
	}
}
