package gerai

import (
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"privrec/internal/privacy"
	"privrec/internal/privacy/budget"
	"privrec/internal/run"
	"privrec/internal/run/runtest"
)

// The ratings of a run are in the clear, so that no budget covers it. It is refused before it makes a directory.
func TestRunsCannotSpend(t *testing.T) {
	file := filepath.Join(t.TempDir(), "budget.jsonl")
	if err := budget.Create(file, budget.Terms{Epsilon: 1e6, Delta: 1e-5, Unit: privacy.Interaction, Neighbouring: privacy.AddRemove, Data: "standin", Rule: budget.Sum}); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "run")
	_, err := runtest.Task(t, Tasks(), "gerai").Start(t.Context(), run.Options{Sets: []string{"data.name=standin-tiny", "data.recipe=gerai", "eval.candidates=0", "run.out=" + dir, "run.workers=1", "privacy.parent=" + file},
		Stdout: io.Discard, Log: slog.New(slog.DiscardHandler), Progress: run.Silent{}})
	var no *budget.Refusal
	if !errors.As(err, &no) || !strings.Contains(err.Error(), "interactions") {
		t.Error(err)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("the refused run left its directory")
	}
}
