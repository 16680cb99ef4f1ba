package grid

import (
	"slices"
	"strings"
)

// CauseCodes lists the codes of the causes of a difference.
func CauseCodes() []string {
	return []string{"data", "split", "metric definition", "unstated setting", "program differs from text",
		"chosen on test", "copied row", "mechanism as specified", "budget of epochs", "other"}
}

// CauseFile is a file of causes, for the tables and figures of one paper.
type CauseFile struct {
	Paper  string   `yaml:"paper" limit:"filled"`
	Causes []*Cause `yaml:"causes"`
}

// Cause says why printed numbers differ from ours. Grid, Data, Method, Setting and Metric say which;
// a "*" in them stands for any text, and an empty list for everything. The first entry of a file
// that fits a number counts.
type Cause struct {
	Grid    string   `yaml:"grid" limit:"filled"`
	Data    []string `yaml:"data"` // as registered
	Method  []string `yaml:"method"`
	Setting []string `yaml:"setting"`
	Metric  []string `yaml:"metric"`
	// Ours is above or below: the entry is for numbers of ours that are so, compared with the
	// printed ones. Empty: both.
	Ours string `yaml:"ours" limit:"|above|below"`
	Code string `yaml:"code"`
	Says string `yaml:"says" limit:"filled"` // a sentence
	// Never says that the printed number cannot be reproduced, whatever is run; the sentence says
	// why.
	Never bool   `yaml:"not_reproducible"`
	Shown *Shown `yaml:"shown_by"` // nil: no configuration switches the cause on and off
}

// Shown names the result that shows a cause, on the same data: a row of the same grid without the
// cause or with it, or another evaluation of the same runs.
type Shown struct {
	Method     string `yaml:"method"`
	Setting    string `yaml:"setting"`
	Evaluation string `yaml:"evaluation"` // the end of its name; then no method
}

// Fits reports whether the cause is about the number of a metric in a row of a grid.
func (c *Cause) Fits(grid string, r *Row, metric string) bool {
	setting := r.Variant
	if r.Point != nil {
		setting = r.Point.Variant
	}
	return glob(c.Grid, grid) && anyGlob(c.Data, r.Data) && anyGlob(c.Method, r.Method) &&
		anyGlob(c.Setting, setting) && anyGlob(c.Metric, metric)
}

// anyGlob reports whether a pattern of a list fits, or there are none.
func anyGlob(patterns []string, s string) bool {
	return len(patterns) == 0 || slices.ContainsFunc(patterns, func(p string) bool { return glob(p, s) })
}

// glob reports whether a pattern fits all of s. A "*" in it stands for any text.
func glob(pattern, s string) bool {
	head, rest, star := strings.Cut(pattern, "*")
	if !star {
		return s == head
	}
	if !strings.HasPrefix(s, head) {
		return false
	}
	for s = s[len(head):]; ; s = s[1:] {
		if glob(rest, s) {
			return true
		}
		if s == "" {
			return false
		}
	}
}
