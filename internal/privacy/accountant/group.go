package accountant

import (
	"errors"
	"fmt"
	"math"

	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant/classic"
	"privrec/internal/privacy/accountant/terms"
)

// mostGroup is the size of the largest group whose units are sampled one by one.
const mostGroup = 1 << 10

// ChargeGroup adds count compositions of an event about single units, at their cost for a group of size units, such as
// a user with that many records. Poisson samples of Gaussians draw each unit of the group independently (Ganesh 2024),
// unless units are exchanged. On all other samples a group is charged as without sampling, which is a bound because
// divergences are jointly convex. The account's unit is the group, its relation that of the event.
func ChargeGroup(a *Account, e privacy.Event, count, size int64) error {
	if e == nil || size < 1 {
		return fmt.Errorf("a group of %d of an event, want at least 1", size)
	}
	about := privacy.Subjects(e)
	if len(about) == 0 {
		return errors.New("the event is about no unit")
	}
	l, err := terms.Flatten(e, count, about[0].Unit, a.relation)
	if err != nil {
		return err
	}
	if len(l.Parallels) > 0 {
		return fmt.Errorf("a group of parallel releases: %w", terms.ErrForm)
	}
	for i, t := range l.Terms {
		_, normal := privacy.LawOf(t.Leaf).(privacy.Gaussian)
		switch {
		case size == 1:
		case t.Rate < 1 && normal && t.Method == privacy.Poisson && t.Relation != privacy.Replace && size <= mostGroup:
			l.Terms[i].Group = size
		default:
			s, _ := privacy.About(t.Leaf)
			if l.Terms[i].Leaf, err = privacy.Group(t.Leaf, size, s); err != nil {
				return err
			}
			l.Terms[i].Rate, l.Terms[i].Method = 1, ""
		}
	}
	return a.charge(l)
}

// Views restates an account in other notions of privacy.
type Views struct {
	Mu  float64 // of Gaussian DP; NaN: none is known
	Rho float64 // of zero-concentrated DP; NaN: none is known
	// Sampled says that something is sampled or allocated to steps. Neither mu nor rho can show that: for large losses
	// a sample is as bad as the whole, so both are those without sampling.
	Sampled bool
}

// Views returns everything that was charged as mu-Gaussian DP (Dong, Roth, Su 2022) and as rho-zCDP (Bun, Steinke, TCC
// 2016). Both are bounds. An epsilon-DP release is mu-Gaussian DP for mu = 2 Phi^-1(e^eps/(1+e^eps)): its curve of two
// lines touches that of mu in three points. Only the last digits are rounded to the nearest. Nothing unprotected may
// have been charged.
func (a *Account) Views() (Views, error) {
	var v Views
	if len(a.list.WithoutNoise) > 0 {
		return v, errors.New("something is unprotected")
	}
	ts, err := a.list.Worst()
	if err != nil {
		return v, err
	}
	mu2 := 0.0
	for _, t := range ts {
		n, pure := float64(t.Count), 0.0
		v.Sampled = v.Sampled || t.Rate < 1
		switch l := privacy.LawOf(t.Leaf).(type) {
		case privacy.Gaussian:
			mu := l.Sensitivity / l.Sigma * math.Max(1, float64(t.Group))
			mu2 += n * mu * mu
			v.Rho += n * mu * mu / 2
			continue
		case privacy.AllocatedGaussian: // as if the steps of every unit were known
			mu := l.Sensitivity / l.Sigma
			mu2 += n * float64(l.Times) * mu * mu
			v.Rho += n * float64(l.Times) * mu * mu / 2
			v.Sampled = true
			continue
		case privacy.TruncatedGaussian: // as if it were in every batch, and displaced another unit
			mu := 2 * l.Sensitivity / l.Sigma
			mu2 += n * mu * mu
			v.Rho += n * mu * mu / 2
			v.Sampled = true
			continue
		case privacy.DiscreteGaussian:
			mu2 = math.NaN()
			v.Rho += n * l.Squared() / (2 * l.Sigma * l.Sigma)
			continue
		case nil, privacy.Exponential:
			return v, fmt.Errorf("no such view of %q", t.Leaf.Kind())
		default:
			pure = l.Pure()
		}
		rho, err := classic.PureToZCDP(pure)
		if err != nil {
			return v, err
		}
		mu := 2 * math.Sqrt2 * math.Erfcinv(2/(1+math.Exp(pure)))
		mu2 += n * mu * mu
		v.Rho += n * rho
	}
	v.Mu = math.Sqrt(mu2)
	return v, nil
}
