package slates

import (
	"strings"
	"testing"

	attack "privrec/internal/attack/exposure"
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
		facts := Outcome{Name: c.name, Vocabulary: c.vocabulary, Gains: c.gains, Counts: c.counts}.Answer(c.unfinished, []int{5, 10, 20}, .95)
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
