package experiment

import (
	"encoding/json"
	"errors"
	"math"
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
