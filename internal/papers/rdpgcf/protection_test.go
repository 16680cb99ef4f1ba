package rdpgcf

import (
	"math"
	"path/filepath"
	"strings"
	"testing"

	"privrec/internal/privacy"
	"privrec/internal/run"
)

// names are what an account leaves open.
func openOf(a Account) string {
	var what []string
	for _, o := range a.Unbounded {
		what = append(what, o.What)
	}
	return strings.Join(what, " ")
}

// TestAccountsOfRuns: what privacy.json says of whole runs, and that the ledger on file
// says the same.
func TestAccountsOfRuns(t *testing.T) {
	repaired := repairedSets()
	for _, c := range []struct {
		name, task string
		sets       []string
		open       string
		total      float64 // at most, and not much below
		components int
	}{
		{"repaired", "rdpgcf", repaired, "", 5, 3},
		{"edges apart", "rdpgcf", append([]string{"privacy.repaired.graph_share=0", "privacy.repaired.label_share=0.3", "privacy.repaired.count_share=0"}, repaired...), "", 5, 2},
		{"released graph alone", "edgerand", []string{"train.select=last", "train.patience=0"}, "", 8, 1},
		{"raw labels", "lapgraph", []string{"train.select=last", "train.patience=0", "perturb.labels=raw"}, "labels negatives", math.Inf(1), 2},
		{"fixed noise", "rdpgcf", []string{"privacy.accounting=fixed", "privacy.sigma=0.7", "release.kinds=[noisy]"}, "labels backward layer_0 degrees negatives selection mask", math.Inf(1), 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "run")
			start(t, task(t, c.task), dir, c.sets...)
			a := readJSON[Account](t, dir, "privacy.json")
			if got := openOf(a); got != c.open {
				t.Errorf("open is %q, want %q", got, c.open)
			}
			if got := float64(a.Total); got > c.total*(1+1e-12) || got < 0.99*c.total {
				t.Errorf("the total is %v, want at most %v and close", got, c.total)
			}
			if finite := !math.IsInf(c.total, 1); finite != (len(a.Public) > 0) {
				t.Errorf("a total of %v takes as public %q", a.Total, a.Public)
			}
			if len(a.Components) != c.components {
				t.Errorf("components are %+v, want %d", a.Components, c.components)
			}
			if c.name == "fixed noise" && (a.Claimed != nil || a.Sigma != 0.7) {
				t.Errorf("claimed %+v at sigma %v, want nothing at 0.7", a.Claimed, a.Sigma)
			}
			entries, err := filepath.Glob(filepath.Join(dir, "*ledger*"))
			if err != nil || len(entries) != 1 {
				t.Fatalf("ledgers %v (%v)", entries, err)
			}
			l, err := privacy.Reading{}.File(entries[0])
			if err != nil {
				t.Fatal(err)
			}
			if n := len(l.Entries()); n < c.components {
				t.Errorf("the ledger on file has %d entries", n)
			}
			if c.name == "repaired" || c.name == "fixed noise" {
				if err := a.Agree(l); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// TestUnreachableEpsilon: an epsilon that no noise reaches ends before training, with
// the key to change.
func TestUnreachableEpsilon(t *testing.T) {
	err := try(t.Context(), task(t, "rdpgcf"), filepath.Join(t.TempDir(), "run"), []string{"privacy.accounting=none", "privacy.delta=1e-300", "privacy.epsilon=1e-300"}, run.Options{})
	if err == nil || !strings.Contains(err.Error(), "privacy.epsilon") {
		t.Errorf("the error is %v", err)
	}
}

// TestNoiseOfSettings: the standard deviation of the noise is the multiplier times the
// sensitivity of the normaliser; an infinite epsilon adds none.
func TestNoiseOfSettings(t *testing.T) {
	sigma := func(change func(c *Config)) float64 {
		c := Default()
		change(&c)
		cal, err := c.Calibration(800_167)
		if err != nil {
			t.Fatal(err)
		}
		s, err := c.sigma(cal)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	paper := sigma(func(*Config) {})
	within(t, "the paper's sigma", paper, 2.376, half)
	within(t, "under a clamp of 10", sigma(func(c *Config) { c.Model.Norm = "sym-clamp:10" }), 0.1419*paper, half)
	within(t, "under a right clamp of 50", sigma(func(c *Config) { c.Model.Norm = "right-clamp:50" }), paper/math.Sqrt(50), 1e-9)
	within(t, "of sums", sigma(func(c *Config) { c.Model.Norm = "sum" }), paper, 1e-9)
	within(t, "given", sigma(func(c *Config) { c.Privacy.Accounting, c.Privacy.Sigma = AccountingFixed, 0.25 }), 0.25, 0)
	c := Default()
	c.Privacy.Epsilon = math.Inf(1)
	if c.Privacy.noisy() {
		t.Error("an infinite epsilon is noisy")
	}
	if c.Privacy.Accounting, c.Privacy.Sigma = AccountingFixed, 1; !c.Privacy.noisy() {
		t.Error("a given sigma is not noisy")
	}
}
