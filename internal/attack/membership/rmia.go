package membership

import (
	"fmt"
	"math"
	"slices"

	"privrec/internal/metrics"
)

// corrections is the number of steps, from 0 to 1, in which Correction tries values.
const corrections = 10

// Relative returns, for each candidate, the share of the other candidates z with LR(x, z) >= gamma: the score of RMIA
// (Zarifzadeh et al. 2024). Pr(x) is the mean over models with and without the candidate. The share grows with the
// candidate's own ratio Pr(x|theta) / Pr(x), so that a gamma above 1 orders no two candidates in another way and only
// makes more of them equal.
func (r References) Relative(score []float64, gamma float64) ([]float64, error) {
	p, m, err := r.probabilities(score, true)
	if err != nil {
		return nil, err
	}
	return shares(ratios(p, func(i int) float64 { return (m.in[i] + m.out[i]) / 2 }), gamma)
}

// RelativeOffline returns the scores of Relative with Pr(x) from models without the candidate alone. It takes their
// mean p for Pr(x) = ((1+a) p + 1-a) / 2, where the paper takes a p + 1-a for the mean of models with the
// candidate.
func (r References) RelativeOffline(score []float64, gamma, a float64) ([]float64, error) {
	p, m, err := r.probabilities(score, false)
	if err != nil {
		return nil, err
	}
	return shares(offline(p, m, a), gamma)
}

// Correction returns the a of RelativeOffline that tells best what the first reference model was trained on by the
// others, of 0, 0.1, ... 1. It asks nothing of the attacked model.
func (r References) Correction() (float64, error) {
	if len(r.Score) < 2 || len(r.In) < 2 {
		return 0, fmt.Errorf("membership: %d reference models, want one to attack and one to attack it by",
			len(r.Score))
	}
	p, m, err := References{r.Score[1:], r.In[1:]}.probabilities(r.Score[0], false)
	if err != nil {
		return 0, err
	}
	best, most := 0.0, -1.0
	for k := range corrections + 1 {
		a := float64(k) / corrections
		auc, err := metrics.AUC(offline(p, m, a), r.In[0])
		if err != nil {
			return 0, fmt.Errorf("membership: attack the first reference model: %w", err)
		}
		if auc > most {
			best, most = a, auc
		}
	}
	return best, nil
}

// probabilities returns Pr(x|theta) of each candidate under the attacked model, and its means under the reference
// models.
func (r References) probabilities(score []float64, online bool) ([]float64, moments, error) {
	of := References{Score: make([][]float64, len(r.Score)), In: r.In}
	for k, x := range r.Score {
		of.Score[k] = logistic(x)
	}
	m, err := of.moments(len(score), online)
	return logistic(score), m, err
}

// logistic returns the probabilities that have the given logits.
func logistic(logit []float64) []float64 {
	out := make([]float64, len(logit))
	for i, x := range logit {
		out[i] = 1 / (1 + math.Exp(-x))
	}
	return out
}

// offline returns the ratios of RelativeOffline.
func offline(p []float64, m moments, a float64) []float64 {
	return ratios(p, func(i int) float64 { return ((1+a)*m.out[i] + 1 - a) / 2 })
}

// ratios returns Pr(x|theta) / Pr(x) of each candidate, 1 where both are too small for a number.
func ratios(p []float64, mean func(i int) float64) []float64 {
	out := make([]float64, len(p))
	for i, x := range p {
		if out[i] = x / mean(i); x == mean(i) {
			out[i] = 1
		}
	}
	return out
}

// shares returns, for each ratio, the share of the others that are at most a gamma-th of it.
func shares(ratio []float64, gamma float64) ([]float64, error) {
	if len(ratio) < 2 || !(gamma >= 1) {
		return nil, fmt.Errorf("membership: RMIA of %d candidates at gamma %v, want two at least, and 1 at least",
			len(ratio), gamma)
	}
	sorted := slices.Sorted(slices.Values(ratio))
	out := make([]float64, len(ratio))
	for i, x := range ratio {
		n, _ := slices.BinarySearchFunc(sorted, x/gamma, func(z, most float64) int {
			if z <= most {
				return -1
			}
			return 1
		})
		if gamma == 1 {
			n-- // the candidate itself
		}
		out[i] = float64(n) / float64(len(ratio)-1)
	}
	return out, nil
}
