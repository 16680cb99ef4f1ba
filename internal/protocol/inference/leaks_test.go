package inference

import (
	"fmt"
	"strings"
	"testing"

	"privrec/internal/attack/attribute"
	"privrec/internal/metrics"
	"privrec/internal/run"
)

// certain sets intervals so wide that all the checks of a test together fail on right code
// with probability 1e-9, by the corrected t test. Forty splits keep them narrow enough to see
// a leak like the planted one.
func certain(checks int) []string {
	return []string{fmt.Sprintf("eval.confidence=%.14f", 1-1e-9/float64(checks)), "attack.repeats=40"}
}

// Where lists give the attribute away on purpose, an attacker finds it: with interactions and
// lists it is surely above itself on interactions alone, and on lists alone above the
// majority. Where the attribute is shuffled, it is surely neither above nor below: classes are
// of one size, so that answering the majority more often gains nothing.
func testLeak(t *testing.T, shuffled bool, names ...string) {
	sets := append(planted(t, 240, 0.95, shuffled), "attack.repeats=10")
	if shuffled {
		sets = append(sets, certain(4*len(names))...)
	}
	o := measured(t, append(sets, "attack.sees=[interactions+lists,lists]", "attack.attackers=["+strings.Join(names, ",")+"]")...)
	if want := 2 * len(names); len(o.Evaluations) != want || len(o.Floors) != 1+len(names) {
		t.Fatalf("%d evaluations and %d floors, want %d and %d", len(o.Evaluations), len(o.Floors), want, 1+len(names))
	}
	checked := 0
	for _, g := range o.Gains {
		both := strings.HasPrefix(g.Row, "lists, "+SeesBoth) && g.Over == OverInteractions
		alone := strings.HasPrefix(g.Row, "lists, "+SeesLists+",") && g.Over == OverMajority
		if g.Metric == "balanced accuracy" || !both && !alone {
			continue
		}
		checked++
		switch {
		case !shuffled && g.sure() <= 0:
			t.Errorf("%s, %s: gain %v over %s, interval %v, want it above 0", g.Row, g.Metric, g.Value, g.Over, *g.Interval)
		case shuffled && g.Interval[1]-g.Value > 0.45: // who knows the attribute gains 0.5
			t.Errorf("%s, %s: interval %v is too wide to see a leak", g.Row, g.Metric, *g.Interval)
		case shuffled && g.sure() != 0:
			t.Errorf("%s, %s: gain %v over %s, interval %v, want 0 in it", g.Row, g.Metric, g.Value, g.Over, *g.Interval)
		}
	}
	if checked != 4*len(names) {
		t.Errorf("checked %d gains, want %d", checked, 4*len(names))
	}
	for _, l := range o.Leaks {
		if l.Found == shuffled {
			t.Errorf("%s of %s: found %v: %s", l.Sees, l.Attribute, l.Found, l.Text)
		}
	}
}

func TestPlantedLeak(t *testing.T) {
	testLeak(t, false, "naive-bayes-bernoulli", "logistic-regression", "knn-5")
}

func TestShuffledAttribute(t *testing.T) { testLeak(t, true, "naive-bayes-bernoulli", "knn-5") }

// An attacker is no different for what it is compared with: splits and draws are those of the
// seed and the attribute, for every target, input and list of attackers.
func TestSameSplits(t *testing.T) {
	sets := append(planted(t, 60, 0.8, false), "attack.repeats=2")
	all := measured(t, append(sets, "attack.sees=[lists,interactions+lists,interactions]", "attack.k=[3,5]", "attack.attackers=[naive-bayes-bernoulli,dnn]")...)
	one := measured(t, append(sets, "attack.sees=[lists]", "attack.k=[5]", "attack.attackers=[dnn]")...)
	at := one.Evaluations[0]
	for _, e := range all.Evaluations {
		if e.Name != at.Name {
			continue
		}
		if fmt.Sprint(e.Values) != fmt.Sprint(at.Values) || len(e.Values) != len(metrics.ClassScores()) {
			t.Errorf("%s: %v among others, %v alone", e.Name, e.Values, at.Values)
		}
		return
	}
	t.Errorf("no %q in %v", at.Name, all.Evaluations)
}

