package cli

import (
	"bytes"
	"testing"
	"time"

	"privrec/internal/dataset"
	"privrec/internal/report"
	"privrec/internal/reproduce"
)

// A run that stands in two tables counts once, and as made now where the first of them made it.
func TestTotal(t *testing.T) {
	var b bytes.Buffer
	ta := newTally(reproduce.Options{Profile: "smoke", Out: "o"}, nil, &b)
	ta.lines = true
	clock := time.Unix(0, 0)
	ta.now = func() time.Time { return clock }
	ta.start, ta.opened = clock, clock
	made := func(name string, runs ...reproduce.Run) *reproduce.Outcome {
		return &reproduce.Outcome{Table: &reproduce.Table{Name: name, Document: &report.Document{Level: dataset.LevelD}}, Runs: runs, Files: []string{"o/tables/" + name + ".md"}}
	}
	clock = clock.Add(2 * time.Second)
	if err := ta.add(made("a", reproduce.Run{Dir: "1", Status: reproduce.Done, Now: true}, reproduce.Run{Dir: "1", Status: reproduce.Done}, reproduce.Run{Dir: "2", Status: reproduce.Failed})); err != nil {
		t.Fatal(err)
	}
	clock = clock.Add(90 * time.Second)
	if err := ta.add(made("b", reproduce.Run{Dir: "1", Status: reproduce.Done}, reproduce.Run{Dir: "3", Status: reproduce.NoData}, reproduce.Run{Dir: "4", Status: reproduce.Resumable}, reproduce.Run{Dir: "5", Status: reproduce.Elsewhere})); err != nil {
		t.Fatal(err)
	}
	want := "a  2 runs: 1 done, 1 failed; level D; 2.0 s; o/tables/a.md\n" +
		"b  4 runs: 1 done, 1 without data, 1 of other processes, 1 not finished; level D; 1m30s; o/tables/b.md\n"
	if b.String() != want {
		t.Errorf("%s\nwant\n%s", b.String(), want)
	}
	if got := ta.total().String(); got != "2 tables, 5 runs: 1 done (1 of them now), 1 failed, 1 without data, 1 of other processes, 1 not finished; 1m32s; pages in o/tables" {
		t.Error(got)
	}
}
