package protect

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"privrec/internal/dataset/slate"
)

// Setting describes one way to protect slates.
type Setting struct {
	Select  string  // "" with RR, and where nothing is replaced
	Replace string  // "" where nothing is replaced
	Ratio   float64 // 0 with RR
	Epsilon float64 // of RR
}

// Clean reports whether the setting replaces nothing.
func (s Setting) Clean() bool { return s.Ratio == 0 && s.Replace != ReplaceRR }

// Mechanism returns the name of a setting without its strength: settings with one name are points of one curve.
func (s Setting) Mechanism() string {
	if s.Replace == ReplaceRR {
		return ReplaceRR
	}
	return s.Select + ", " + s.Replace
}

// String returns the name of a setting.
func (s Setting) String() string {
	switch {
	case s.Clean():
		return "as they are"
	case s.Replace == ReplaceRR:
		return fmt.Sprintf("%s, epsilon %g", ReplaceRR, s.Epsilon)
	}
	return fmt.Sprintf("%s, ratio %g", s.Mechanism(), s.Ratio)
}

// Grid returns every selection with every replacement at every ratio, in this order, and RR at every epsilon after
// them.
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

// Protected holds the protected slates of a setting that are attacked.
type Protected struct {
	Setting
	Pairs    *slate.Pairs
	Report   Report
	Accuracy float64 // of positions
	Distinct float64 // of distinct items, as the released program counts
	Seconds  float64 // that protecting took

	options Options
}

// Protect returns other pairs of the set protected the same way, with other random choices: the training data of an
// attacker who knows the mechanism but not its choices. part names them.
func (p Protected) Protect(ctx context.Context, part string, pairs *slate.Pairs) (*slate.Pairs, error) {
	if p.Clean() {
		return pairs, nil
	}
	o := p.options
	o.Part = part
	out, _, err := Slates(ctx, pairs, o)
	return out, err
}

// Measure attacks protected slates and returns the results by name, such as recall.
type Measure func(ctx context.Context, p Protected) (map[string]float64, error)

// Point holds a setting and its measurements.
type Point struct {
	Setting
	Report             Report
	Accuracy, Distinct float64
	Values             map[string]float64 // of Measure; nil without one
}

// Sweep protects the pairs under every setting, and once not at all, and calls measure with each, unless it is nil.
// measure may use the attacker trained on clean slates, one that it trains on Protected.Protect of the training pairs,
// or both. Settings run one after the other, so measure may use the whole machine. o has everything but the setting;
// with RR its ledger gets one event for each setting.
func Sweep(ctx context.Context, set *slate.Set, pairs *slate.Pairs, settings []Setting, o Options,
	measure Measure) ([]Point, error) {
	o.Select, o.Replace, o.Ratio, o.Epsilon = "", "", 0, 0
	all := append([]Setting{{}}, settings...)
	points := make([]Point, 0, len(all))
	for _, s := range all {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		p := Protected{Setting: s, Pairs: pairs, options: o}
		p.options.Select, p.options.Replace, p.options.Ratio, p.options.Epsilon = s.Select, s.Replace, s.Ratio,
			s.Epsilon
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

// Accuracy returns the recommendation accuracy of slates (equation 18 of the paper): the share of positions with an
// item that the user clicked in any of their slates, and the same share of the distinct items of a slate, as the
// released program counts. Both are means over the pairs whose user's clicks are known; NaN if there are none. An item
// that the user was never shown counts as not clicked. Unknown items are never clicked, and count as one item.
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
