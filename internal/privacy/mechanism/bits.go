package mechanism

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/bits"

	"privrec/internal/privacy"
	"privrec/internal/rng"
)

// Bits is the source of random bits of a discrete local mechanism: Keyed, Secret or Chosen. The mechanisms refuse the
// zero value.
type Bits struct {
	stream rng.Stream
	secret bool
	set    bool
	forced Forced
}

// Keyed returns bits from a seed. A row's bits come from s.Sub(key of the row), so they are the same for any number of
// workers and any order of the rows. They are for research: anyone with the seed can undo the noise, so a ledger marked
// secure refuses them.
func Keyed(s rng.Stream) Bits { return Bits{stream: s, set: true} }

// Secret returns cryptographic bits. There is no seed, so a run cannot be repeated. They need a ledger marked secure,
// so that the mark of a ledger says which noise a run had.
func Secret() Bits { return Bits{secret: true, set: true} }

// Chosen returns bits without randomness: f makes every choice. If f makes each choice in every way in turn, a caller
// can compute the law of the sampling code. Nothing drawn with it is private, so its ledger must be one in memory that
// is thrown away.
func Chosen(f Forced) Bits { return Bits{set: true, forced: f} }

// Admit validates the arguments that all mechanisms on bits take: a purpose, an event, a share, bits, and a ledger with
// the mark for these bits.
func (b Bits) Admit(purpose string, e privacy.Event, share Share, l *privacy.Ledger) error {
	if purpose == "" {
		return errors.New("local mechanism: no purpose")
	}
	if err := errors.Join(e.Validate(), share.Validate()); err != nil {
		return fmt.Errorf("%s: %w", purpose, err)
	}
	if !b.set {
		return fmt.Errorf("%s: no source of random bits", purpose)
	}
	if err := Marked(l, b.secret); err != nil {
		return fmt.Errorf("%s: %w", purpose, err)
	}
	return nil
}

// Noise returns the mark that a ledger must have for these bits.
func (b Bits) Noise() privacy.Noise {
	if b.secret {
		return privacy.Secure
	}
	return privacy.Research
}

// Draws returns a maker of choices for one goroutine. Its Row sets the row that they are for.
func (b Bits) Draws() Draws {
	if b.secret {
		return Draws{secret: &rng.Secret{}}
	}
	return Draws{base: b.stream, Forced: b.forced}
}

// Draws makes the choices of the discrete mechanisms. A choice is one of two kinds, odds or a
// uniform integer, and both are exact.
type Draws struct {
	base, stream rng.Stream
	secret       rng.Source // nil: stream
	Forced       Forced     // nil except in tests and audits
}

// Forced makes the choices in place of random bits. Tests use it to force draws. Tests and audits also use it to
// compute the exact law of the sampling code, by making every choice in turn.
type Forced interface {
	Keep(o *Odds) bool     // makes the choice of Draws.Keep
	Below(n uint64) uint64 // makes the choice of Draws.Below
	Again()                // the last integer is rejected, and another one is drawn
}

// Row sets the row for which the next choices are made to the one with this key.
func (d *Draws) Row(key ...uint64) {
	if d.secret == nil {
		d.stream = d.base.Sub(key...)
	}
}

func (d *Draws) word() uint64 {
	if d.secret != nil {
		return d.secret.Uint64()
	}
	return d.stream.Uint64()
}

// Keep returns true with probability (Hi 2^64 + Lo)/2^128. It draws the lower half only when
// the upper one does not decide; the law is that of 128 bits.
func (d *Draws) Keep(o *Odds) bool {
	if d.Forced != nil {
		return d.Forced.Keep(o)
	}
	if o.Flat {
		return d.Below(o.Others+1) == 0
	}
	if u := d.word(); u != o.Hi {
		return u < o.Hi
	}
	return d.word() < o.Lo
}

// Below returns a uniform integer in [0, n), n >= 1, without bias (Lemire, "Fast random integer
// generation in an interval", TOMACS 2019).
func (d *Draws) Below(n uint64) uint64 {
	if d.Forced != nil {
		return d.Forced.Below(n)
	}
	hi, lo := bits.Mul64(d.word(), n)
	if lo < n {
		for reject := -n % n; lo < reject; {
			hi, lo = bits.Mul64(d.word(), n)
		}
	}
	return hi
}

// Again tells a Forced that the last integer is rejected and will be drawn again.
func (d *Draws) Again() {
	if d.Forced != nil {
		d.Forced.Again()
	}
}

