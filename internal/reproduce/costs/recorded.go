package costs

import (
	"bytes"
	_ "embed"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"strconv"
	"sync"

	"privrec/internal/reproduce/grid"
	"privrec/internal/reproduce/roster"
)

// costs is the table of recorded costs: what finished runs took, and for long ones what a few
// measured steps of them say, at the speed of the fastest step.
//
//go:embed costs.csv
var costs []byte

// costRecord is one line of that table.
type costRecord struct {
	key, task, data string
	standIn         bool // the data are generated
	epochs          int
	Cost
}

// Table is the table of recorded costs, and the speed of the machine that made it.
type Table struct {
	Speed   float64 // of speed
	records []costRecord
}

// Columns heads the table.
var Columns = []string{"key", "task", "data", "epochs", "seconds", "memory_mb", "disk_kb"}

// Known returns the recorded costs.
var Known = sync.OnceValues(func() (*Table, error) { return readCosts(bytes.NewReader(costs)) })

// readCosts reads a table of costs. Its first line says the speed of the machine, as in
// "# 95.2 billion multiplications a second".
func readCosts(r io.Reader) (*Table, error) {
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	t := &Table{}
	if _, err := fmt.Sscanf(string(text), "# %g billion", &t.Speed); err != nil || !(t.Speed > 0) {
		return nil, fmt.Errorf("costs.csv:1: want the speed of the machine")
	}
	in := csv.NewReader(bytes.NewReader(text))
	in.Comment, in.FieldsPerRecord = '#', len(Columns)
	rows, err := in.ReadAll()
	if err != nil {
		return nil, fmt.Errorf("costs.csv: %w", err)
	}
	for i, row := range rows {
		if i == 0 {
			continue
		}
		var n [4]float64
		for k := range n {
			if n[k], err = strconv.ParseFloat(row[3+k], 64); err != nil || !(n[k] >= 0) || math.IsInf(n[k], 0) {
				return nil, fmt.Errorf("costs.csv: row %d: %s is %q, want a number", i, Columns[3+k], row[3+k])
			}
		}
		t.records = append(t.records, costRecord{row[0], row[1], row[2], generated(row[2]), max(1, int(n[0])),
			Cost{Seconds: n[1], Memory: int64(n[2]) << 20, Disk: int64(n[3]) << 10, How: Recorded}})
	}
	return t, nil
}

// Of returns what a whole run takes, as recorded costs tell it, in seconds of the machine
// that recorded them.
func Of(r *roster.Run) Cost {
	t, err := Known()
	if err != nil {
		return Cost{Seconds: 1, How: Guessed}
	}
	key, epochs, err := Effort(r)
	if err != nil {
		return Cost{Seconds: 1, How: Guessed}
	}
	return t.of(key, r.Entry.Task.String(), r.Data, epochs)
}

// of looks up the cost of a run with so many epochs: that of equal steps, or the mean of those
// of the same task on the same data, of the same task, or of all as they are.
func (t *Table) of(key, task, data string, epochs int) Cost {
	standIn := generated(data)
	for _, how := range []struct {
		Basis
		is func(c costRecord) bool
	}{
		{Recorded, func(c costRecord) bool { return c.key == key }},
		{Alike, func(c costRecord) bool { return c.task == task && c.data == data }},
		{Guessed, func(c costRecord) bool { return c.task == task && c.standIn == standIn }},
		{Guessed, func(c costRecord) bool { return c.standIn == standIn }},
	} {
		sum, n := Cost{How: how.Basis}, 0
		for _, c := range t.records {
			if how.is(c) {
				n++
				if c.task == task {
					c.Seconds *= float64(epochs) / float64(c.epochs)
				}
				sum.Seconds += c.Seconds
				sum.Memory, sum.Disk = max(sum.Memory, c.Memory), max(sum.Disk, c.Disk)
			}
		}
		if n > 0 {
			sum.Seconds /= float64(n)
			return sum
		}
	}
	return Cost{Seconds: 1, How: Guessed}
}

// generated reports whether a data set is a stand-in: these are small.
func generated(data string) bool {
	standIn, err := grid.KnownData(data)
	return err == nil && standIn
}
