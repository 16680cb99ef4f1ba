package reproduce

import (
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"privrec/internal/dataset"
	"privrec/internal/report"
	"privrec/internal/reproduce/grid"
	"privrec/internal/reproduce/phrase"
	"privrec/internal/reproduce/roster"
	"privrec/internal/run"
	"privrec/internal/system"
)

// List is several tables as one JSON document.
type List struct {
	Size   string   `json:"profile"`
	Out    string   `json:"out"`
	Tables []Listed `json:"tables"`
	// Forecast is what all tables together would take; nil where they were made.
	Forecast *report.Document `json:"forecast,omitempty"`
	Total    *Total           `json:"total,omitempty"` // nil where nothing was to be made
}

// JSON writes the tables, indented.
func (l List) JSON(w io.Writer) error {
	b, err := json.MarshalIndent(l, "", "  ")
	if err != nil {
		return err
	}
	_, err = w.Write(append(b, '\n'))
	return err
}

// Listed is one table of a List.
type Listed struct {
	Name     string           `json:"name"`            // name of its files
	Files    []string         `json:"files,omitempty"` // files that were written
	Runs     *Counts          `json:"runs,omitempty"`
	Forecast *Ahead           `json:"forecast,omitempty"`
	Document *report.Document `json:"document,omitempty"`
}

// Total says what all tables together are.
type Total struct {
	Tables  int     `json:"tables"`
	Runs    Counts  `json:"runs"` // each once, also where several tables share it
	Seconds float64 `json:"seconds"`
	Folder  string  `json:"folder"` // folder of the pages
}

// String writes the total in a line.
func (t Total) String() string {
	return fmt.Sprintf("%s, %s: %s; %s; pages in %s", phrase.Plural(t.Tables, "table"), phrase.Plural(t.Runs.Total, "run"),
		t.Runs.words(true), phrase.Took(t.Seconds), t.Folder)
}

// Tally counts tables and their runs as they are made.
type Tally struct {
	list   List
	wide   int                   // characters of the longest name
	shard  run.Shard             // whose runs this process makes
	runs   map[string]roster.Run // of all tables, by directory
	now    func() time.Time
	start  time.Time // of the first table
	opened time.Time // of the present table
}

// NewTally returns a tally without tables. Its time begins now.
func NewTally(o roster.Options, grids []*grid.Grid) *Tally {
	t := &Tally{list: List{Size: o.Size, Out: o.Out}, shard: o.Shard, runs: map[string]roster.Run{}, now: time.Now}
	t.start = t.now()
	t.opened = t.start
	for _, g := range grids {
		t.wide = max(t.wide, len(g.FileName(o.Size, o.Sets)))
	}
	return t
}

// Add counts a table that was made. It returns a line about it: how far its runs are, its
// level, the time since the table before, and its page.
func (t *Tally) Add(made *Outcome) string {
	own := map[string]roster.Run{}
	for _, r := range made.Runs {
		if was, ok := own[r.Dir]; !ok || r.Now && !was.Now {
			own[r.Dir] = r
		}
	}
	for dir, r := range own {
		if was, ok := t.runs[dir]; !ok || !was.Now {
			t.runs[dir] = r
		}
	}
	n := countRuns(own, t.shard)
	t.list.Tables = append(t.list.Tables, Listed{Name: made.Name, Files: made.Files, Runs: &n, Document: made.Document})
	began := t.opened
	t.opened = t.now()
	if len(made.Files) == 0 {
		return fmt.Sprintf("%-*s  %s: %s; %s; %v writes no table", t.wide, made.Name, phrase.Plural(n.Total, "run"),
			n.words(false), phrase.Took(t.opened.Sub(began).Seconds()), made.shard)
	}
	page := made.Files[0]
	return fmt.Sprintf("%-*s  %s: %s; %s; %s; %s", t.wide, made.Name, phrase.Plural(n.Total, "run"), n.words(false),
		level(made.Document.Level), phrase.Took(t.opened.Sub(began).Seconds()), page)
}

