package run

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"privrec/internal/privacy"
	"privrec/internal/privacy/budget"
)

// spender is a configuration that spends from a budget.
type spender struct {
	Parent string `yaml:"parent,omitempty"`
}

func (c spender) SpendsFrom() string { return c.Parent }

// spent is the epsilon that is held of a budget.
func spent(t *testing.T, path string) float64 {
	t.Helper()
	b, err := budget.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	held, _, err := b.Spent()
	if err != nil {
		t.Fatal(err)
	}
	return held
}

// What a run may spend, and what it keeps, by what it declares and how it ends.
func TestSpending(t *testing.T) {
	about := privacy.Subject{Unit: privacy.User, Neighbouring: privacy.AddRemove}
	event := privacy.Gaussian{Sigma: 10, Sensitivity: 1, Unit: about.Unit, Neighbouring: about.Neighbouring}
	plan := &privacy.Plan{Budget: privacy.Budget{Epsilon: 0.5, Delta: 1e-6}, Subject: about, Releases: []privacy.Entry{{Purpose: "sum", Count: 1, Event: event}}}
	for name, c := range map[string]struct {
		declares privacy.Declaration
		releases int64
		fails    bool // after that
		refused  string
		spent    float64
	}{
		"done":                       {privacy.Declaration{Plan: plan}, 1, false, "", 0.5},
		"failed after a release":     {privacy.Declaration{Plan: plan}, 1, true, "boom", 0.5},
		"failed before any release":  {privacy.Declaration{Plan: plan}, 0, true, "boom", 0},
		"more than it said":          {privacy.Declaration{Plan: plan}, 2, false, "not in what the run reserved", 0},
		"an infinite account":        {privacy.Declaration{WithoutNoise: []privacy.Unprotected{toySum}}, 0, false, "sum (a toy)", 0},
		"nothing said about the run": {privacy.Declaration{}, 0, false, "cannot say beforehand", 0},
	} {
		file, dir := filepath.Join(t.TempDir(), "b.jsonl"), filepath.Join(t.TempDir(), "run")
		if err := budget.Create(file, budget.Terms{Epsilon: 1, Delta: 1e-5, Unit: about.Unit, Neighbouring: about.Neighbouring, Rule: budget.Sum}); err != nil {
			t.Fatal(err)
		}
		task := Task{Verb: "train", Name: "spending", Action: Bind(func() spender { return spender{} }, nil, func(ctx context.Context, env *Env, _ spender) error {
			if err := env.RecordData("d", "abc"); err != nil {
				return err
			}
			l, err := env.Ledger(privacy.Research, c.declares)
			if err != nil {
				return err
			}
			if held := spent(t, file); held != 0.5 {
				t.Errorf("%s: %v is held before the first release, want 0.5", name, held)
			}
			if c.releases > 0 {
				if err := l.Record("sum", event, c.releases); err != nil {
					return err
				}
			}
			if c.fails {
				return errBoom
			}
			return nil
		})}
		_, err := task.Start(t.Context(), quiet(new(bytes.Buffer), Options{Sets: []string{"run.out=" + dir, "parent=" + file}}))
		if c.refused == "" && err != nil || c.refused != "" && (err == nil || !strings.Contains(err.Error(), c.refused)) {
			t.Errorf("%s: %v", name, err)
		}
		var no *budget.Refusal
		if early := c.declares.Plan == nil; errors.As(err, &no) != early {
			t.Errorf("%s: %v, want a refusal: %v", name, err, early)
		}
		if got := spent(t, file); got != c.spent {
			t.Errorf("%s: %v is held, want %v", name, got, c.spent)
		}
		if _, err := os.Stat(dir); c.refused != "" && !os.IsNotExist(err) {
			t.Errorf("%s: its directory is left, %v", name, err)
		}
	}
}
