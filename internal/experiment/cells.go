package experiment

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"privrec/internal/dataset"
	"privrec/internal/run"
)

// CellsFile is the name of the file of cells in a run directory.
const CellsFile = "cells.json"

// Cell holds one number of a result with its context: the floor to compare it with, the gain beyond the floor, and the
// interval of that gain. Numbers are shares, but for an audited epsilon. Matrices and records read cells, so a new
// attack changes neither.
type Cell struct {
	Row string `json:"row"`          // of the result, such as one way to attack
	Of  string `json:"of,omitempty"` // which model is attacked, where there may be several
	// Under has the rules of the comparison, where there may be several. The main ones come first.
	Under    string      `json:"under,omitempty"`
	Metric   string      `json:"metric"`
	Value    float64     `json:"value"` // the floor and what is beyond it
	Over     string      `json:"floor_name"`
	Floor    float64     `json:"floor"`
	Gain     float64     `json:"gain"`     // what is beyond the floor, on the same samples
	Interval *[2]float64 `json:"interval"` // of the gain; null: one sample alone has none
	Sees     string      `json:"sees"`
	Budget   string      `json:"guess_budget"`
	About    string      `json:"asked_about"`
}

// Beyond returns the cell of a row with a gain beyond a floor. interval is that of the gain; nil if there is none.
func Beyond(row, metric, over string, floor, gain float64, interval *[2]float64) Cell {
	return Cell{Row: row, Metric: metric, Value: floor + gain, Over: over, Floor: floor, Gain: gain, Interval: interval}
}

// Cells holds the content of a file of cells.
type Cells struct {
	Version int           `json:"version"`
	Level   dataset.Level `json:"evidence_level"`
	Cells   []Cell        `json:"cells"`
}

// WriteCells keeps the cells of a run beside its metrics.json.
func WriteCells(env *run.Env, level dataset.Level, cells []Cell) error {
	return env.WriteCells(Cells{Version: Version, Level: level, Cells: cells})
}

// ReadCells reads the cells of a finished run.
func ReadCells(dir string) (*Cells, error) {
	var c Cells
	err := run.ReadJSON(dir, CellsFile, &c)
	if errors.Is(err, fs.ErrNotExist) {
		if _, no := os.Stat(filepath.Join(dir, "manifest.json")); no == nil {
			const none = "the run in %s keeps no %s: it is of an earlier program, or of a task without floors"
			message := fmt.Sprintf(none, dir, CellsFile)
			return nil, &run.UsageError{Message: message, Fix: "remove the folder and run it again"}
		}
	}
	if err != nil {
		return nil, err
	}
	for i, x := range c.Cells {
		if x.Row == "" || x.Metric == "" || x.Over == "" {
			file := filepath.Join(dir, CellsFile)
			return nil, fmt.Errorf("%s: cells.%d: a cell needs row, metric and floor_name", file, i)
		}
	}
	return &c, nil
}
