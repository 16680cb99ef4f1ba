package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"

	"privrec/internal/papers"
	"privrec/internal/run"
)

// TestReaderThatWentAway runs commands whose standard output is a pipe that was closed at
// its other end: they say nothing and end as a program that the closed pipe ended.
func TestReaderThatWentAway(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, line := range []string{
		"list", "version", "--help", "help train", "train dipsgnn --help", "train dipsgnn --defaults", "completion bash", "reproduce --no-run --quiet --profile smoke --out nowhere",
		"audit tables", "data stats standin-tiny --quiet", "perturb pricdsr --dry-run --items 20 --length 3",
		"account gaussian --sensitivity 1 --sigma 2 --steps 1 --delta 1e-6",
		"account sampled-gaussian --sampling-rate 0.01 --noise-multiplier 1 --steps 10 --delta 1e-6 --json",
	} {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		r.Close()
		var errs bytes.Buffer
		app := &App{Tasks: papers.All(), Stdout: w, Stderr: &errs}
		if code := app.Execute(context.Background(), strings.Fields(line)); code != exitReaderGone || errs.Len() > 0 {
			t.Errorf("privrec %s: exit code %d: %s", line, code, &errs)
		}
		w.Close()
	}
}

// broken fails every write.
type broken struct{ err error }

func (b broken) Write([]byte) (int, error) { return 0, b.err }

// A full disk is a failure that says so, and a pipe that breaks elsewhere is one too; an
// error beside the reader's going away is not lost.
func TestOnlyTheReaderOfStandardOutputMayGo(t *testing.T) {
	full := &App{Stdout: broken{syscall.ENOSPC}, Stderr: &bytes.Buffer{}}
	if code := full.Execute(context.Background(), []string{"version"}); code != exitFailed {
		t.Errorf("a full disk: exit code %d", code)
	}
	gone := &readerGone{syscall.EPIPE}
	for _, c := range []struct {
		err  error
		want bool
	}{
		{gone, true},
		{run.WithHint(fmt.Errorf("show the result: %w", gone), "kept"), true},
		{errors.Join(gone, nil), true},
		{errors.Join(gone, errors.New("cannot unlock")), false},
		{fmt.Errorf("write out.tsv: %w", syscall.EPIPE), false},
		{io.ErrClosedPipe, false},
		{nil, false},
	} {
		if got := wentAway(c.err); got != c.want {
			t.Errorf("%v: %v, want %v", c.err, got, c.want)
		}
	}
}
