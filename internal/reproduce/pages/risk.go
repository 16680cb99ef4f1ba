package pages

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"privrec/internal/calculator"
	"privrec/internal/report"
	"privrec/internal/run"
)

// risk says what an attacker reaches at most by what the run released, for every unit that its
// ledger is about. A run without a ledger has no such part.
func (f *finished) risk() []report.Part {
	if _, err := os.Stat(filepath.Join(f.dir, run.LedgerName)); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	q := calculator.AskLedger()
	answer, err := q.Risks(f.dir)
	if err != nil {
		why := strings.ReplaceAll(err.Error(), f.dir+string(filepath.Separator), "")
		return []report.Part{report.Prose{"What an attacker reaches is not known: " + why + "."}}
	}
	t := &report.Table{Name: "risk", Title: "Members that an attacker finds at most", Columns: report.Columns("%.4g",
		"of one", "at 0.1 % false alarms", "at 1 %", "at 10 %", "advantage", "of")}
	var said report.Steps
	for _, g := range answer {
		if g.Risk == nil {
			continue
		}
		of := "all of the run"
		if g.Protected != nil {
			of = "the noise alone"
		}
		row := []any{string(g.Unit) + ", " + string(g.Neighbouring)}
		for _, r := range g.Risk.Rates {
			row = append(row, r.TPR)
		}
		t.Add(append(row, g.Risk.Advantage, of)...)
		said = append(said, string(g.Unit)+": "+g.Risk.Statement())
	}
	if len(t.Rows) == 0 {
		return nil
	}
	t.Notes = []string{"upper bounds from the trade-off curve of the ledger; of the noise alone: what the run shows " +
		"without noise tells more, without bound"}
	return []report.Part{t, said}
}