// Odds holds the probability e^eps/(e^eps+others) of keeping the true value against a number of others, as a threshold
// for 128 random bits. It is rounded down, so that the mechanism spends at most its epsilon. In float64 the other
// values would have probability 0 from eps = 37 on, which is no guarantee at all.
type Odds struct {
	Hi, Lo uint64
	Others uint64 // 0: no other value can be chosen, and nothing is drawn
	Flat   bool   // exactly 1/(others+1)
	P      float64
}

// FlatBelow is the epsilon below which a mechanism treats all inputs alike. Below it, rounding the threshold, by 2^-128
// times the others, would not be small compared with epsilon.
const FlatBelow = 0x1p-64

// saturated is the epsilon from which on all odds are equal: 1-2^-128.
const saturated = 1024

// NewOdds returns the odds at a finite epsilon >= 0.
func NewOdds(epsilon float64, others ...uint64) []Odds {
	list := make([]Odds, len(others))
	if epsilon < FlatBelow {
		for i, n := range others {
			list[i] = Odds{Others: n, Flat: true, P: 1 / (1 + float64(n))}
		}
		return list
	}
	x := ExpBelow(epsilon)
	for i, n := range others {
		hi, lo := threshold(x, n)
		list[i] = Odds{Hi: hi, Lo: lo, Others: n, P: KeepProbability(epsilon, float64(n))}
	}
	return list
}

// NewSetOdds returns the odds of choosing from a set of kept values, each of weight e^epsilon, rather than from others,
// each of weight 1: kept e^epsilon/(kept e^epsilon + others), rounded down to a multiple of 2^-128. Rounding down takes
// probability from the set and gives it to the others, so a value of the set has at most e^epsilon times the
// probability of one of the others. epsilon is finite and at least FlatBelow, kept and others are at least 1.
func NewSetOdds(epsilon float64, kept, others uint64) Odds {
	x := ExpBelow(epsilon) // lower by 2^-200 of it, which covers the rounding of the product
	hi, lo := threshold(x.Mul(x, new(big.Float).SetUint64(kept)), others)
	return Odds{Hi: hi, Lo: lo, Others: others, P: KeepProbability(epsilon, float64(others)/float64(kept))}
}

// KeepProbability returns x/(x+others) for x = e^epsilon, without overflow.
func KeepProbability(epsilon, others float64) float64 { return 1 / (1 + others*math.Exp(-epsilon)) }

// ReplaceProbability returns others/(x+others), to full precision even if it is tiny.
func ReplaceProbability(epsilon, others float64) float64 {
	if others == 0 {
		return 0
	}
	return 1 / (1 + math.Exp(epsilon)/others)
}

// bigPrecision is the precision, in bits, with which thresholds are computed.
const bigPrecision = 512

// threshold returns floor(2^128 x/(x+others)). If that is 2^128, only the true value can be chosen and no threshold is
// needed; it then returns all ones.
func threshold(x *big.Float, others uint64) (hi, lo uint64) {
	if others == 0 {
		return math.MaxUint64, math.MaxUint64
	}
	sum := new(big.Float).SetPrec(bigPrecision).SetUint64(others)
	p := new(big.Float).SetPrec(bigPrecision).Quo(x, sum.Add(sum, x))
	t, _ := p.SetMantExp(p, 128).Int(nil)
	if t.BitLen() > 128 { // others/x below the precision
		return math.MaxUint64, math.MaxUint64
	}
	return new(big.Int).Rsh(t, 64).Uint64(), new(big.Int).And(t, new(big.Int).SetUint64(math.MaxUint64)).Uint64()
}

// ExpBelow returns a number below e^epsilon, by less than 2^-199 relative, for 0 < epsilon <= saturated. For larger
// epsilon it returns e^saturated.
func ExpBelow(epsilon float64) *big.Float {
	number := func() *big.Float { return new(big.Float).SetPrec(bigPrecision) }
	epsilon = math.Min(epsilon, saturated)
	_, e := math.Frexp(epsilon)
	halvings := max(0, e+8)
	r := number().SetFloat64(epsilon)
	r.SetMantExp(r, -halvings) // below 2^-8
	sum, term := number().SetInt64(1), number().SetInt64(1)
	for n := int64(1); term.MantExp(nil) > -bigPrecision; n++ {
		term.Quo(term.Mul(term, r), number().SetInt64(n))
		sum.Add(sum, term)
	}
	for range halvings {
		sum.Mul(sum, sum)
	}
	return sum.Sub(sum, number().SetMantExp(sum, -200))
}
