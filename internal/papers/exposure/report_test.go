package exposure

import (
	"fmt"
	"math"
	"strings"
	"testing"

	attack "privrec/internal/attack/exposure"
	"privrec/internal/train"
)

// The headline is the most that was found of what slates give away, by the trained attack or by
// counts, over the best floor that does not read them; an attack that finds less than counts does
// not hide what they find.
func TestAnswer(t *testing.T) {
	gain := func(over string, floor, value, from, to float64) Gain {
		return Gain{Over: over, Metric: "Recall@10", Floor: floor, Value: value, Interval: [2]float64{from, to}}
	}
	counts := func(gains ...Gain) []Counted { return []Counted{{"co-occurrence", gains}} }
	for _, c := range []struct {
		name, vocabulary, unfinished string
		gains                        []Gain
		counts                       []Counted
		want                         []string // label: value
	}{
		{"counts find more than the attack", attack.VocabularyFull, "",
			[]Gain{gain("random", .01, .05, .04, .06), gain("popularity", .04, .02, .01, .03), gain("co-occurrence", .08, -.02, -.03, -.01)},
			counts(gain("random", .02, .115, .1, .13), gain("popularity", .04, .095, .08, .11)),
			[]string{"leak: +9.50 (+8.00 to +11.00) over popularity, by co-occurrence", "by the trained attack: +2.00 (+1.00 to +3.00) over popularity",
				"beyond counting: none shown: -2.00 (-3.00 to -1.00) over co-occurrence"}},
		{"the attack finds nothing, counts do", attack.VocabularyFull, "the attack was trained for 2 epochs: a lower bound",
			[]Gain{gain("popularity", .04, .0077, -.01, .03), gain("co-occurrence", .08, -.06, -.07, -.05)},
			counts(gain("popularity", .04, .005, .004, .006)),
			[]string{"leak: +0.50 (+0.40 to +0.60) over popularity, by co-occurrence; the attack was trained for 2 epochs: a lower bound",
				"by the trained attack: none shown: +0.77 (-1.00 to +3.00) over popularity", "beyond counting: none shown: -6.00 (-7.00 to -5.00) over co-occurrence"}},
		{"the best floor without slates is another", attack.VocabularyFull, "",
			[]Gain{gain("popularity", .04, .02, .01, .03), gain("kind-ratio", .05, .01, -.01, .03), gain("co-occurrence", .02, .04, .03, .05)},
			counts(gain("popularity", .04, -.02, -.03, -.01), gain("kind-ratio", .05, -.03, -.04, -.02)),
			[]string{"leak: none shown: +1.00 (-1.00 to +3.00) over kind-ratio, by the trained attack", "by the trained attack: none shown: +1.00 (-1.00 to +3.00) over kind-ratio",
				"beyond counting: +4.00 (+3.00 to +5.00) over co-occurrence"}},
		{"counts of a sample read slates too", attack.VocabularyFull, "",
			[]Gain{gain("popularity", .04, .05, .04, .06), gain("co-occurrence", .05, .04, .03, .05), gain("co-occurrence of the sample", .06, .03, .02, .04)}, nil,
			[]string{"leak: +5.00 (+4.00 to +6.00) over popularity, by the trained attack", "by the trained attack: +5.00 (+4.00 to +6.00) over popularity",
				"beyond counting: +3.00 (+2.00 to +4.00) over co-occurrence of the sample"}},
		{"candidates that hold the clicks", attack.VocabularyLogged, "",
			[]Gain{gain("popularity", .04, .02, .01, .03)}, nil,
			[]string{"gain: +2.00 (+1.00 to +3.00) over popularity, by the trained attack", "by the trained attack: +2.00 (+1.00 to +3.00) over popularity"}},
	} {
		facts := ProtocolOutcome{Name: c.name, Vocabulary: c.vocabulary, Gains: c.gains, Counts: c.counts}.answer(c.unfinished, []int{5, 10, 20}, .95)
		if len(facts) != len(c.want) {
			t.Errorf("%s: %+v", c.name, facts)
			continue
		}
		for i, f := range facts {
			if got := f.Label + ": " + f.Value; got != c.want[i] {
				t.Errorf("%s: %q, want %q", c.name, got, c.want[i])
			}
		}
		if !strings.Contains(facts[0].Note, "95 % interval") || len(c.counts) > 0 != strings.Contains(facts[0].Note, "the trained attack or co-occurrence found") {
			t.Errorf("%s: note %q", c.name, facts[0].Note)
		}
	}
}

