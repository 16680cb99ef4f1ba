package audit

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// Release is one noisy sum of a run that an audit draws again and again, on the values that a canary changes.
type Release struct {
	Purpose     string  // as the ledger calls it
	Sensitivity float64 // the largest length of what one unit adds, by the ledger
	Deviation   float64 // of the noise of each value, by the ledger
	Rate        float64 // chance that a unit is in the sum, in (0, 1]
	Cols        int     // values that the canary changes
	// Draw returns the released values of len(d.In) canaries (len(d.In), Cols). Each has values of its own, as in one
	// release over as many times the items. It runs the mechanism and the clipping of the program. Draws with other
	// keys have other noise. Several goroutines may call it.
	Draw func(d Draw) ([]float64, error)
}

// Draw says how a release is drawn again.
type Draw struct {
	Key uint64
	In  []bool // which canaries are in the data
	Off bool   // with a billionth of the noise, and with every canary that is in the data in the sample
}

// Quiet is the factor of the noise of a Draw that is Off.
const Quiet = 1e-9

func (r Release) validate() error {
	switch {
	case r.Purpose == "" || r.Draw == nil:
		return errors.New("a release without a purpose or a draw")
	case !(r.Sensitivity > 0) || math.IsInf(r.Sensitivity, 1) || !(r.Deviation > 0) || math.IsInf(r.Deviation, 1):
		return fmt.Errorf("%s: sensitivity %v and deviation %v, want positive and finite", r.Purpose, r.Sensitivity,
			r.Deviation)
	case !(r.Rate > 0 && r.Rate <= 1):
		return fmt.Errorf("%s: rate is %v, want above 0 and at most 1", r.Purpose, r.Rate)
	case r.Cols < 1:
		return fmt.Errorf("%s: a canary changes %d values, want at least 1", r.Purpose, r.Cols)
	}
	return nil
}

// Auditor scores canaries by what a run releases. It knows all that is released of others, what a canary adds, and the
// noise that the ledger states. It is safe for concurrent use.
type Auditor struct {
	releases []Release
	rest     [][]float64 // what others add to each release, on its values
	term     [][]float64 // what a canary adds
	pair     [2]int      // releases whose difference is the second score; the same number twice: there is none
}

// pilot is the number of draws that choose the pair of releases.
const pilot = 64

// NewAuditor returns the auditor of releases. It draws each without noise to learn what a canary adds, and a few times
// with noise to find the two releases that tell most together. Keys of draws from 1<<62 on are its own.
func NewAuditor(releases []Release) (*Auditor, error) {
	a := &Auditor{releases: releases, rest: make([][]float64, len(releases)), term: make([][]float64, len(releases))}
	if len(releases) == 0 {
		return nil, errors.New("auditor: there are no releases")
	}
	total := 0.0
	for i, r := range releases {
		if err := r.validate(); err != nil {
			return nil, fmt.Errorf("auditor: %w", err)
		}
		x, err := r.draw(Draw{Key: 1 << 62, In: []bool{false, true}, Off: true})
		if err != nil {
			return nil, err
		}
		a.rest[i], a.term[i] = x[:r.Cols], make([]float64, r.Cols)
		least := 1e3 * Quiet * r.Deviation // what the noise that is left may add
		for j, v := range x[r.Cols:] {
			if d := v - x[j]; math.Abs(d) > least {
				a.term[i][j] = d
			}
		}
		total += norm(a.term[i])
	}
	if total == 0 {
		return nil, errors.New("auditor: a canary adds nothing to any release")
	}
	return a, a.choosePair()
}

// draw returns a release's values, which must be as many as it says.
func (r Release) draw(d Draw) ([]float64, error) {
	x, err := r.Draw(d)
	if err == nil && len(x) != len(d.In)*r.Cols {
		err = fmt.Errorf("%d values for %d canaries, want %d each", len(x), len(d.In), r.Cols)
	}
	if err != nil {
		return nil, fmt.Errorf("draw %s again: %w", r.Purpose, err)
	}
	return x, nil
}

func norm(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v * v
	}
	return math.Sqrt(sum)
}

// Scores holds for every canary of a draw how much the releases look as if it were in the data.
type Scores struct {
	// Likelihood is the logarithm of the ratio of the releases' likelihoods, with the canary and without, by the noise
	// that the ledger states.
	Likelihood []float64
	// Difference is the difference of two releases, each in units of its noise, along what a canary adds to it. Noise
	// that is the same in both cancels. Nil: no two releases can be compared.
	Difference []float64
	// Noise holds for every release the sums of the squares of its values without what others add, in units of the
	// noise, over the canaries that are out.
	Noise [][]float64
	Out   int // canaries that are out
}

// Score draws all releases once more, for as many canaries as d says, and returns their scores.
func (a *Auditor) Score(d Draw) (Scores, error) {
	s := Scores{Likelihood: make([]float64, len(d.In)), Noise: make([][]float64, len(a.releases))}
	for _, in := range d.In {
		if !in {
			s.Out++
		}
	}
	var direction []float64
	if a.pair[0] != a.pair[1] {
		s.Difference, direction = make([]float64, len(d.In)), a.direction(a.pair)
	}
	for i, r := range a.releases {
		x, err := r.draw(d)
		if err != nil {
			return Scores{}, err
		}
		sign := 0.0
		switch {
		case direction != nil && i == a.pair[0]:
			sign = 1
		case direction != nil && i == a.pair[1]:
			sign = -1
		}
		s.Noise[i] = make([]float64, r.Cols)
		half := norm(a.term[i]) / r.Deviation
		half *= half / 2
		for k, in := range d.In {
			row, along, apart := x[k*r.Cols:(k+1)*r.Cols], 0.0, 0.0
			for j, v := range row {
				y := (v - a.rest[i][j]) / r.Deviation
				along += y * a.term[i][j]
				if sign != 0 {
					apart += sign * y * direction[j]
				}
				if !in {
					s.Noise[i][j] += y * y
				}
			}
			s.Likelihood[k] += mixed(r.Rate, along/r.Deviation-half)
			if sign != 0 {
				s.Difference[k] += apart
			}
		}
	}
	return s, nil
}

