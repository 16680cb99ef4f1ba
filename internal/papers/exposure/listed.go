package exposure

import (
	"fmt"
	"math"

	"privrec/internal/experiment"
	"privrec/internal/metrics"
	"privrec/internal/papers/exposure/protect"
)

// evaluations returns the points of the figures as evaluations: those of a protection as "random, uniform, ratio 0.2,
// clean attacker", with the accuracy of recommendations, and those of slates of a length as "slates of 5". The results
// on unprotected slates are the point of ratio 0 of every mechanism with ratios.
func (f *Figures) evaluations(ms []metrics.Metric) (out []experiment.Scores) {
	of := func(name string, values map[string]float64, accuracy share) {
		s := experiment.Scores{Name: name, Values: map[string]float64{}}
		for _, m := range ms {
			s.Values[m.String()] = values[m.String()]
		}
		if !math.IsNaN(float64(accuracy)) {
			s.Values[metrics.Accuracy.String()] = float64(accuracy)
		}
		out = append(out, s)
	}
	var clean *FigurePoint
	begun := map[string]bool{}
	for i := range f.Points {
		p := &f.Points[i]
		if p.Ratio == 0 && p.Epsilon == 0 {
			clean = p
			continue
		}
		if clean != nil && p.Ratio > 0 && !begun[p.Mechanism] {
			begun[p.Mechanism] = true
			for _, a := range clean.Attackers {
				of(fmt.Sprintf("%s, ratio 0, %s attacker", p.Mechanism, a.Name), a.Values, clean.Accuracy)
			}
		}
		strength := fmt.Sprintf("ratio %g", p.Ratio)
		if p.Mechanism == protect.ReplaceRR {
			strength = fmt.Sprintf("epsilon %g", p.Epsilon)
		}
		for _, a := range p.Attackers {
			of(fmt.Sprintf("%s, %s, %s attacker", p.Mechanism, strength, a.Name), a.Values, p.Accuracy)
		}
	}
	for _, p := range f.Slates {
		of(fmt.Sprintf("slates of %d", p.Length), p.Values[0].Values, share(math.NaN()))
	}
	return out
}
