package experiment

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"

	"privrec/internal/autograd"
	"privrec/internal/eval"
	"privrec/internal/run"
	"privrec/internal/tensor"
)

// byNumber scores item j of sample s by j, or by minus j for odd samples.
type byNumber struct{}

func (byNumber) Items() int { return 4 }

func (byNumber) Score(_ *autograd.Tape, samples []int32, scores tensor.Matrix) error {
	for k, s := range samples {
		for j := range 4 {
			tensor.Row(scores, k)[j] = tensor.Float(j * (1 - 2*int(s%2)))
		}
	}
	return nil
}

var ranked = Ranking{
	Data: "toys", Scorer: byNumber{}, Items: 4, Item: func(i int32) string { return string(rune('a' + i)) },
	Sample:  func(user string) (int32, bool) { return int32(len(user)), len(user) < 3 },
	Options: eval.Options{Exclude: func(int32) []int32 { return []int32{3} }},
}

// The best items of each user come as they were asked for, and show as a table.
func TestRecommend(t *testing.T) {
	lists, err := ranked.Recommend(t.Context(), Question{Users: []string{"x", "xx"}, K: 2})
	if err != nil {
		t.Fatal(err)
	}
	r := &Recommendations{Lists: lists, Head: Head{Title: "T"}, Notes: []string{"N"}}
	var b strings.Builder
	if err := r.Text(&b); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, l := range lists {
		for _, i := range l.Items {
			got = append(got, l.User+i.Item)
		}
	}
	if s := strings.Join(got, " "); s != "xa xb xxc xxb" {
		t.Errorf("recommended %s:\n%s", s, b.String())
	}
	text, err := json.Marshal(r)
	if err != nil || !strings.Contains(string(text), `"recommendations"`) || !strings.Contains(b.String(), "xx       1  c  ") {
		t.Errorf("%s, %v\n%s", text, err, b.String())
	}
	for _, o := range []Question{{Users: []string{"x"}, K: 0}, {Users: []string{"x"}, K: 5}, {Users: []string{"xxx"}, K: 1}} {
		var usage *run.UsageError
		if _, err := ranked.Recommend(t.Context(), o); !errors.As(err, &usage) {
			t.Errorf("%+v: %v", o, err)
		}
	}
}

// An evaluation says whether its scores are those reported.
func TestAgreement(t *testing.T) {
	for _, c := range []struct {
		differs float64
		want    string
	}{{0, "equal to what the run reported"}, {0.00123, "differs from what the run reported by up to 0.0012"}, {math.NaN(), "the run reported nothing"}} {
		var b strings.Builder
		if err := (&Evaluation{Differs: c.differs}).Text(&b); err != nil || !strings.Contains(b.String(), c.want) {
			t.Errorf("%v: %q, %v", c.differs, b.String(), err)
		}
	}
	if got := Apart(map[string]float64{"a": 1, "b": 2}, map[string]float64{"a": 1.5, "b": 2}); got != 0.5 {
		t.Errorf("apart by %v", got)
	}
}

// A name is that of a release, or none where there is one alone.
func TestRelease(t *testing.T) {
	two := []string{"noisy", "clean"}
	for _, c := range []struct {
		name     string
		releases []string
		want     string
		err      string
	}{
		{"", two, "noisy", ""}, {"clean", two, "clean", ""}, {"", nil, "", ""},
		{"other", two, "", `has no release "other"`}, {"clean", nil, "", `has no release "clean"`},
	} {
		got, err := Release("dir", c.name, c.releases, "it has two")
		if got != c.want || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%q of %v: %q, %v", c.name, c.releases, got, err)
		}
	}
}

// Scores are compared with those of their release, and with nothing where the run reported none.
func TestDiffer(t *testing.T) {
	row := func(release string, x float64) Scores {
		return Scores{Release: release, Values: map[string]float64{"HR@1": x}}
	}
	was := []Scores{row("a", 0.5), row("b", 0.25), row("a", 0)}
	if got := Differ([]Scores{row("b", 0.5), row("a", 0.5)}, was); got != 0.25 {
		t.Errorf("they differ by %v", got)
	}
	if got := Differ([]Scores{row("a", 0.5), row("c", 0.5)}, was); !math.IsNaN(got) {
		t.Errorf("a release that was not reported differs by %v", got)
	}
}

// A scorer is opened once a question is one that can be answered.
func TestRankingOpens(t *testing.T) {
	opened := 0
	r := ranked
	r.Scorer, r.Open = nil, func(context.Context) (eval.Scorer, error) { opened++; return byNumber{}, nil }
	of := func(context.Context, string) (Ranking, error) { return r, nil }
	if _, err := (Question{Users: []string{"xxx"}, K: 1}).By(t.Context(), of); err == nil || opened != 0 {
		t.Errorf("an unknown user: %v, opened %d times", err, opened)
	}
	if a, err := (Question{Users: []string{"x"}, K: 1}).By(t.Context(), of); err != nil || opened != 1 ||
		len(a.Lists) != 1 {
		t.Errorf("%+v, %v, opened %d times", a, err, opened)
	}
}

// Users without items have no history, and items go by their names.
func TestHistoriesOf(t *testing.T) {
	items := [][]int32{{2, 0}, nil, {1}}
	got := HistoriesOf([]string{"x", "y", "z"}, func(u int) []int32 { return items[u] }, []string{"a", "b", "c"})
	want := []History{{"x", []string{"c", "a"}}, {"z", []string{"b"}}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