// mixed returns log(1 - q + q e^x).
func mixed(q, x float64) float64 {
	switch {
	case q == 1:
		return x
	case x > 0:
		return x + math.Log(q+(1-q)*math.Exp(-x))
	}
	return math.Log1p(q * math.Expm1(x))
}

// direction returns the difference of what a canary adds to two releases, each in units of its noise, scaled to length
// 1; nil if there is none, or if the releases are on different values.
func (a *Auditor) direction(pair [2]int) []float64 {
	p, q := a.releases[pair[0]], a.releases[pair[1]]
	if p.Cols != q.Cols {
		return nil
	}
	d := make([]float64, p.Cols)
	for j := range d {
		d[j] = a.term[pair[0]][j]/p.Deviation - a.term[pair[1]][j]/q.Deviation
	}
	n := norm(d)
	if !(n > 1e-6*(norm(a.term[pair[0]])/p.Deviation+norm(a.term[pair[1]])/q.Deviation)) {
		return nil
	}
	for j := range d {
		d[j] /= n
	}
	return d
}

// choosePair finds the two releases whose difference stands out most from its noise. Independent noise leaves all pairs
// below the likelihood of all releases, whichever is taken.
func (a *Auditor) choosePair() error {
	draws, in := make([][]float64, len(a.releases)), make([]bool, pilot)
	for i, r := range a.releases {
		x, err := r.draw(Draw{Key: 1<<62 + 1, In: in})
		if err != nil {
			return err
		}
		for k := range in {
			for j := range r.Cols {
				x[k*r.Cols+j] = (x[k*r.Cols+j] - a.rest[i][j]) / r.Deviation
			}
		}
		draws[i] = x
	}
	best := 0.0
	for p := range a.releases {
		for q := p + 1; q < len(a.releases); q++ {
			d := a.direction([2]int{p, q})
			if d == nil {
				continue
			}
			sum, shift := 0.0, 0.0
			for j := range d {
				shift += d[j] * (a.term[p][j]/a.releases[p].Deviation - a.term[q][j]/a.releases[q].Deviation)
			}
			for k := range in {
				apart := 0.0
				for j := range d {
					apart += d[j] * (draws[p][k*len(d)+j] - draws[q][k*len(d)+j])
				}
				sum += apart * apart
			}
			if power := shift / math.Sqrt(sum/pilot+1e-12); power > best {
				best, a.pair = power, [2]int{p, q}
			}
		}
	}
	return nil
}

// Seen says what an auditor saw of one release.
type Seen struct {
	Purpose string `json:"purpose"`
	// Adds is the length of what the canary adds, in units of the sensitivity in the ledger: at most 1, if all is
	// right.
	Adds float64 `json:"adds"`
	// Least and Most are the deviations of the noise of single values, in units of that in the ledger.
	Least float64 `json:"least_noise"`
	Most  float64 `json:"most_noise"`
	draws float64
}

// Seen returns what the auditor saw of each release, from the sums of the squares of its noise over so many draws.
func (a *Auditor) Seen(squares [][]float64, draws int) []Seen {
	out := make([]Seen, len(a.releases))
	for i, r := range a.releases {
		n := float64(max(1, draws))
		out[i] = Seen{Purpose: r.Purpose, Adds: norm(a.term[i]) / r.Sensitivity, draws: n,
			Least: math.Sqrt(slices.Min(squares[i]) / n), Most: math.Sqrt(slices.Max(squares[i]) / n)}
	}
	return out
}

// Pair names the two releases of Scores.Difference; empty if there are none.
func (a *Auditor) Pair() []string {
	if a.pair[0] == a.pair[1] {
		return nil
	}
	return []string{a.releases[a.pair[0]].Purpose, a.releases[a.pair[1]].Purpose}
}

// odd is how many deviations a measured noise must lie below the stated one to be named: by chance, of a million
// values, once in 1e9 audits.
const odd = 8

// Fault returns a sentence on what of the release does not fit the ledger; empty if nothing.
func (s Seen) Fault() string {
	switch {
	case s.Adds > 1+1e-6:
		return fmt.Sprintf("what one unit adds to %s is %.4g of the sensitivity in the ledger", s.Purpose, s.Adds)
	case s.Adds == 0:
		return fmt.Sprintf("the canary adds nothing to %s", s.Purpose)
	case s.Least < 1-odd/math.Sqrt(2*s.draws) && s.Most-s.Least > odd/math.Sqrt(s.draws):
		return fmt.Sprintf("the noise of %s is from %.3g of what the ledger states to %.3g, by value", s.Purpose,
			s.Least, s.Most)
	case s.Least < 1-odd/math.Sqrt(2*s.draws):
		return fmt.Sprintf("the noise of %s is %.3g of what the ledger states", s.Purpose, s.Least)
	}
	return ""
}
