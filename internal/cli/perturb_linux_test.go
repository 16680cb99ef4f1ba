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

// perturbations are the commands that perturb a file as they read it, and need nothing
// but the file. The path of the file and of the output come in addition.
var perturbations = [][]string{
	{"pricdsr", "--epsilon", "5", "--items", "99", "--length", "9", "--keep-order"},
	{"pricdsr", "--epsilon", "5", "--items", "99", "--length", "9"},
	{"exposure", "--items", "99", "--ratio", "0.5"},
	{"exposure", "--items", "99", "--replace", "rr", "--epsilon", "3"},
}

// interruptible is a perturbation at work in this process that reads a pipe, of which no
// writer is open yet.
type interruptible struct {
	dir, in string
	cancel  context.CancelFunc
	code    chan int
	errs    bytes.Buffer // to be read after code
}

// startPerturbation starts one in a folder that holds the pipe alone.
func startPerturbation(t *testing.T, args []string) *interruptible {
	t.Helper()
	p := &interruptible{dir: t.TempDir(), code: make(chan int, 1)}
	p.in = filepath.Join(p.dir, "in.txt")
	if err := syscall.Mkfifo(p.in, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	p.cancel = cancel
	go func() {
		app := &App{Stdout: &bytes.Buffer{}, Stderr: &p.errs}
		p.code <- app.Execute(ctx, append([]string{"perturb", args[0], "--quiet", "--in", p.in, "--out", filepath.Join(p.dir, "out.tsv")}, args[1:]...))
	}()
	return p
}

// write opens the pipe for writing.
func (p *interruptible) write(t *testing.T) *os.File {
	t.Helper()
	w, err := os.OpenFile(p.in, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// ends waits for the end, which must be that of an interruption: 130, and neither output
// nor anything beside it.
func (p *interruptible) ends(t *testing.T) {
	t.Helper()
	if code := <-p.code; code != exitInterrupted || !strings.Contains(p.errs.String(), "error: interrupted\n") {
		t.Errorf("exit code %d: %s", code, p.errs.String())
	}
	if left, err := os.ReadDir(p.dir); err != nil || len(left) != 1 {
		t.Errorf("left %v (%v)", left, err)
	}
}

// An interruption in the middle of a file that is still being read.
func TestInterruptedPerturbLeavesNothing(t *testing.T) {
	for _, args := range perturbations {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			p := startPerturbation(t, args)
			defer p.cancel()
			w := p.write(t)
			for u := range 20_000 {
				fmt.Fprintf(w, "%d 1 2 3\n", u)
			}
			for { // work has begun: there is something to leave behind
				if m, _ := filepath.Glob(filepath.Join(p.dir, ".tmp-perturb-*", "*")); len(m) > 0 {
					break
				}
				time.Sleep(time.Millisecond)
			}
			p.cancel()
			w.Close()
			p.ends(t)
		})
	}
}

// The first interruption ends a run whose input is a pipe that has nothing to say: one that
// a writer holds open, and one that no writer has opened.
func TestInterruptEndsAReadFromAPipe(t *testing.T) {
	for _, args := range perturbations {
		for _, held := range []bool{true, false} {
			t.Run(fmt.Sprint(strings.Join(args, " "), ", held ", held), func(t *testing.T) {
				p := startPerturbation(t, args)
				defer p.cancel()
				if held {
					w := p.write(t)
					defer w.Close()
					fmt.Fprintln(w, "1 1 2 3")
				}
				p.cancel()
				p.ends(t)
			})
		}
	}
}

// A pipe is refused where the slates would have to be read twice.
func TestSlatesFromAPipeAreReadOnce(t *testing.T) {
	p := startPerturbation(t, []string{"exposure", "--ratio", "0.5"})
	defer p.cancel()
	if code := <-p.code; code != exitUsage || !strings.Contains(p.errs.String(), "--in is read twice") {
		t.Errorf("exit code %d: %s", code, p.errs.String())
	}
}
