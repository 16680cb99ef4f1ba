package accountant

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"

	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant/pld"
	"privrec/internal/privacy/accountant/rdp"
	"privrec/internal/privacy/accountant/terms"
	"privrec/internal/privacy/numeric"
)

// TradeOff bounds from above how well any attacker tells members from outsiders: for each false positive rate, the
// share of outsiders taken for members, how many of the members are found at most. It is 1 - f of f-differential
// privacy (Dong, Roth, Su, "Gaussian differential privacy", JRSS-B 2022), for both orders of the neighbours at once
// (their definition F.1).
//
// It comes from the whole privacy curve and not from one (epsilon, delta): each point of the curve gives two bounds
// (their proposition 2.12), for every false positive rate a,
//
//	TPR <= e^epsilon a + delta,   TPR <= 1 - e^-epsilon (1 - delta - a)
//
// and the smallest of all of them counts. Every delta is an upper bound and the points are finitely many, so all errors
// go one way: a true positive rate, an advantage and a posterior are never below the true ones.
type TradeOff struct {
	privacy.Subject
	Method      string                // analytic: the closed curve of Gaussians; pld: certified; rdp: a bound
	Notes       []string              // why another method was used
	Unprotected []privacy.Unprotected // why every member may be found

	mu         float64 // of the closed curve
	eps, delta []float64
	up, down   []float64   // e^eps and e^-eps
	pieces     []curvePart // of blockPoints points each
	lower      float64
}

// blockPoints is the number of points in a block. A search for the least bound skips a block whose own bound is not
// below the least so far.
const blockPoints = 64

// curvePart bounds the points of one block from below.
type curvePart struct{ up, down, delta float64 } // least e^eps, largest e^-eps, least delta

// TradeOff returns the trade-off bound for everything that was charged. Gaussians alone have a closed form. Everything
// else uses the certified curve of package pld, or the Rényi curve if pld has none.
func (a *Account) TradeOff() (*TradeOff, error) {
	t := &TradeOff{Subject: a.about(), Method: string(Analytic), Unprotected: a.list.WithoutNoise}
	if len(t.Unprotected) > 0 || len(a.list.Terms)+len(a.list.Parallels) == 0 {
		return t, nil
	}
	var why error
	if a.method != RDP {
		if mu2, err := sumMu2(a.list); err == nil {
			t.mu = math.Sqrt(mu2)
			return t, nil
		}
		ts, err := a.list.Worst()
		if err == nil && len(ts) == 0 { // parallel branches that release nothing
			return t, nil
		}
		var p pld.Profile
		if err == nil {
			p, err = pld.DeltaProfile(a.context(), ts)
		}
		if err == nil {
			t.Method, t.lower = string(PLD), p.Lower
			t.of(p.Epsilon, p.Delta)
			return t, nil
		}
		why = err
	}
	if err := a.context().Err(); err != nil {
		return nil, err
	}
	if err := t.renyi(a.context(), a.list); err != nil {
		return nil, fmt.Errorf("no trade-off curve: %w", errors.Join(why, err))
	}
	if why != nil {
		t.Notes = append(t.Notes, fmt.Sprintf("the trade-off curve is that of the rényi bound, since %v", why))
	}
	return t, nil
}

// renyiPoints is the number of points taken from a Rényi curve.
const renyiPoints = 200

// renyi fills in the points from the bound of Rényi DP.
func (t *TradeOff) renyi(ctx context.Context, l terms.List) error {
	c, err := rdp.FromList(l)
	if err != nil {
		return err
	}
	far, err := rdp.Epsilon(ctx, c, 1e-6, rdp.Options{})
	if err != nil {
		return err
	}
	t.Method = string(RDP)
	var all, deltas []float64
	for i := range renyiPoints + 1 {
		eps := far.Epsilon * float64(i) / renyiPoints
		p, err := rdp.Delta(ctx, c, eps, rdp.Options{})
		if err != nil {
			return err
		}
		all, deltas = append(all, eps), append(deltas, math.Min(p.Delta, 1))
	}
	t.of(all, deltas)
	return nil
}

// of fills in the points of a curve.
func (t *TradeOff) of(eps, delta []float64) {
	t.eps, t.delta = eps, delta
	t.up, t.down = make([]float64, len(eps)), make([]float64, len(eps))
	for i, e := range eps {
		t.up[i], t.down[i] = math.Exp(e), math.Exp(-e)
	}
	for lo := 0; lo < len(eps); lo += blockPoints {
		hi := min(lo+blockPoints, len(eps))
		t.pieces = append(t.pieces, curvePart{slices.Min(t.up[lo:hi]), slices.Max(t.down[lo:hi]),
			slices.Min(delta[lo:hi])})
	}
}

