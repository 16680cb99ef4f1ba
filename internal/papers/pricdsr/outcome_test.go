package pricdsr

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"privrec/internal/protocol/crossdomain"
	"privrec/internal/train"
)

// A run shows them, keeps them by domain, and its rows add up; so does its evaluation.
func TestRunSaysWhatIsNotRanked(t *testing.T) {
	dir := t.TempDir()
	text := start(t, "dasl-single", dir)
	o := result[crossdomain.Outcome](t, dir, "metrics.json")
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
		s, err := c.standing()
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Stated.Short(train.Length{Epochs: c.Train.Epochs, Patience: x.patience}, x.ran, x.stopped); got != x.want && (x.want == "" || !strings.Contains(got, x.want)) {
			t.Errorf("%+v: %q", x, got)
		}
	}
	own := c
	own.Profile = "mine"
	if s, err := own.standing(); err != nil || s.Stated != (train.Length{}) {
		t.Errorf("a setting of no profile is short of one: %+v, %v", s, err)
	}
	dir := t.TempDir()
	text := start(t, "dasl-single", dir, "profile=paper")
	if o := result[crossdomain.Outcome](t, dir, "metrics.json"); !strings.Contains(o.Short, "of the 1000 epochs stated") || !strings.Contains(text, "against the paper  not compared") {
		t.Errorf("short %q:\n%s", o.Short, text)
	}
}
