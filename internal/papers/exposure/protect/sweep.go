package protect

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"privrec/internal/dataset/slate"
)

// Setting is one way to protect slates.
type Setting struct {
	Select  string  // "" with RR, and where nothing is replaced
	Replace string  // "" where nothing is replaced
	Ratio   float64 // 0 with RR
	Epsilon float64 // of RR
}

// Clean tells whether the setting replaces nothing.
func (s Setting) Clean() bool { return s.Ratio == 0 && s.Replace != ReplaceRR }

// Mechanism names a setting but for its strength: settings of one name are points of one
// curve.
func (s Setting) Mechanism() string {
	if s.Replace == ReplaceRR {
		return ReplaceRR
	}
	return s.Select + ", " + s.Replace
}

// String names a setting.
func (s Setting) String() string {
	switch {
	case s.Clean():
		return "as they are"
	case s.Replace == ReplaceRR:
		return fmt.Sprintf("%s, epsilon %g", ReplaceRR, s.Epsilon)
	}
	return fmt.Sprintf("%s, ratio %g", s.Mechanism(), s.Ratio)
}

// Grid lists every selection with every replacement at every ratio, in this order, and RR
// at every epsilon after them.
func Grid(selects, replaces []string, ratios, epsilons []float64) (list []Setting) {
	for _, how := range selects {
		for _, by := range replaces {
			for _, r := range ratios {
				list = append(list, Setting{Select: how, Replace: by, Ratio: r})
			}
		}
	}
	for _, e := range epsilons {
		list = append(list, Setting{Replace: ReplaceRR, Epsilon: e})
	}
	return list
}

// Protected holds what a setting makes of the slates that are attacked.
type Protected struct {
	Setting
	Pairs    *slate.Pairs
	Report   Report
	Accuracy float64 // of positions
	Distinct float64 // of distinct items, as the released program counts
	Seconds  float64 // that protecting took

	options Options
}

// Protect protects other pairs of the set the same way, by draws of their own: what an
// attacker who knows the mechanism, though not its draws, trains on. part names them.
func (p Protected) Protect(ctx context.Context, part string, pairs *slate.Pairs) (*slate.Pairs, error) {
	if p.Clean() {
		return pairs, nil
	}
	o := p.options
	o.Part = part
	out, _, err := Slates(ctx, pairs, o)
	return out, err
}

// Measure attacks protected slates and names what it found, such as recall.
type Measure func(ctx context.Context, p Protected) (map[string]float64, error)

// Point is a setting with what was measured under it.
type Point struct {
	Setting
	Report             Report
	Accuracy, Distinct float64
	Values             map[string]float64 // of Measure; nil without one
}

// Sweep protects the pairs once as they are and once under every setting, and calls
// measure, unless it is nil, with each: with the attacker that was trained on clean
// slates, with one that it trains on Protected.Protect of the training pairs, or with
// both. One setting follows the other, so that measure may use all of the machine. o
// has everything but the setting; with RR its ledger takes an event a setting.
func Sweep(ctx context.Context, set *slate.Set, pairs *slate.Pairs, settings []Setting, o Options, measure Measure) ([]Point, error) {
	o.Select, o.Replace, o.Ratio, o.Epsilon = "", "", 0, 0
	all := append([]Setting{{}}, settings...)
	points := make([]Point, 0, len(all))
	for _, s := range all {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		p := Protected{Setting: s, Pairs: pairs, options: o}
		p.options.Select, p.options.Replace, p.options.Ratio, p.options.Epsilon = s.Select, s.Replace, s.Ratio, s.Epsilon
		start := time.Now()
		var err error
		if p.Report.Slates = int64(pairs.Len()); !s.Clean() {
			p.Pairs, p.Report, err = Slates(ctx, pairs, p.options)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s, err)
		}
		p.Seconds = time.Since(start).Seconds()
		p.Accuracy, p.Distinct = Accuracy(set, p.Pairs)
		x := Point{Setting: s, Report: p.Report, Accuracy: p.Accuracy, Distinct: p.Distinct}
		if measure != nil {
			if x.Values, err = measure(ctx, p); err != nil {
				return nil, fmt.Errorf("%s: %w", s, err)
			}
		}
		points = append(points, x)
	}
	return points, nil
}

// Accuracy returns the recommendation accuracy of slates (equation 18 of the paper): the
// share of their positions that hold an item which the user clicked in any of
// their slates, and the share of the distinct items of a slate, as the released program counts.
// Both are averaged over the pairs whose user's clicks are known, and NaN where there
// is none. Whether the user would have clicked an item that they were never shown is not
// known: it counts as not. Unknown items are never clicked, and one item together.
func Accuracy(set *slate.Set, p *slate.Pairs) (ofPositions, ofDistinct float64) {
	n := 0
	met := make([]int32, 0, p.T)
	for i, u := range p.Users {
		if u < 0 || int(u) >= len(set.Clicked) || set.Clicked[u] == nil {
			continue
		}
		hits, distinctHits := 0, 0
		met = met[:0]
		for _, item := range p.Slate(i) {
			_, clicked := slices.BinarySearch(set.Clicked[u], item)
			again := slices.Contains(met, item)
			if !again {
				met = append(met, item)
			}
			if clicked {
				hits++
				if !again {
					distinctHits++
				}
			}
		}
		n++
		ofPositions += float64(hits) / float64(p.T)
		ofDistinct += float64(distinctHits) / float64(len(met))
	}
	if n == 0 {
		return math.NaN(), math.NaN()
	}
	return ofPositions / float64(n), ofDistinct / float64(n)
}
