package matrix

import (
	"fmt"
	"math"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"privrec/internal/record"
	"privrec/internal/reproduce/roster"
	"privrec/internal/run"
)

var notInNames = regexp.MustCompile(`[^a-z0-9]+`)

// Record puts a record for every row into a file of records: the model's metric and its highest
// floor in percent, epsilons where they are finite, and what each attack finds beyond its best
// floor, in points, with the ends of the interval. The name of a record is data, model and
// defence in small letters. A matrix that lacks runs is refused: its record would outlive it.
func (x *Made) Record(f *record.File, command string) error {
	if x.Err != nil {
		return fmt.Errorf("record the matrix: runs are missing: %w", x.Err)
	}
	for i, m := range x.Models {
		r, err := x.measured(m.Runs, x.Cells[i], command)
		if err != nil {
			return fmt.Errorf("record the matrix: %s: %w", m.Model, err)
		}
		put := func(name string, v *float64, scale float64) {
			if v != nil && !math.IsInf(*v, 0) {
				r.Values[name] = math.Round(scale**v*1e5) / 1e5
			}
		}
		put("utility", m.Utility, 100)
		put("utility floor", m.Floor, 100)
		put("epsilon", (*float64)(m.Epsilon), 1)
		put("claimed", (*float64)(m.Claimed), 1)
		for _, c := range x.Cells[i] {
			put(c.Attack, c.Gain, 100)
			put(c.Attack+" low", c.Low, 100)
			put(c.Attack+" high", c.High, 100)
		}
		if len(r.Values) > 0 {
			f.Put(record.Record{Name: recordName(m), Measured: r})
		}
	}
	return nil
}

// recordName names the record of a row.
func recordName(m Model) string {
	words := m.Data + " " + m.Model
	if m.Defence != None {
		words += " " + m.Defence
	}
	return strings.Trim(notInNames.ReplaceAllString(strings.ToLower(words), "-"), "-")
}

// measured begins a record with the program, machine and last day of the runs behind a row.
func (x *Made) measured(trainings []string, cells []Cell, command string) (*record.Measured, error) {
	r := &record.Measured{Command: command, Values: map[string]float64{}}
	names := trainings
	for _, c := range cells {
		names = append(names[:len(names):len(names)], c.Runs...)
	}
	var last time.Time
	for _, name := range names {
		dir := x.dir(name)
		if dir == "" {
			continue // a finished run of elsewhere; its attacks are here
		}
		m, err := run.ReadManifest(dir)
		if err != nil {
			return nil, err
		}
		if n := len(m.Attempts); n > 0 && m.Attempts[n-1].Started.After(last) {
			at := m.Attempts[n-1]
			last = at.Started
			r.Commit, r.Build, r.Machine, r.Date = at.Build.Commit, record.Build(at.Build), record.Machine(at.Machine),
				last.UTC().Format(time.DateOnly)
		}
	}
	return r, nil
}

// dir finds the directory of a run by its base name, empty where the run is not of this matrix.
func (x *Made) dir(name string) string {
	for _, r := range x.Runs {
		if filepath.Base(r.Dir) == name && r.Status == roster.Done {
			return r.Dir
		}
	}
	return ""
}
