package pricdsr

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"privrec/internal/dataset"
)

// Held-out rows that are not ranked are named with their number and their reason.
func TestNotRanked(t *testing.T) {
	f := notRanked("toys", dataset.LeftOut{ValidRows: 5000, TestRows: 4474, ValidItem: 900, TestItem: 700, TestByValid: 485})
	for _, want := range []string{"1185 of 4474 test rows of toys, 26.5 %", "700 ask for an item", "485 for a known one", "only because the validation row", "900 of 5000 validation rows"} {
		if !strings.Contains(f.Value+"; "+f.Note, want) {
			t.Errorf("does not say %q: %s; %s", want, f.Value, f.Note)
		}
	}
	if f := notRanked("toys", dataset.LeftOut{ValidRows: 5, TestRows: 5}); f.Value != "0 of 5 test rows of toys" || f.Note != "" {
		t.Errorf("nothing is left out: %+v", f)
	}
}

// A run shows them, keeps them by domain, and its rows add up; so does its evaluation.
func TestRunSaysWhatIsNotRanked(t *testing.T) {
	dir := t.TempDir()
	text := start(t, "dasl-single", dir)
	o := result[Outcome](t, dir, "metrics.json")
	l := o.Data.Left[0]
	if l.TestRows == 0 || l.TestRows-l.Test() != o.Data.TestRows || l.ValidRows-l.ValidItem != o.Data.ValidRows {
		t.Errorf("%d validation and %d test rows are ranked; left out %+v", o.Data.ValidRows, o.Data.TestRows, l)
	}
	if !strings.Contains(text, "left out ") || !strings.Contains(text, " test rows of "+o.Data.Target) {
		t.Errorf("does not say what is left out:\n%s", text)
	}
	b, err := os.ReadFile(filepath.Join(dir, "metrics.json"))
	if err != nil {
		t.Fatal(err)
	}
	var m struct {
		Data struct {
			Left []map[string]int `json:"left_out"`
		} `json:"data"`
	}
	if err := json.Unmarshal(b, &m); err != nil || len(m.Data.Left) != 2 {
		t.Fatalf("%v, %v", m, err)
	}
	for _, key := range []string{"valid_rows", "test_rows", "valid_new_item", "test_new_item", "test_by_their_valid"} {
		if _, ok := m.Data.Left[0][key]; !ok {
			t.Errorf("metrics.json has no %s: %v", key, m.Data.Left[0])
		}
	}
}

// A run of fewer epochs than its profile states says so and is not set against the paper.
func TestShortTraining(t *testing.T) {
	c := Default()
	for _, x := range []struct {
		ran, patience int
		stopped       bool
		want          string
	}{
		{5, c.Train.Patience, false, "trained for 5 of the 1000 epochs stated, ended by the cap"},
		{90, c.Train.Patience, true, ""},
		{90, 5, true, "stopped after 5 without gain in place of 50"},
		{1000, c.Train.Patience, false, ""},
	} {
		o := c
		o.Train.Patience = x.patience
		if got := o.short(x.ran, x.stopped); got != x.want && (x.want == "" || !strings.Contains(got, x.want)) {
			t.Errorf("%+v: %q", x, got)
		}
	}
	own := c
	if own.Profile = "mine"; own.short(5, false) != "" {
		t.Error("a setting of no profile is short of one")
	}
	dir := t.TempDir()
	text := start(t, "dasl-single", dir, "profile=paper")
	if o := result[Outcome](t, dir, "metrics.json"); !strings.Contains(o.Short, "of the 1000 epochs stated") || !strings.Contains(text, "against the paper  not compared") {
		t.Errorf("short %q:\n%s", o.Short, text)
	}
}
