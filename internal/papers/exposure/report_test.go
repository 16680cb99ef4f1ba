package exposure

import (
	"strings"
	"testing"

	attack "privrec/internal/attack/exposure"
)

// What slates give away is judged by the floors that do not read them: an attack below co-occurrence counts
// can show a leak, and one that only such counts would show is not denied.
func TestAnswer(t *testing.T) {
	gain := func(over string, floor, value, from, to float64) Gain {
		return Gain{Over: over, Metric: "Recall@10", Floor: floor, Value: value, Interval: [2]float64{from, to}}
	}
	for _, c := range []struct {
		name, vocabulary string
		gains            []Gain
		want             []string // label: beginning of the value
	}{
		{"below counts, above popularity", attack.VocabularyFull,
			[]Gain{gain("random", .01, .05, .04, .06), gain("popularity", .04, .02, .01, .03), gain("co-occurrence", .08, -.02, -.03, -.01)},
			[]string{"leak: +2.00 (+1.00 to +3.00) over popularity", "beyond counting: none shown: -2.00 (-3.00 to -1.00) over co-occurrence"}},
		{"the best floor without slates is another", attack.VocabularyFull,
			[]Gain{gain("popularity", .04, .02, .01, .03), gain("kind-ratio", .05, .01, -.01, .03), gain("co-occurrence", .02, .04, .03, .05)},
			[]string{"leak: none shown: +1.00 (-1.00 to +3.00) over kind-ratio", "beyond counting: +4.00 (+3.00 to +5.00) over co-occurrence"}},
		{"candidates that hold the clicks", attack.VocabularyLogged,
			[]Gain{gain("popularity", .04, .02, .01, .03)},
			[]string{"gain: +2.00 (+1.00 to +3.00) over popularity"}},
	} {
		facts := ProtocolOutcome{Name: c.name, Vocabulary: c.vocabulary, Gains: c.gains}.answer([]int{5, 10, 20}, .95)
		if len(facts) != len(c.want) {
			t.Errorf("%s: %+v", c.name, facts)
			continue
		}
		for i, f := range facts {
			if got := f.Label + ": " + f.Value; got != c.want[i] {
				t.Errorf("%s: %q, want %q", c.name, got, c.want[i])
			}
		}
		if !strings.Contains(facts[0].Note, "95 % interval") {
			t.Errorf("%s: note %q", c.name, facts[0].Note)
		}
	}
}
