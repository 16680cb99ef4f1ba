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
	risks, err := calculator.Risks(f.dir)
	if err != nil {
		why := strings.ReplaceAll(err.Error(), f.dir+string(filepath.Separator), "")
		return []report.Part{report.Prose{"What an attacker reaches is not known: " + why + "."}}
	}
	t := &report.Table{Name: "risk", Title: "Members that an attacker finds at most", Columns: report.Columns("%.4g",
		"of one", "at 0.1 % false alarms", "at 1 %", "at 10 %", "advantage", "of")}
	var said report.Steps
	for _, r := range risks {
		of := "all of the run"
		if r.Alone {
			of = "the noise alone"
		}
		row := []any{string(r.Unit) + ", " + string(r.Neighbouring)}
		for _, one := range r.Rates {
			row = append(row, one.TPR)
		}
		t.Add(append(row, r.Advantage, of)...)
		said = append(said, string(r.Unit)+": "+r.Statement())
	}
	if len(t.Rows) == 0 {
		return nil
	}
	t.Notes = []string{"upper bounds from the trade-off curve of the ledger; of the noise alone: what the run shows " +
		"without noise tells more, without bound"}
	return []report.Part{t, said}
}