// up is more than the relative error of the few operations on one point.
const up = 1 + 1e-14

// TPR returns the largest true positive rate of any attacker at a false positive rate fpr in [0, 1], rounded up.
func (t *TradeOff) TPR(fpr float64) float64 {
	switch {
	case !(fpr >= 0 && fpr <= 1):
		return math.NaN()
	case len(t.Unprotected) > 0 || fpr == 1:
		return 1
	case t.mu > 0:
		return gaussianTPR(t.mu, fpr)
	case t.eps == nil:
		return fpr
	}
	best := 1.0
	for i := 0; i < len(t.eps); i += blockPoints { // a first bound that most blocks are not below
		best = min(best, leastBound(t.up[i], t.down[i], t.delta[i], fpr))
	}
	for k, b := range t.pieces {
		if leastBound(b.up, b.down, b.delta, fpr) >= best { // rounding keeps order: so are all of its points
			continue
		}
		for i := k * blockPoints; i < min((k+1)*blockPoints, len(t.eps)); i++ {
			best = min(best, leastBound(t.up[i], t.down[i], t.delta[i], fpr))
		}
	}
	return math.Max(best, fpr)
}

// leastBound returns the lesser of the two bounds from a point with e^eps, e^-eps and delta. As computed, it never
// rises when grow or d falls or when shrink grows; a bound above 1 counts as 1.
func leastBound(grow, shrink, d, fpr float64) float64 {
	return min((float64(grow*fpr)+d)*up, 1-float64(shrink*max(0, 1-d-fpr)/up)+1e-15)
}

// gaussianTPR returns Phi(Phi^-1(fpr) + mu), rounded up.
func gaussianTPR(mu, fpr float64) float64 {
	if fpr == 0 {
		return 0
	}
	z := -math.Sqrt2*math.Erfcinv(2*fpr) + mu
	z += 1e-14 * (1 + math.Abs(z))
	return math.Min(1, math.Max(fpr, numeric.Upper(-z)*(1+1e-12)))
}

// Advantage returns the largest difference between true and false positive rate of any attacker, rounded up. It is the
// total variation distance, which is delta at epsilon 0.
func (t *TradeOff) Advantage() float64 {
	switch {
	case len(t.Unprotected) > 0:
		return 1
	case t.mu > 0:
		return math.Min(1, math.Erf(t.mu/2/math.Sqrt2)*(1+1e-14))
	case t.eps == nil:
		return 0
	}
	return t.delta[0]
}

// Posterior returns the largest share of true members among those an attacker takes for members, at false positive rate
// fpr. prior is the share of members among all. It is rounded up, and 0 if no one is taken for a member.
func (t *TradeOff) Posterior(prior, fpr float64) float64 {
	tpr := t.TPR(fpr)
	found, wrong := prior*tpr, (1-prior)*fpr
	if found == 0 {
		return 0
	}
	return math.Min(1, found/(found+wrong)*up)
}

// Right returns the largest probability that any attacker guesses correctly who is a member, where prior is the share
// of members: max over a of prior TPR(a) + (1-prior)(1-a), rounded up. Always guessing the more common answer is one of
// these attacks.
func (t *TradeOff) Right(prior float64) float64 {
	// With r = log((1-prior)/prior) it is 1-prior + prior delta(r) for r >= 0, and the same with both
	// exchanged below.
	least := math.Min(prior, 1-prior)
	return math.Min(1, (1-least+least*t.deltaAt(math.Log1p(-least)-math.Log(least)))*up)
}

// deltaAt returns an upper bound on delta at an epsilon of 0 or more.
func (t *TradeOff) deltaAt(eps float64) float64 {
	switch {
	case len(t.Unprotected) > 0:
		return 1
	case t.mu > 0:
		return deltaUp(t.mu, math.Max(0, eps*(1-1e-14)))
	case t.eps == nil:
		return 0
	}
	// Delta falls as epsilon grows: the next point below is a bound.
	i := sort.Search(len(t.eps), func(i int) bool { return t.eps[i] > eps })
	return t.delta[max(i-1, 0)]
}

// Points returns the curve at n false positive rates, from least to 1 with equal factors between
// them, and at 0.
func (t *TradeOff) Points(least float64, n int) (fpr, tpr []float64) {
	fpr = append(fpr, 0)
	for i := range n {
		fpr = append(fpr, math.Pow(least, 1-float64(i)/float64(n-1)))
	}
	for _, a := range fpr {
		tpr = append(tpr, t.TPR(a))
	}
	return fpr, tpr
}
