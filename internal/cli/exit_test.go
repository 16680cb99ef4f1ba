package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"

	"privrec/internal/config"
	"privrec/internal/dataset"
	"privrec/internal/privacy/audit"
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
		{fmt.Errorf("audit: %w", &audit.Contradiction{}), 4},
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
