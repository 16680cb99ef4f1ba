package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"privrec/internal/config"
	"privrec/internal/dataset"
	"privrec/internal/privacy/mechanism"
	"privrec/internal/run"
	"privrec/internal/train"
)

func TestExitCodes(t *testing.T) {
	for _, c := range []struct {
		err  error
		want int
	}{
		{nil, 0},
		{errors.New("x"), 1},
		{usagef("", "x"), 2},
		{&run.UsageError{Message: "x"}, 2},
		{config.Errors{{Message: "x"}}, 2},
		{&config.Error{Message: "x"}, 2},
		{errors.Join(&config.Error{Message: "x"}, errors.New("y")), 2},
		{&dataset.Error{Msg: "x"}, 3},
		{fmt.Errorf("load: %w", &dataset.Error{Msg: "x"}), 3},
		{fmt.Errorf("step 3: %w", &mechanism.CheckError{}), 4},
		{run.ErrInterrupted, 130},
		{fmt.Errorf("%w, %w: the disk is full", train.ErrInterrupted, train.ErrNotSaved), 1},
		{run.WithHint(fmt.Errorf("epoch 2: %w", train.ErrInterrupted), "h"), 130},
		{context.Canceled, 130},
	} {
		if got := exitCode(c.err); got != c.want {
			t.Errorf("%v: exit code %d, want %d", c.err, got, c.want)
		}
	}
}

func TestComplain(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{
		{errors.New("a\nb\n"), "error: a\nalso: b\n"},
		{usagef("do it", "bad"), "error: bad\nhint: do it\n"},
		{fmt.Errorf("w: %w", &dataset.Error{File: "f", Line: 3, Msg: "bad", Hint: "fix"}), "error: w: f:3: bad\nhint: fix\n"},
		{fmt.Errorf("%w, %w: disk", train.ErrInterrupted, train.ErrNotSaved), "error: training interrupted, not saved: disk\n"},
		{run.WithHint(fmt.Errorf("deep: %w", context.Canceled), "again"), "error: interrupted\nhint: again\n"},
	} {
		var b bytes.Buffer
		if complain(&b, c.err); b.String() != c.want {
			t.Errorf("%v: %q, want %q", c.err, &b, c.want)
		}
	}
}

// Without a terminal progress is plain lines: phases, ends, and a sign of life
// every ten seconds.
func TestLines(t *testing.T) {
	var b bytes.Buffer
	r, ok := newReporter(&b, false).(*lines)
	if !ok {
		t.Fatal("a buffer is taken for a terminal")
	}
	clock := time.Unix(0, 0)
	r.now = func() time.Time { return clock }
	r.Phase("load")
	r.Begin("epoch 1", 200)
	for range 200 {
		clock = clock.Add(100 * time.Millisecond)
		r.Add(1)
	}
	r.End("epoch 1 loss 2.5")
	newLogger(r, false).Info("hello", "a", 1)
	want := "load\nepoch 1: 100 of 200 (50 %), about 10s left\nepoch 1: 200 of 200 (100 %)\nepoch 1 loss 2.5\nlevel=INFO msg=hello a=1\n"
	if b.String() != want {
		t.Errorf("got %q\nwant %q", &b, want)
	}
}

func TestQuiet(t *testing.T) {
	var b bytes.Buffer
	r := newReporter(&b, true)
	r.Phase("load")
	r.Begin("epoch", 2)
	r.Add(1)
	r.End("done")
	newLogger(r, true).Info("hello")
	if b.Len() > 0 {
		t.Errorf("quiet wrote %q", &b)
	}
	newLogger(r, true).Warn("look")
	if b.String() != "level=WARN msg=look\n" {
		t.Errorf("a warning shows as %q", &b)
	}
}

// On a terminal the bar is cleared before any other line.
func TestBar(t *testing.T) {
	var b bytes.Buffer
	r := &bar{w: &b}
	r.Add(1) // before any stretch: nothing to add to
	r.Phase("load")
	r.Begin("epoch 1", 10)
	r.Add(5)
	fmt.Fprintln(r, "a log line")
	r.Add(5)
	r.End("epoch 1 done")
	s := b.String()
	if !strings.HasPrefix(s, "load\n") || !strings.HasSuffix(s, "\repoch 1 done\n") || !strings.Contains(s, "\ra log line\n") || !strings.Contains(s, "epoch 1 ") {
		t.Errorf("%q", s)
	}
}

func TestShellQuote(t *testing.T) {
	for in, want := range map[string]string{"a-b_c./=1": "a-b_c./=1", "": "''", "a b": "'a b'", "it's": `'it'\''s'`, "tags=[a]": "'tags=[a]'"} {
		if got := shellQuote(in); got != want {
			t.Errorf("%q: %s, want %s", in, got, want)
		}
	}
}

// TestResumeLineKeepsSeed checks that --seed 1 is repeated where it was given, and only there.
func TestResumeLineKeepsSeed(t *testing.T) {
	for _, x := range []struct{ given, want string }{
		{"", "privrec train x --set run.seed=7 --out d --resume"},
		{"1", "privrec train x --set run.seed=7 --seed 1 --out d --resume"},
		{"9", "privrec train x --set run.seed=7 --seed 9 --out d --resume"},
	} {
		f := taskFlags{sets: []string{"run.seed=7"}}
		var c cobra.Command
		c.Flags().Uint64Var(&f.seed, "seed", 1, "")
		if x.given != "" {
			if err := c.Flags().Set("seed", x.given); err != nil {
				t.Fatal(err)
			}
		}
		if got := resumeLine(&c, run.Task{Verb: "train", Name: "x"}, f, "d"); got != x.want {
			t.Errorf("--seed %q: %s", x.given, got)
		}
	}
}
