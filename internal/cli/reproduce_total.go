package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"privrec/internal/dataset"
	"privrec/internal/report"
	"privrec/internal/reproduce"
)

// tableList is what `privrec reproduce --json` writes, one document.
type tableList struct {
	Profile string        `json:"profile"`
	Out     string        `json:"out"`
	Tables  []tableResult `json:"tables"`
	Total   *tableTotal   `json:"total,omitempty"` // nil where nothing was to be made
}

// tableResult is one table of it.
type tableResult struct {
	Name     string           `json:"name"`            // of its files
	Files    []string         `json:"files,omitempty"` // that were written
	Runs     *runCounts       `json:"runs,omitempty"`
	Document *report.Document `json:"document"`
}

func (l tableList) write(w io.Writer) error {
	b, err := json.MarshalIndent(l, "", "  ")
	if err != nil {
		return err
	}
	_, err = w.Write(append(b, '\n'))
	return err
}

// runCounts is how runs stand, each directory once.
type runCounts struct {
	Total   int `json:"total"`
	Done    int `json:"done"`
	Now     int `json:"done_now"` // of those, not found finished
	Failed  int `json:"failed"`
	NoData  int `json:"without_data"`
	Others  int `json:"of_other_processes"` // that go on
	Waiting int `json:"not_finished"`
}

func countRuns(byDir map[string]reproduce.Run) (n runCounts) {
	for _, r := range byDir {
		n.Total++
		switch r.Status {
		case reproduce.Done:
			n.Done++
			if r.Now {
				n.Now++
			}
		case reproduce.Failed:
			n.Failed++
		case reproduce.NoData:
			n.NoData++
		case reproduce.Elsewhere:
			n.Others++
		default:
			n.Waiting++
		}
	}
	return n
}

// words are the counts that are not zero, as in "24 done, 2 failed"; done is followed by how
// many were made now.
func (n runCounts) words(now bool) string {
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
		{n.Done, done}, {n.Failed, fmt.Sprintf("%d failed", n.Failed)}, {n.NoData, fmt.Sprintf("%d without data", n.NoData)},
		{n.Others, fmt.Sprintf("%d of other processes", n.Others)}, {n.Waiting, fmt.Sprintf("%d not finished", n.Waiting)},
	} {
		if c.n > 0 {
			out = append(out, c.text)
		}
	}
	return join(out)
}

// tableTotal is what a whole command came to.
type tableTotal struct {
	Tables  int       `json:"tables"`
	Runs    runCounts `json:"runs"`
	Seconds float64   `json:"seconds"`
	Folder  string    `json:"folder"` // of the pages
}

func (t tableTotal) String() string {
	return fmt.Sprintf("%s, %s: %s; %s; pages in %s", plural(t.Tables, "table"), plural(t.Runs.Total, "run"), t.Runs.words(true), took(t.Seconds), t.Folder)
}

// tally follows the tables of a command as they are made.
type tally struct {
	w      io.Writer
	show   bool // print every table in full
	lines  bool // print a line a table
	wide   int  // of their names
	list   tableList
	runs   map[string]reproduce.Run // of all tables, by directory
	now    func() time.Time
	start  time.Time // of the command
	opened time.Time // of the present table
}

func newTally(o reproduce.Options, grids []*reproduce.Grid, w io.Writer) *tally {
	t := &tally{w: w, list: tableList{Profile: o.Profile, Out: o.Out}, runs: map[string]reproduce.Run{}, now: time.Now}
	t.start = t.now()
	t.opened = t.start
	for _, g := range grids {
		t.wide = max(t.wide, len(g.FileName(o)))
	}
	return t
}

// add counts a table that was made and shows it, in full or as a line.
func (t *tally) add(made *reproduce.Outcome) error {
	own := map[string]reproduce.Run{}
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
	n := countRuns(own)
	t.list.Tables = append(t.list.Tables, tableResult{made.Name, made.Files, &n, made.Document})
	began := t.opened
	t.opened = t.now()
	switch {
	case t.show:
		return made.Document.Text(t.w)
	case t.lines:
		page := "not written"
		if len(made.Files) > 0 {
			page = made.Files[0]
		}
		_, err := fmt.Fprintf(t.w, "%-*s  %s: %s; %s; %s; %s\n", t.wide, made.Name, plural(n.Total, "run"), n.words(false),
			level(made.Document.Level), took(t.opened.Sub(began).Seconds()), page)
		return err
	}
	return nil
}

// level is that of a table, in a word or two.
func level(l dataset.Level) string {
	if l == 0 {
		return "no level of all"
	}
	return "level " + l.String()
}

// total is what was made so far.
func (t *tally) total() tableTotal {
	return tableTotal{len(t.list.Tables), countRuns(t.runs), t.now().Sub(t.start).Seconds(), filepath.Join(t.list.Out, "tables")}
}

// json writes all tables and the total as one document.
func (t *tally) json() error {
	sum := t.total()
	t.list.Total = &sum
	return t.list.write(t.w)
}

// plural is a number of things in words.
func plural(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// took is a time for a person.
func took(seconds float64) string {
	d := time.Duration(seconds * float64(time.Second))
	if d < time.Minute {
		return fmt.Sprintf("%.1f s", seconds)
	}
	return d.Round(time.Second).String()
}