// Any number of workers writes the same bytes; another seed does not.
func TestWorkers(t *testing.T) {
	sets := append(planted(t, 60, 0.8, false), "attack.repeats=3", "attack.attackers=[dnn,knn-2]")
	_, one, err := attack(t, append(sets, "run.workers=1")...)
	if err != nil {
		t.Fatal(err)
	}
	if _, three, err := attack(t, append(sets, "run.workers=3")...); err != nil || three != one {
		t.Errorf("with three workers: %v\n%s\nwith one\n%s", err, three, one)
	}
	if _, other, err := attack(t, append(sets, "run.workers=1", "run.seed=2")...); err != nil || other == one {
		t.Errorf("the seed changes nothing: %v", err)
	}
}

// A forecast counts every training of an attacker: 2 attackers on interactions and on two
// lengths of lists with them, and the majority, of one attribute under 3 splits.
func TestForecast(t *testing.T) {
	f, err := task().Forecast(t.Context(), run.Options{Sets: append(planted(t, 60, 0.8, false), "attack.repeats=3", "attack.k=[3,5]", "attack.attackers=[naive-bayes-bernoulli,knn-2]")})
	if err != nil || f.Steps != 3*(2*3+1) || !(f.Seconds > 0) || !strings.Contains(f.Basis, "of 9 cells") || !strings.Contains(f.Basis, "21 fits in all") {
		t.Errorf("%+v, %v", f, err)
	}
}

// An attacker that errs on interactions gains by answering the majority: that is no leak. One
// that knows something without better answers has found one.
func TestWhatIsALeak(t *testing.T) {
	interval := func(lo, hi float64) *[2]float64 { return &[2]float64{lo, hi} }
	sure, none, less := Gain{Value: 0.05, Interval: interval(0.01, 0.09)}, Gain{Value: 0.001, Interval: interval(-0.01, 0.012)}, Gain{Value: -0.03, Interval: interval(-0.05, -0.01)}
	const s, n, l = "+5.0 points (+1.0 to +9.0)", "+0.1 points (-1.0 to +1.2)", "-3.0 points (-5.0 to -1.0)"
	for _, c := range []struct {
		f1, majority, auc Gain
		found             bool
		text              string
	}{
		{sure, sure, none, true, "the lists add to what interactions tell: gain in micro F1 " + s + ", in AUC " + n},
		{sure, none, none, false, "the lists add nothing measurable: gain in micro F1 " + s + ", in AUC " + n + ", and over the majority " + n},
		{none, sure, none, false, "the lists add nothing measurable to what interactions tell: gain in micro F1 " + n + ", in AUC " + n},
		{none, none, sure, true, "the lists add something to what interactions tell, with no more right answers than the floors: gain in micro F1 " + n + ", in AUC " + s},
		{less, sure, none, false, "the lists mislead the attacker: gain in micro F1 " + l + ", in AUC " + n},
		{Gain{Value: 0.2}, Gain{}, Gain{Value: 0.1}, false, "what lists add to interactions, of one split, without intervals: gain in micro F1 +20.0 points, in AUC +10.0 points"},
	} {
		if found, text := added(c.f1, c.majority, c.auc); found != c.found || text != c.text {
			t.Errorf("found %v, %q\n want %v, %q", found, text, c.found, c.text)
		}
	}
	for _, c := range []struct {
		sees    string
		f1, auc Gain
		found   bool
		text    string
	}{
		{SeesLists, sure, none, true, "lists alone tell: micro F1 over the majority " + s + ", AUC over chance " + n},
		{SeesVectors, less, sure, true, "user vectors alone tell something, with no more right answers than the majority: micro F1 over the majority " + l + ", AUC over chance " + s},
		{SeesLists, Gain{Value: 0.2}, Gain{Value: 0.1}, false, "lists alone, of one split, without intervals: micro F1 over the majority +20.0 points, AUC over chance +10.0 points"},
		{SeesInteractions, less, none, false, "interactions alone tell nothing measurable: micro F1 over the majority " + l + ", AUC over chance " + n},
	} {
		if found, text := alone(c.sees, c.f1, c.auc); found != c.found || text != c.text {
			t.Errorf("%s: found %v, %q\n want %v, %q", c.sees, found, text, c.found, c.text)
		}
	}
}

