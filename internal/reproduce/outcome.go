package reproduce

import (
	"fmt"
	"path/filepath"

	"privrec/internal/dataset"
	"privrec/internal/reproduce/results"
	"privrec/internal/reproduce/roster"
	"privrec/internal/run"
)

// Outcome is a table, as far as it could be made.
type Outcome struct {
	*results.Table
	Runs  []roster.Run
	Files []string // that were written

	shard run.Shard // whose runs these are; zero: all
	hint  string    // how to get the missing data
}

// Err says what is missing from the table. It is nil where nothing is missing that could be
// made here. Where no run has its data it is an error of the data; where only some lack
// them, Lacking says so.
func (o *Outcome) Err() error {
	n := map[roster.Status]int{}
	for i := range o.Runs {
		if r := &o.Runs[i]; r.In(o.shard) {
			n[r.Status]++
		}
	}
	total, where := len(o.Runs), ""
	if len(o.Files) > 0 {
		where = "; the table says which: " + o.Files[0]
	}
	switch open := n[roster.ToDo] + n[roster.Resumable] + n[roster.Elsewhere]; {
	case n[roster.Failed] > 0:
		return fmt.Errorf("%s: %d of %d runs failed%s", o.Name, n[roster.Failed], total, where)
	case open > 0:
		return run.WithHint(fmt.Errorf("%s: %d of %d runs are not finished%s", o.Name, open, total, where),
			"the same command goes on from there")
	case total > 0 && n[roster.NoData] == total:
		return &dataset.Error{File: o.Name, Msg: o.Lacking(), Hint: o.hint + "; --profile smoke needs no data"}
	}
	return nil
}

// Lacking says how many runs lack their data. It is empty where none does.
func (o *Outcome) Lacking() string {
	n := 0
	for _, r := range o.Runs {
		if r.Status == roster.NoData {
			n++
		}
	}
	if n == 0 {
		return ""
	}
	text := fmt.Sprintf("%d of %d runs lack their data", n, len(o.Runs))
	if len(o.Files) > 0 {
		text += "; the table says which: " + o.Files[0]
	}
	return text
}

// Finished counts the finished runs of a table.
func (o *Outcome) Finished() (n int) {
	for _, r := range o.Runs {
		if r.Status == roster.Done {
			n++
		}
	}
	return n
}

// Write writes the files of a table to out/tables.
func (o *Outcome) Write(out string) (err error) {
	runs := make([]*roster.Run, len(o.Runs))
	for i := range runs {
		runs[i] = &o.Runs[i]
	}
	o.Files, err = o.Table.Save(filepath.Join(out, "tables"), runs)
	return err
}
