package calculator

import (
	"math"
	"strings"
	"testing"
)

// The answer is theorem 2's, computed by a plain program, beside that of a single run.
func TestSelectionQuestion(t *testing.T) {
	for _, c := range []struct {
		sigma, eta, trials, delta string
		want                      float64
	}{{"2", "0", "10", "1e-6", 3.868385537438282}, {"4", "1", "16", "1e-6", 2.398538900107338}} {
		q := AskSelection(mechanismOf(t, "gaussian"))
		for name, text := range map[string]string{"sigma": c.sigma, "sensitivity": "1", "steps": "1", "delta": c.delta, "trials": c.trials, "eta": c.eta} {
			if err := q.numbers[name].Set(text); err != nil {
				t.Fatal(err)
			}
		}
		if len(q.Missing()) > 0 || q.Check() != nil {
			t.Fatal(q.Missing(), q.Check())
		}
		s, err := q.Selected()
		if err != nil || math.Abs(s.Best.Epsilon/c.want-1) > 1e-5 || !(s.One.Epsilon < s.Best.Epsilon) {
			t.Errorf("%+v, %v, want %v", s, err, c.want)
			continue
		}
		var b strings.Builder
		if err := s.Text(&b); err != nil || !strings.Contains(b.String(), "neither the other runs nor their number") {
			t.Errorf("%s, %v", b.String(), err)
		}
	}
	q := AskSelection(mechanismOf(t, "gaussian"))
	for name, text := range map[string]string{"eta": "-1", "trials": "0.5"} {
		if err := q.numbers[name].Set(text); err == nil {
			t.Errorf("%s %s was taken", name, text)
		}
	}
}

// mechanismOf returns the mechanism of a name.
func mechanismOf(t *testing.T, name string) *Mechanism {
	t.Helper()
	for _, m := range Mechanisms() {
		if m.Name == name {
			return m
		}
	}
	t.Fatalf("no mechanism %s", name)
	return nil
}