// The gain is the mean over splits of paired differences, and its interval that of their
// spread.
func TestGainByHand(t *testing.T) {
	p := &plan{victims: &victims{attributes: []*Attribute{{Name: "side", Values: []string{"L", "R"}}}, targets: []*target{{}}},
		inputs: []input{{}, {sees: SeesInteractions}, {sees: SeesLists, k: 5}}, splits: [][]attribute.Split{{{Train: make([]int32, 80), Test: make([]int32, 20)}}}}
	p.cfg.Attack.Repeats, p.cfg.Eval.Confidence = 3, 0.95
	r := &result{plan: p}
	for _, v := range [][3]float64{{0.5, 0.5, 0.5}, {0.6, 0.7, 0.8}, {0.7, 0.9, 0.8}} {
		for _, x := range v {
			r.cells = append(r.cells, cell{{Scores: scores{x, x, x, x, x}}})
		}
	}
	got, err := r.gain(Row{Name: "x", input: 2}, 1, OverInteractions, 1, 0)
	if err != nil || len(got) != len(gained) {
		t.Fatal(got, err)
	}
	// Differences 0.1, 0.2, 0: mean 0.1, sd 0.1; t of 2 degrees at 95 % is 4.302653, and
	// sqrt(1/3 + 20/80) is 0.763763.
	lo, hi := 0.1-0.1*4.302653*0.763763, 0.1+0.1*4.302653*0.763763
	if g := got[0]; !near(g.Value, 0.1) || !near(g.Floor, 0.7) || !near(g.Interval[0], lo) || !near(g.Interval[1], hi) {
		t.Errorf("gain %+v, interval %v, want 0.1 in [%v, %v]", g, *g.Interval, lo, hi)
	}
	for i := range 3 { // all splits alike: one of 20 test users is the least spread
		r.cells[6+i] = cell{{Scores: scores{r.cells[3+i][0].Scores[0] + 0.1}}}
	}
	half := 0.05 * 4.302653 * 0.763763
	if got, err = r.gain(Row{Name: "x", input: 2}, 1, OverInteractions, 1, 0); err != nil || !near(got[0].Value, 0.1) || !near(got[0].Interval[1], 0.1+half) {
		t.Errorf("gain %+v, %v, want 0.1 +- %v", got, err, half)
	}
}

func near(a, b float64) bool { return a-b < 1e-6 && b-a < 1e-6 }

// Targets with the same interactions share their floor; one with others has a floor of its
// own, by its name.
func TestFloorsOfTargets(t *testing.T) {
	c := Default()
	c.Attack.K = []int{1}
	row := func(items ...int32) [][]int32 { return [][]int32{items, items} }
	v := &victims{targets: []*target{
		{Target: Target{Name: "a"}, had: row(1, 2), same: 0}, {Target: Target{Name: "b"}, had: row(1, 3), same: 1}, {Target: Target{Name: "c"}, had: row(1, 2), same: 0}}}
	p := &plan{victims: v, cfg: c, inputs: c.inputs(v)}
	for _, name := range []string{"dnn", Majority} {
		a, err := attribute.ByName(name)
		if err != nil {
			t.Fatal(err)
		}
		if p.majority = a; name != Majority {
			p.attackers = append(p.attackers, a)
		}
	}
	r := &result{plan: p}
	var names []string
	floors, rows := r.rows()
	for _, row := range append(floors, rows...) {
		names = append(names, row.Name)
	}
	want := "majority; a, interactions, dnn; b, interactions, dnn; a, interactions+lists, K = 1, dnn; b, interactions+lists, K = 1, dnn; c, interactions+lists, K = 1, dnn"
	if got := strings.Join(names, "; "); got != want {
		t.Errorf("rows %s\nwant %s", got, want)
	}
	for i, want := range []string{"a", "b", "a"} {
		if at := r.alone(i); r.targets[r.inputs[at].target].Name != want {
			t.Errorf("the floor of target %d is that of %s, want %s", i, r.targets[r.inputs[at].target].Name, want)
		}
	}
}
