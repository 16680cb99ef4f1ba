package membership

import (
	"fmt"
	"math"

	"privrec/internal/stats"
)

// References holds the scores of candidates under reference models: Score[m][i] for candidate i by model m, which was
// trained on it if In[m][i].
type References struct {
	Score [][]float64
	In    [][]bool
}

// moments holds the mean scores of each candidate in and out of training, and one standard deviation of each kind over
// all candidates.
type moments struct {
	in, out     []float64
	sdIn, sdOut float64
}

// least bounds the standard deviation of a kind from below, as a share of that of all scores.
const least = 1e-6

// moments fails if a candidate has no model of a needed kind, and if all scores are the same.
func (r References) moments(candidates int, online bool) (m moments, err error) {
	if len(r.Score) != len(r.In) {
		return m, fmt.Errorf("membership: %d models with scores, %d with training data", len(r.Score), len(r.In))
	}
	m.in, m.out = make([]float64, candidates), make([]float64, candidates)
	var square [2]float64
	var free [2]int
	for i := range candidates {
		var of [2][]float64
		for k := range r.Score {
			if len(r.Score[k]) != candidates || len(r.In[k]) != candidates {
				return m, fmt.Errorf("membership: model %d has %d scores of %d candidates", k, len(r.Score[k]),
					candidates)
			}
			side := 1
			if r.In[k][i] {
				side = 0
			}
			of[side] = append(of[side], r.Score[k][i])
		}
		if len(of[1]) == 0 || online && len(of[0]) == 0 {
			return m, fmt.Errorf("membership: candidate %d is in %d and out of %d reference models, want at least "+
				"one of each", i, len(of[0]), len(of[1]))
		}
		m.in[i], m.out[i] = stats.Mean(of[0]), stats.Mean(of[1])
		for side, mean := range []float64{m.in[i], m.out[i]} {
			for _, x := range of[side] {
				square[side] += (x - mean) * (x - mean)
			}
			free[side] += max(0, len(of[side])-1)
		}
	}
	sd := func(side int) float64 { return math.Sqrt(square[side] / float64(max(1, free[side]))) }
	var all []float64
	for _, scores := range r.Score {
		all = append(all, scores...)
	}
	spread := stats.SD(all)
	if !(spread > 0) {
		return m, fmt.Errorf("membership: reference models give all candidates the same score: there is nothing to " +
			"tell them by")
	}
	// A model that gives all strangers one score has no spread there. Any other score is then
	// far away, and not infinitely far.
	m.sdIn, m.sdOut = max(sd(0), least*spread), max(sd(1), least*spread)
	return m, nil
}

// Online returns, for each candidate, the log likelihood ratio of its score under models trained on it against models
// that were not (Carlini et al. 2022, algorithm 1). It takes normal distributions with the candidate's means and one
// variance over all candidates.
func (r References) Online(score []float64) ([]float64, error) {
	m, err := r.moments(len(score), true)
	if err != nil {
		return nil, err
	}
	out := make([]float64, len(score))
	for i, x := range score {
		a, b := (x-m.in[i])/m.sdIn, (x-m.out[i])/m.sdOut
		out[i] = (b*b-a*a)/2 + math.Log(m.sdOut/m.sdIn)
	}
	return out, nil
}

// Offline returns how many standard deviations each score lies above its mean under models that
// were not trained on the candidate. It orders candidates as the paper's one-sided probability
// does (section V, offline attack).
func (r References) Offline(score []float64) ([]float64, error) {
	m, err := r.moments(len(score), false)
	if err != nil {
		return nil, err
	}
	out := make([]float64, len(score))
	for i, x := range score {
		out[i] = (x - m.out[i]) / m.sdOut
	}
	return out, nil
}
