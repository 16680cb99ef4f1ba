package stream

import (
	"fmt"
	"slices"
	"testing"

	"privrec/internal/privacy/audit"
	"privrec/internal/rng"
)

// comer is a user of four steps: the items of each.
type comer [4][]int32

// known returns a catalogue, with two users whose rows the auditor knows.
func known() (*Catalogue, []comer) {
	c := &Catalogue{IDs: []string{"a", "b", "c", "d", "e", "f"}}
	c.Choose([]float64{9, 7, 5, 3, 2, 1}, 6, 1, 0.2)
	return c, []comer{{{0, 1}, {2}, nil, {3, 4}}, {nil, {0, 5}, {1}, {2}}}
}

// held returns the counts and the matrix after each step of some users.
func held(s Settings, c *Catalogue, users ...comer) (counts, matrix [][]int64) {
	x := NewSums(s, c)
	for step := range 4 {
		for k, u := range users {
			x.Add(fmt.Sprint(k), u[step])
		}
		counts, matrix = append(counts, slices.Clone(x.Counts)), append(matrix, slices.Clone(x.Matrix))
	}
	return counts, matrix
}

// look returns how much the releases of a sum look like those with the canary, and that number without noise. C of
// what each release adds, less what is known, is what the canary adds and independent noise: its product with C x of
// the canary over the variance is the best score that there is. share is that of the noise that is drawn.
func look(t *testing.T, n Noise, unit, share float64, c [][]float64, all, without, with [][]int64, seed uint64) (score,
	whole float64) {
	n.Deviation *= share
	width := len(all[0])
	series, err := newSeries(n, unit, width, seriesState{})
	if err != nil {
		t.Fatal(err)
	}
	var seen, term [][]float64
	for step := range all {
		draw := rng.Seed(seed).Stream(n.Purpose, uint64(step))
		out, err := series.next(all[step], &draw)
		if err != nil {
			t.Fatal(err)
		}
		of := make([]float64, width)
		for j := range out {
			out[j] -= float64(without[step][j]) * unit
			of[j] = float64(with[step][j]-without[step][j]) * unit
		}
		seen, term = append(seen, out), append(term, of)
	}
	for step := len(seen) - 1; step > 0; step-- { // of the sums, what each step adds
		for j := range width {
			seen[step][j] -= seen[step-1][j]
			term[step][j] -= term[step-1][j]
		}
	}
	y, x := times(c, seen), times(c, term)
	for step := range y {
		for j := range width {
			score += y[step][j] * x[step][j] / (n.Deviation * n.Deviation)
			whole += x[step][j] * x[step][j] / (n.Deviation * n.Deviation)
		}
	}
	return score, whole
}

// An auditor who knows all others, and weighs all releases of a stream in the best way, finds no more than the stated
// epsilon, and at epsilon 8 finds some. With a billionth of the noise it finds more than is stated. The test raises a
// false alarm with a probability of 1e-9 for each bound that must hold, and of less for each that must be found.
func TestAudit(t *testing.T) {
	runs := int64(1500)
	catalogue, others := known()
	worst, slow := comer{{0, 1, 2}, nil, {3}, nil}, comer{{5}, {0}, {1}, {2, 3}}
	for _, of := range []struct {
		epsilon     float64
		strategy    string
		canary      comer
		share       float64
		found, over bool
	}{{8, "blt", worst, 1, true, false}, {8, "banded", slow, 1, true, false}, {1, "banded", worst, 1, false, false},
		{1, "blt", worst, 1e-9, true, true}} {
		s := small(t, of.strategy, len(worst), false)
		s.Epsilon = of.epsilon
		terms, err := s.Terms()
		if err != nil {
			t.Fatal(err)
		}
		strategy, err := s.Design.Strategy()
		if err != nil {
			t.Fatal(err)
		}
		c := dense(strategy.Column(), len(worst))
		counts, matrix := held(s, catalogue, others...)
		countsWith, matrixWith := held(s, catalogue, append(others[:2:2], of.canary)...)
		r := audit.Rates{Positives: runs, Negatives: runs}
		for n := range 2 * runs {
			toCounts, toMatrix, right := counts, matrix, &r.FalsePositives
			if n%2 == 0 {
				toCounts, toMatrix, right = countsWith, matrixWith, &r.TruePositives
			}
			a, wholeA := look(t, terms.Counts, 1, of.share, c, toCounts, counts, countsWith, uint64(n+1))
			b, wholeB := look(t, terms.Matrix, grid, of.share, c, toMatrix, matrix, matrixWith, uint64(n+1))
			if a+b > (wholeA+wholeB)/2 {
				*right++
			}
		}
		b, err := audit.TwoRun(r, audit.Options{Delta: s.Delta, Level: 1e-9})
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%+v: epsilon at least %.3f by %+v", of, b.Epsilon, r)
		if b.Contradicts(of.epsilon) != of.over || of.found && !(b.Epsilon > 0) {
			t.Errorf("%+v: epsilon at least %.3f by %+v", of, b.Epsilon, r)
		}
	}
}