// Training that its cap ended says so, unless the loss on validation had risen for as long as the
// setting waits.
func TestUnfinished(t *testing.T) {
	for _, c := range []struct {
		name                    string
		ran, selected, patience int
		stopped                 bool
		want                    string
	}{
		{"two epochs of two hundred", 2, 2, 10, false, "trained for 2 epochs, 38 steps, and not until more would not help: a lower bound"},
		{"one epoch", 1, 1, 10, false, "trained for 1 epoch, 38 steps,"},
		{"risen once where ten are waited for", 2, 1, 10, false, "trained for 2 epochs, 38 steps,"},
		{"the last one, nothing waited for", 9, 9, 0, false, "trained for 9 epochs, 38 steps,"},
		{"risen, nothing waited for", 200, 3, 0, false, ""},
		{"risen as long as is waited for", 4, 2, 2, false, ""},
		{"stopped by validation", 12, 2, 10, true, ""},
		{"never trained", 0, 0, 10, false, "random weights: a lower bound"},
	} {
		o := &Outcome{Epochs: make([]train.EpochRecord, c.ran), Selected: c.selected, Stopped: c.stopped, Steps: 38}
		if got := o.unfinished(TrainConfig{Patience: c.patience}); got != c.want && (c.want == "" || !strings.Contains(got, c.want)) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// A run says in its headline what counts find, and keeps it: where the trained attack finds less,
// that is the leak.
func TestHeadlineOfRun(t *testing.T) {
	dir := t.TempDir()
	text := start(t, dir, "train.epochs=1", "train.sample=0.05", "train.rate=1e-9", "eval.vocabulary=[full]")
	o := result[Outcome](t, dir, "metrics.json")
	p := o.Protocols[0]
	if len(p.Counts) != 2 || p.Counts[0].Name != "co-occurrence" || p.Counts[1].Name != "co-occurrence of the sample" {
		t.Fatalf("counts %+v", p.Counts)
	}
	for _, c := range p.Counts {
		if len(c.Gains) != 3*len(o.Metrics) {
			t.Errorf("%s: %d gains", c.Name, len(c.Gains))
		}
		for _, f := range p.Floors {
			for _, g := range c.Gains {
				if f.Name == c.Name && math.Abs(g.Floor+g.Value-f.Values[g.Metric]) > 1e-12 {
					t.Errorf("%s: %+v, its row says %v", c.Name, g, f.Values[g.Metric])
				}
			}
		}
	}
	line := ""
	for l := range strings.Lines(text) {
		if strings.HasPrefix(l, "leak ") {
			line = l
		}
	}
	own, found := best(p.Gains, "Recall@10", false), best(p.Counts[0].Gains, "Recall@10", false)
	if own.Value >= found.Value {
		t.Fatalf("the attack finds %v, counts %v: no test", own.Value, found.Value)
	}
	for _, want := range []string{fmt.Sprintf("%+.2f", 100*found.Value), "by co-occurrence", "trained for 1 epoch,", "a lower bound"} {
		if !strings.Contains(line, want) {
			t.Errorf("headline %q does not say %q", line, want)
		}
	}
}

// The strongest attack of the study is what runs where none is named.
func TestDefaultDecoder(t *testing.T) {
	if a := Default().Attack; a.Encoder != "mean" || a.Decoder != "point" {
		t.Errorf("the default is %s encoder, %s decoder", a.Encoder, a.Decoder)
	}
}

// A run says where it trained for fewer epochs than its profile states, for tables that would
// set it against the paper; one on a run's recommendations has no paper.
func TestShortTraining(t *testing.T) {
	c := Default()
	if got := c.short(2, false); got != "trained for 2 of the 200 epochs stated, ended by the cap" {
		t.Error(got)
	}
	if got := c.short(20, true); got != "" {
		t.Error(got)
	}
	if o := startOutcome(t, "profile=paper", "train.epochs=1", "eval.vocabulary=[full]"); !strings.Contains(o.Short, "trained for 1 of the 200 epochs stated") {
		t.Errorf("short %q", o.Short)
	}
}
