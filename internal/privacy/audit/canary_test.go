package audit

import (
	"math"
	"strings"
	"testing"

	"privrec/internal/rng"
)

func TestCanaryRefusals(t *testing.T) {
	coins, err := NewCoins(rng.Seed(1).Stream("coins"), 4)
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Level: 0.1}
	scores, rules := []float64{1, 2, 3, 4}, []Rule{{1, 1}}
	for want, call := range map[string]func() error{
		"canaries are 0":    func() error { _, err := NewCoins(rng.Stream{}, 0); return err },
		"3 guesses about 4": func() error { _, err := coins.Count(make([]Guess, 3)); return err },
		"5 guesses about 4": func() error { _, err := coins.Rates(make([]Guess, 5)); return err },
		"guess 2 is 7":      func() error { _, err := coins.Count([]Guess{0, 0, 7, 0}); return err },
		"2 in and 3 out":    func() error { _, err := (Rule{2, 3}).Guess(scores); return err },
		"-1 in":             func() error { _, err := (Rule{-1, 0}).Guess(scores); return err },
		"0 in and -1 out":   func() error { _, err := (Rule{0, -1}).Guess(scores); return err },
		"score 1 is not":    func() error { _, err := (Rule{1, 1}).Guess([]float64{1, math.NaN()}); return err },
		"score 0 is not":    func() error { _, err := (Threshold{0, 1}).Guess([]float64{math.NaN()}); return err },
		"thresholds are 2":  func() error { _, err := (Threshold{2, 1}).Guess(scores); return err },
		"thresholds are N":  func() error { _, err := (Threshold{math.NaN(), 1}).Guess(scores); return err },
		"no rules":          func() error { _, _, err := Best(coins, scores, nil, o, OneRun); return err },
		"3 scores of 4":     func() error { _, _, err := Best(coins, scores[:3], rules, o, OneRun); return err },
		"rule 1: ":          func() error { _, _, err := Best(coins, scores, []Rule{{1, 1}, {9, 9}}, o, OneRun); return err },
		"best of several rules: score": func() error {
			_, _, err := Best(coins, []float64{1, 2, 3, math.NaN()}, rules, o, OneRun)
			return err
		},
	} {
		if err := call(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
}

func TestCoins(t *testing.T) {
	const n = 200000
	s := rng.Seed(9).Stream("coins")
	coins, err := NewCoins(s, n)
	if err != nil {
		t.Fatal(err)
	}
	s.Uint64() // the position of the caller's stream does not matter
	again, err := NewCoins(s, n+1)
	if err != nil {
		t.Fatal(err)
	}
	in, runs := 0, 0
	for i := range n {
		if coins.In(i) != again.In(i) {
			t.Fatalf("canary %d depends on more than its number", i)
		}
		if coins.In(i) {
			in++
		}
		if i > 0 && coins.In(i) != coins.In(i-1) {
			runs++
		}
	}
	// Binomial with mean n/2 and standard deviation sqrt(n)/2: 6.2 of them have
	// probability 6e-10 for each of the two.
	for _, c := range []int{in, runs} {
		if math.Abs(float64(c)-n/2) > 6.2*math.Sqrt(n)/2 {
			t.Errorf("%d canaries in, %d changes of %d", in, runs, n)
		}
	}
	if coins.In(-1) || coins.In(n) || coins.Len() != n {
		t.Error("canaries that do not exist")
	}
}

func TestRules(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct {
		rule interface {
			Guess([]float64) ([]Guess, error)
		}
		scores []float64
		want   []Guess
	}{
		{Rule{1, 2}, []float64{3, 1, 2, 5}, []Guess{0, -1, -1, 1}},
		{Rule{2, 0}, []float64{1, 1, 1, 1}, []Guess{1, 1, 0, 0}}, // ties: by number
		{Rule{0, 1}, []float64{1, 1, 1, 1}, []Guess{0, 0, 0, -1}},
		{Rule{0, 0}, []float64{1, 2}, []Guess{0, 0}},
		{Rule{1, 1}, []float64{inf, 0, -inf}, []Guess{1, 0, -1}},
		{Rule{}, nil, []Guess{}},
		{Threshold{-1, 1}, []float64{1, 0.5, -1, -1.5}, []Guess{1, 0, 0, -1}},
		{Threshold{0, 0}, []float64{0, -0.1, 3}, []Guess{1, -1, 1}},
	} {
		got, err := c.rule.Guess(c.scores)
		if err != nil || len(got) != len(c.want) {
			t.Fatalf("%+v %v: %v, %v", c.rule, c.scores, got, err)
		}
		for i := range got {
			if got[i] != c.want[i] {
				t.Errorf("%+v %v: %v, want %v", c.rule, c.scores, got, c.want)
				break
			}
		}
	}
}

// Counts and rates of known guesses.
func TestCounting(t *testing.T) {
	coins, err := NewCoins(rng.Seed(6).Stream("coins"), 1000)
	if err != nil {
		t.Fatal(err)
	}
	guesses, in := make([]Guess, 1000), int64(0)
	for i := range guesses {
		if coins.In(i) {
			in++
		}
		switch {
		case i < 300: // right
			guesses[i] = Out
			if coins.In(i) {
				guesses[i] = In
			}
		case i < 400: // wrong
			guesses[i] = In
			if coins.In(i) {
				guesses[i] = Out
			}
		}
	}
	c, err := coins.Count(guesses)
	if want := (Count{1000, 400, 300}); err != nil || c != want {
		t.Errorf("%+v, want %+v, %v", c, want, err)
	}
	r, err := coins.Rates(guesses)
	if err != nil || r.Positives != in || r.Negatives != 1000-in || r.TruePositives+r.FalsePositives == 0 {
		t.Errorf("%+v of %d in, %v", r, in, err)
	}
	for i := range guesses {
		guesses[i] = In
	}
	if r, err = coins.Rates(guesses); err != nil || r != (Rates{in, in, 1000 - in, 1000 - in}) {
		t.Errorf("all in: %+v of %d in, %v", r, in, err)
	}
}

// Choosing among rules finds the good one, pays for the choice, and finds nothing
// in scores that mean nothing: the largest of 40 uncorrected bounds at level 0.05
// would, with probability near one. The level here is 1e-9 for each of 5 seeds.
func TestChoosing(t *testing.T) {
	const n = 20000
	var rules []Rule
	for k := 25; k <= 500; k += 25 {
		rules = append(rules, Rule{k, k}, Rule{k, 0})
	}
	o := Options{Level: 1e-9}
	for seed := range rng.Seed(5) {
		coins, err := NewCoins(seed.Stream("coins"), n)
		if err != nil {
			t.Fatal(err)
		}
		noise, scores := seed.Stream("noise"), make([]float64, n)
		for i := range scores {
			scores[i] = noise.NormFloat64()
		}
		if _, b, err := Best(coins, scores, rules, o, OneRun); err != nil || b.Epsilon != 0 || b.Tests != int64(len(rules)) {
			t.Errorf("noise, best: %+v, %v", b, err)
		}
		// Scores that mean something for the highest 5 % only.
		for i := range scores {
			if i%20 == 0 && coins.In(i) {
				scores[i] += 10
			}
		}
		bad := Rule{n / 2, n / 2}
		rule, b, err := Best(coins, scores, []Rule{bad, {450, 0}, {5000, 0}}, o, OneRun)
		if err != nil || rule.In != 450 || !(b.Epsilon > 1) || b.Tests != 3 {
			t.Errorf("best chose %+v: %+v, %v", rule, b, err)
		}
	}
}

// Coins that were flipped elsewhere count as they fell, and do not change with what they were made of.
func TestFlipped(t *testing.T) {
	in := []bool{true, false, true}
	coins, err := Flipped(in)
	if err != nil {
		t.Fatal(err)
	}
	in[0] = false
	if coins.Len() != 3 || !coins.In(0) || coins.In(1) || !coins.In(2) || coins.In(3) || coins.In(-1) {
		t.Errorf("%+v", coins)
	}
	count, err := coins.Count([]Guess{In, In, Abstain})
	if want := (Count{Canaries: 3, Guesses: 2, Correct: 1}); err != nil || count != want {
		t.Errorf("%+v, %v", count, err)
	}
	if _, err := Flipped(nil); err == nil {
		t.Error("no coins accepted")
	}
}
