package reproduce

import (
	"testing"
	"time"

	"privrec/internal/dataset"
	"privrec/internal/report"
	"privrec/internal/reproduce/results"
	"privrec/internal/reproduce/roster"
)

// A run that stands in two tables counts once, and as made now where the first of them made it.
func TestTotal(t *testing.T) {
	ta := NewTally(roster.Options{Size: "smoke", Out: "o"}, nil)
	clock := time.Unix(0, 0)
	ta.now = func() time.Time { return clock }
	ta.start, ta.opened = clock, clock
	made := func(name string, runs ...roster.Run) *Outcome {
		return &Outcome{Table: &results.Table{Name: name, Document: &report.Document{Level: dataset.LevelD}}, Runs: runs,
			Files: []string{"o/tables/" + name + ".md"}}
	}
	clock = clock.Add(2 * time.Second)
	lines := ta.Add(made("a", roster.Run{Dir: "1", Status: roster.Done, Now: true},
		roster.Run{Dir: "1", Status: roster.Done},
		roster.Run{Dir: "2", Status: roster.Failed})) + "\n"
	clock = clock.Add(90 * time.Second)
	lines += ta.Add(made("b", roster.Run{Dir: "1", Status: roster.Done}, roster.Run{Dir: "3", Status: roster.NoData},
		roster.Run{Dir: "4", Status: roster.Resumable}, roster.Run{Dir: "5", Status: roster.Elsewhere})) + "\n"
	want := "a  2 runs: 1 done, 1 failed; level D; 2.0 s; o/tables/a.md\n" +
		"b  4 runs: 1 done, 1 without data, 1 made by other processes, 1 not finished; level D; 1m30s; o/tables/b.md\n"
	if lines != want {
		t.Errorf("%s\nwant\n%s", lines, want)
	}
	if got := ta.Total().String(); got != "2 tables, 5 runs: 1 done (1 of them now), 1 failed, 1 without data, 1 made by other processes, 1 not finished; 1m32s; pages in o/tables" {
		t.Error(got)
	}
}
