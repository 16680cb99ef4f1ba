package matrix

import (
	"privrec/internal/report"
	"privrec/internal/reproduce/roster"
)

// Made is a matrix, as far as it could be made.
type Made struct {
	Name   string // of the files
	Models []Model
	Cells  [][]Cell // by row and attack
	Runs   []roster.Run
	Files  []string // that were written
	Err    error    // what is missing that could be made here

	*report.Document
	heat report.Heat
}
