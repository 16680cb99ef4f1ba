package slates

import (
	"context"
	"fmt"
	"strings"

	attack "privrec/internal/attack/exposure"
	"privrec/internal/dataset/slate"
	"privrec/internal/stats"
)

// AsMany is the suffix of a floor's name that names as many distinct items for every pair as its attack.
const AsMany = ", as many guesses"

// Fewer reports whether the attack may name fewer distinct items for a pair than a floor under the same protocol:
// several lists repeat each other, and a decoder may end early. It depends on the setting alone, so runs that differ
// only in the seed have the same rows.
func (b *Bench) Fewer(q attack.Protocol, lists int) bool {
	return lists > 1 && q.Budget != attack.BudgetK || b.StopAtEnd
}

// Guesses returns words for the number of items that the floors of a protocol name, if the attack may name fewer; empty
// if both name as many.
func (b *Bench) Guesses(q attack.Protocol, lists int) string {
	switch {
	case !b.Fewer(q, lists):
		return ""
	case q.Budget == attack.BudgetList:
		return ", k guesses of every list"
	}
	return ", " + q.Budget + " guesses"
}

// held ranks by a floor with as many distinct guesses for every pair as an attack made, and returns the gains of the
// attack over it.
func (b *Bench) held(ctx context.Context, f Floor, p *slate.Pairs, got *attack.Result) (*attack.Result, []Gain, error) {
	equal, err := attack.EvaluateLike(ctx, f.Ranker, p, got)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", f.name, err)
	}
	d, err := attack.Difference(got, equal, b.intervals())
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", f.name, err)
	}
	gains := make([]Gain, len(d.Scores))
	for i, s := range d.Scores {
		gains[i] = Gain{Over: f.name, Metric: s.Metric.String(), Floor: stats.Mean(equal.Values[i]),
			Value: s.Pairs.Value, Interval: [2]float64{s.Pairs.Lo, s.Pairs.Hi}, Unequal: d.Unequal}
	}
	return equal, gains, nil
}

// counted returns the gains of counts of clicks over every floor that reads no slate.
func (b *Bench) counted(ctx context.Context, name string, floors []Floor, got *attack.Result) (Counted, error) {
	c := Counted{Name: name, Gains: []Gain{}}
	for _, f := range floors {
		if readsSlates(f.name) {
			continue
		}
		_, gains, err := b.held(ctx, f, b.Test, got)
		if err != nil {
			return c, fmt.Errorf("%s: %w", name, err)
		}
		c.Gains = append(c.Gains, gains...)
	}
	return c, nil
}

// Found holds an attacker's results on the slates of one point of a sweep: means over pairs, and gains over floors that
// name as many distinct items for every pair. Those floors see the same slates.
type Found struct {
	Values  map[string]float64 `json:"values"`
	Guesses map[string]float64 `json:"guesses"` // mean number of distinct items named, by cutoff
	Gains   []Gain             `json:"gains"`
}

// Find measures an attacker and floors under the main protocol.
func (b *Bench) Find(ctx context.Context, r attack.Ranker, p *slate.Pairs, floors []Floor) (f Found, err error) {
	got, err := attack.Evaluate(ctx, r, p, b.Protocols()[0])
	if err != nil {
		return f, err
	}
	f = Found{Values: Means(got), Guesses: map[string]float64{}, Gains: []Gain{}}
	for _, k := range b.Eval.K {
		f.Guesses[Cutoff(k)] = got.MeanGuesses(k)
	}
	for _, floor := range floors {
		_, gains, err := b.held(ctx, floor, p, got)
		if err != nil {
			return f, err
		}
		f.Gains = append(f.Gains, gains...)
	}
	return f, nil
}

// Means returns a result's means over pairs, by metric.
func Means(r *attack.Result) map[string]float64 {
	out := map[string]float64{}
	for i, m := range r.Metrics {
		out[m.String()] = stats.Mean(r.Values[i])
	}
	return out
}

// Gain returns the gain over a floor in a metric.
func (f Found) Gain(over, metric string) (Gain, bool) {
	for _, g := range f.Gains {
		if g.Over == over && g.Metric == metric {
			return g, true
		}
	}
	return Gain{}, false
}

// Floors returns the scores of the floors with as many guesses.
func (f Found) Floors() (list []NamedValues) {
	for _, g := range f.Gains {
		if n := len(list); n == 0 || list[n-1].Name != g.Over+AsMany {
			list = append(list, NamedValues{g.Over + AsMany, map[string]float64{}})
		}
		list[len(list)-1].Values[g.Metric] = g.Floor
	}
	return list
}

// SweepFloors returns the floors for every point of a sweep: one that reads no slate, and one that counts the clicks
// before such slates.
func (b *Bench) SweepFloors() (list []Floor, err error) {
	all, err := b.Floors()
	for _, f := range all {
		if f.name == attack.FloorPopularity || f.name == attack.FloorCooccurrence {
			list = append(list, f)
		}
	}
	return list, err
}

// UnequalNote returns a note on the floors that could not name as many items as the attack; none if all could.
func UnequalNote(gains []Gain) []string {
	var names []string
	seen := map[string]bool{}
	for _, g := range gains {
		if g.Unequal > 0 && !seen[g.Over] {
			seen[g.Over] = true
			names = append(names, fmt.Sprintf("%s for %d pairs", g.Over, g.Unequal))
		}
	}
	if len(names) == 0 {
		return nil
	}
	return []string{"floors that ran out of items before they had named as many as the attack: " +
		strings.Join(names, ", ")}
}