// Total returns the counts of the tables so far.
func (t *Tally) Total() Total {
	return Total{len(t.list.Tables), countRuns(t.runs, t.shard), t.now().Sub(t.start).Seconds(),
		filepath.Join(t.list.Out, "tables")}
}

// List returns the tables so far and their total.
func (t *Tally) List() List {
	l, sum := t.list, t.Total()
	l.Total = &sum
	return l
}

// Counts says how far runs are, each directory once.
type Counts struct {
	Total   int `json:"total"`
	Done    int `json:"done"`
	Now     int `json:"done_now"` // of those, finished by this command
	Failed  int `json:"failed"`
	NoData  int `json:"without_data"`
	Others  int `json:"of_other_processes"` // still running there
	Waiting int `json:"not_finished"`
	Shards  int `json:"of_other_shards,omitempty"` // not finished either, and not for this process to make
}

// countRuns counts runs by their status, for the process of a shard.
func countRuns(byDir map[string]roster.Run, s run.Shard) (n Counts) {
	for _, r := range byDir {
		n.Total++
		switch {
		case r.Status == roster.Done:
			n.Done++
			if r.Now {
				n.Now++
			}
			continue
		case !r.In(s):
			n.Shards++
			continue
		}
		switch r.Status {
		case roster.Failed:
			n.Failed++
		case roster.NoData:
			n.NoData++
		case roster.Elsewhere:
			n.Others++
		default:
			n.Waiting++
		}
	}
	return n
}

// words writes the counts that are not zero, as in "24 done, 2 failed". With now it says how
// many of the done ones this command finished.
func (n Counts) words(now bool) string {
	done := fmt.Sprintf("%d done", n.Done)
	switch {
	case !now || n.Done == 0:
	case n.Now == 0:
		done += " (none of them now)"
	default:
		done += fmt.Sprintf(" (%d of them now)", n.Now)
	}
	var out []string
	for _, c := range []struct {
		n    int
		text string
	}{
		{n.Done, done}, {n.Failed, fmt.Sprintf("%d failed", n.Failed)},
		{n.NoData, fmt.Sprintf("%d without data", n.NoData)},
		{n.Others, fmt.Sprintf("%d made by other processes", n.Others)},
		{n.Waiting, fmt.Sprintf("%d not finished", n.Waiting)},
		{n.Shards, fmt.Sprintf("%d of other shards", n.Shards)},
	} {
		if c.n > 0 {
			out = append(out, c.text)
		}
	}
	return strings.Join(out, ", ")
}

// level writes the level of a table in a word or two.
func level(l dataset.Level) string {
	if l == 0 {
		return "no common level"
	}
	return "level " + l.String()
}

// WriteIndex writes the page index.md, which lists the tables so far: how far their runs are,
// their levels, and their pages. It holds no time and no machine.
func (t *Tally) WriteIndex() error {
	list := &report.Table{Name: "tables", Title: "Tables and figures", Columns: report.Columns("", "table", "title",
		"runs", "state", "level")}
	for _, l := range t.list.Tables {
		level := "mixed, or none"
		if l.Document.Level != 0 {
			level = l.Document.Level.String()
		}
		list.Add("["+l.Name+"]("+l.Name+".md)", l.Document.Title, l.Runs.Total, l.Runs.words(false), level)
	}
	n := t.Total().Runs
	n.Now = 0
	d := &report.Document{Title: "Tables and figures, size " + t.list.Size, Tables: []*report.Table{list},
		Facts: []report.Fact{{Label: "runs", Value: phrase.Plural(n.Total, "run") + ": " + n.words(false),
			Note: "each once, also where several tables share it"}},
		Notes: []string{"level D stands for generated rows: a number of that level says nothing about the paper"}}
	return system.WriteFile(filepath.Join(t.list.Out, "tables", "index.md"),
		func(w io.Writer) error { return d.Markdown(w) })
}
