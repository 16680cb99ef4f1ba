package experiment

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"privrec/internal/run"
)

// Cells are read as they were written, and a run without them, or with a cell that says too little, is refused.
func TestReadCells(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := ReadCells(dir); err == nil {
		t.Error("cells of a folder that is no run")
	}
	write("manifest.json", `{"task": "attack link", "status": "done"}`)
	var usage *run.UsageError
	if _, err := ReadCells(dir); !errors.As(err, &usage) || !strings.Contains(usage.Fix, "run it again") {
		t.Errorf("of an earlier program: %v", err)
	}
	write(CellsFile, `{"version": 2, "evidence_level": "B", "cells": [{"row": "score", "metric": "AUC member users",
		"value": 0.6, "floor_name": "nothing", "floor": 0.5, "gain": 0.1, "interval": [0.05, 0.2]}]}`)
	all, err := ReadCells(dir)
	if err != nil || len(all.Cells) != 1 || all.Level.String() != "B" {
		t.Fatalf("%+v, %v", all, err)
	}
	if c := all.Cells[0]; c.Interval[1] != 0.2 || c.Over != "nothing" {
		t.Errorf("%+v", c)
	}
	for _, bad := range []string{
		`{"cells": [{"metric": "AUC", "floor_name": "nothing"}]}`,
		`{"cells": [{"row": "score", "metric": "AUC"}]}`, `{`,
	} {
		write(CellsFile, bad)
		if _, err := ReadCells(dir); err == nil || !strings.Contains(err.Error(), CellsFile) {
			t.Errorf("%s: %v", bad, err)
		}
	}
}
