package audit

import (
	"fmt"
	"math"
	"slices"

	"privrec/internal/rng"
)

// Coins decides by coin flips which canaries are in the data. The coins are independent and fair. Each depends only on
// the stream and the canary's number, so nothing else in a run changes them. The stream belongs to the auditor: if an
// attacker, a model or a rule can read it, every bound is worthless.
type Coins struct {
	stream rng.Stream
	n      int
	flips  []bool // given flips, in place of the stream
}

// NewCoins returns the coins of n canaries, 1 to 2^31.
func NewCoins(s rng.Stream, n int) (Coins, error) {
	if n < 1 || n > maxCanaries {
		return Coins{}, fmt.Errorf("canaries are %d, want 1 to %d", n, int64(maxCanaries))
	}
	return Coins{stream: s.Sub(), n: n}, nil
}

// Flipped wraps coins that were flipped elsewhere; they must be fair and independent. in[i] says whether canary i is in
// the data.
func Flipped(in []bool) (Coins, error) {
	if len(in) < 1 || len(in) > maxCanaries {
		return Coins{}, fmt.Errorf("canaries are %d, want 1 to %d", len(in), int64(maxCanaries))
	}
	return Coins{flips: slices.Clone(in), n: len(in)}, nil
}

// Len returns the number of canaries.
func (c Coins) Len() int { return c.n }

// In reports whether canary i is in the data. It is false if there is no canary i.
func (c Coins) In(i int) bool {
	if i < 0 || i >= c.n {
		return false
	}
	if c.flips != nil {
		return c.flips[i]
	}
	s := c.stream.Sub(uint64(i))
	return s.Uint64()>>63 == 1
}

// Guess is an attacker's answer about one canary.
type Guess int8

// The possible guesses.
const (
	Abstain Guess = 0
	In      Guess = 1
	Out     Guess = -1
)

// Count compares guesses, one for each canary, with the coins.
func (c Coins) Count(guesses []Guess) (Count, error) {
	if len(guesses) != c.n {
		return Count{}, fmt.Errorf("%d guesses about %d canaries", len(guesses), c.n)
	}
	r := Count{Canaries: int64(len(guesses))}
	for i, g := range guesses {
		switch g {
		case Abstain:
			continue
		case In, Out:
		default:
			return Count{}, fmt.Errorf("guess %d is %d, want %d, %d or %d", i, g, Out, Abstain, In)
		}
		r.Guesses++
		if (g == In) == c.In(i) {
			r.Correct++
		}
	}
	return r, nil
}

// Rates returns the outcome of guesses as two error rates over all canaries; an abstention counts as a guess of Out.
// Pass it to TwoRun only if every canary belongs to a training of its own: within one training the canaries are not
// independent, and OneRun is the right test.
func (c Coins) Rates(guesses []Guess) (Rates, error) {
	if _, err := c.Count(guesses); err != nil {
		return Rates{}, err
	}
	var r Rates
	for i, g := range guesses {
		hit := int64(0)
		if g == In {
			hit = 1
		}
		if c.In(i) {
			r.Positives++
			r.TruePositives += hit
		} else {
			r.Negatives++
			r.FalsePositives += hit
		}
	}
	return r, nil
}

// Rule turns scores into guesses: In for the In highest, Out for the Out lowest (Steinke, Nasr,
// Jagielski 2023, algorithm 1). Fix the rule before anything looks at the coins of the canaries
// that it guesses about.
type Rule struct {
	In  int `json:"in"`
	Out int `json:"out"`
}

// Guess returns the guesses that the rule makes from the scores. Ties go to the canary with the lower number, which
// counts as higher. It fails on a rule that guesses more than there are canaries, and on a score that is NaN. Infinite
// scores are allowed.
func (r Rule) Guess(scores []float64) ([]Guess, error) {
	if err := r.fits(len(scores)); err != nil {
		return nil, err
	}
	order, err := descending(scores)
	if err != nil {
		return nil, err
	}
	return r.guesses(order), nil
}

func (r Rule) fits(n int) error {
	if r.In < 0 || r.Out < 0 || r.In > n || r.Out > n-r.In {
		return fmt.Errorf("rule of %d in and %d out for %d canaries", r.In, r.Out, n)
	}
	return nil
}

// guesses applies the rule, which must fit, to canaries in descending order of their scores.
func (r Rule) guesses(order []int) []Guess {
	guesses := make([]Guess, len(order))
	for _, i := range order[:r.In] {
		guesses[i] = In
	}
	for _, i := range order[len(order)-r.Out:] {
		guesses[i] = Out
	}
	return guesses
}

// descending returns the indices of the scores from the highest. Equal scores keep their order.
func descending(scores []float64) ([]int, error) {
	order := make([]int, len(scores))
	for i, s := range scores {
		if math.IsNaN(s) {
			return nil, fmt.Errorf("score %d is not a number", i)
		}
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case scores[a] > scores[b]:
			return -1
		case scores[a] < scores[b]:
			return 1
		}
		return 0
	})
	return order, nil
}
