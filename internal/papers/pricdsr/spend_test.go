package pricdsr

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"privrec/internal/privacy"
	"privrec/internal/privacy/budget"
	"privrec/internal/run"
)

// Releases of files are charged to a budget, at what a whole row costs, before they are made. One that would
// overdraw it writes nothing, and one that fails before it records anything gives back what it reserved.
func TestPerturbSpends(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "budget.jsonl")
	o := options()
	o.In, o.Parent = write(t, dir, "in.tsv", table(someHistories(20, 60, 9, 1))), file
	each := o.Epsilon * float64(o.Length)
	terms := budget.Terms{Epsilon: 2.5 * each, Delta: 1e-9, Unit: privacy.User, Neighbouring: privacy.Replace, Data: "in.tsv", Rule: budget.Sum}
	o.Out = filepath.Join(dir, "none.tsv")
	if _, err := Perturb(t.Context(), o); err == nil || !strings.Contains(err.Error(), "--parent") {
		t.Errorf("without a budget: %v", err)
	}
	if err := budget.Create(file, terms); err != nil {
		t.Fatal(err)
	}
	for k, name := range []string{"a.tsv", "b.tsv"} {
		if o.Out = filepath.Join(dir, name); k == 1 {
			o.Purpose = "again"
		}
		if _, err := Perturb(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	o.Out = filepath.Join(dir, "c.tsv")
	var no *budget.Refusal
	if _, err := Perturb(t.Context(), o); !errors.As(err, &no) || !strings.Contains(err.Error(), "would spend epsilon") {
		t.Errorf("a third release: %v", err)
	}
	if left, err := filepath.Glob(filepath.Join(dir, "c.*")); err != nil || len(left) > 0 {
		t.Errorf("the refused release left %v, %v", left, err)
	}
	b, err := budget.Read(file)
	if err != nil {
		t.Fatal(err)
	}
	if len(b.Reservations) != 2 {
		t.Fatalf("%+v", b.Reservations)
	}
	for _, r := range b.Reservations {
		if r.State != budget.Done || r.Held.Epsilon != each || r.Task != "perturb pricdsr" {
			t.Errorf("%+v, want epsilon %v", r, each)
		}
	}
	other := o
	other.In, other.Epsilon = write(t, dir, "other.tsv", table(someHistories(20, 60, 9, 2))), o.Epsilon/10
	if _, err := Perturb(t.Context(), other); !errors.As(err, &no) || !strings.Contains(err.Error(), "is for") {
		t.Errorf("another file: %v", err)
	}
}

// The target rows of a run are in the clear, so that no budget covers it. It is refused before it makes a directory.
func TestRunsCannotSpend(t *testing.T) {
	file := filepath.Join(t.TempDir(), "budget.jsonl")
	if err := budget.Create(file, budget.Terms{Epsilon: 1e6, Delta: 1e-5, Unit: privacy.User, Neighbouring: privacy.Replace, Data: "standin-cross", Rule: budget.Sum}); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "run")
	var no *budget.Refusal
	if err := try(t.Context(), t, "pricdsr", dir, []string{"privacy.parent=" + file}, run.Options{}); !errors.As(err, &no) || !strings.Contains(err.Error(), "target rows") {
		t.Error(err)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("the refused run left its directory")
	}
}
