package protect

import (
	"fmt"
	"math"

	"privrec/internal/dataset/slate"
	"privrec/internal/privacy"
	"privrec/internal/rng"
	"privrec/internal/tensor"
)

// SelectNone and the following constants choose the positions of a slate to replace (section 4.1 of the paper).
const (
	SelectNone       = "none"       // none of them
	SelectRandom     = "random"     // uniform
	SelectSimilar    = "similar"    // nearest to the reference first (figures 12 and 13)
	SelectDissimilar = "dissimilar" // farthest from it first (figures 10 and 11)
)

// ReplaceUniform and the following constants choose the replacements (section 4.2). RR is ours: every position goes
// through randomized response over the catalogue, none is selected, and there is a guarantee.
const (
	ReplaceUniform    = "uniform"    // all items alike
	ReplacePopularity = "popularity" // by how often all users were shown them
	ReplaceInBatch    = "in-batch"   // by how often the users of the same batch were shown them
	ReplaceRR         = "rr"
)

// ReferencePast and ReferenceSlate choose what similarity is measured to; one of the authors' two programs uses the
// mean of the slate.
const (
	ReferencePast  = "past"  // mean vector of the user's past behaviour
	ReferenceSlate = "slate" // mean vector of the slate's own items
)

// Selections returns the ways to select positions, without none.
func Selections() []string { return []string{SelectRandom, SelectSimilar, SelectDissimilar} }

// Replacements returns the kinds of replacements; the last has a guarantee.
func Replacements() []string {
	return []string{ReplaceUniform, ReplacePopularity, ReplaceInBatch, ReplaceRR}
}

// Defaults where the paper is silent.
const (
	DefaultTau   = 0.1 // temperature of the weighted draw of positions
	DefaultBatch = 266 // slates that in-batch popularity is taken over: those of the released program
	cosineGuard  = 1e-8
)

// MinEpsilon and MaxEpsilon bound the epsilon of a position, in memory and in files.
const (
	MinEpsilon = 1e-9
	MaxEpsilon = 1000
)

// Method says how slates are protected, in memory and in files. The zero value replaces
// nothing.
type Method struct {
	Select  string  // one of Selections; "" is random. Not with RR, which selects nothing
	Replace string  // one of Replacements; "" is uniform
	Ratio   float64 // of the positions, in [0, 1): ceil(T Ratio) of T change. Not with RR
	Epsilon float64 // of RR: of one position, above 0

	// Weighted draws positions without replacement, with weights softmax(cos/Tau) for similar and softmax(-cos/Tau) for
	// dissimilar. Otherwise the first positions by cosine are selected; ties go by position.
	Weighted  bool
	Tau       float64 // 0 is DefaultTau
	Reference string  // "" is ReferencePast

	// Batch is the number of slates in a batch of in-batch; 0 means DefaultBatch. Each batch has at least that many,
	// unless there are fewer in all.
	Batch int
	// OwnRows keeps the items shown to the victim among the replacements of in-batch, as the released program does: the
	// replacements then reveal the victim's own items.
	OwnRows bool
}

// Options says how slates in memory are protected. In-batch shuffles them before it
// deals them to batches.
type Options struct {
	Method

	// Vectors holds a vector for every token; nil for an item without one, whose cosine is 0. Only similarity needs it.
	Vectors [][]tensor.Float
	Pool    *Pool // what replacements are drawn from

	// Part names the protected pairs, such as test. Pairs under another name get other random choices.
	Part    string
	Ledger  *privacy.Ledger // of RR: takes its event; marked as research
	Seed    rng.Seed
	Under   *rng.Stream // draws are from its children; nil: from Seed
	Workers int         // 0 is 1; what comes out does not depend on it

	// Parallel names the parts that share an event of RR; nil: each has its own, whose epsilons add up, as is necessary
	// if a user is in several.
	Parallel *Parallel
}

// positions returns the number of t positions that a ratio replaces: ceil(t ratio), corrected for the rounding of ratio
// and product, each at most 2^-53 of its value.
func positions(t int, ratio float64) int {
	x := float64(t) * ratio
	if whole := math.Round(x); math.Abs(x-whole) <= 0x1p-51*x {
		return int(whole)
	}
	return int(math.Ceil(x))
}

// fill sets missing values to their defaults.
func (o *Method) fill() {
	fill := func(s *string, otherwise string) {
		if *s == "" {
			*s = otherwise
		}
	}
	fill(&o.Replace, ReplaceUniform)
	fill(&o.Reference, ReferencePast)
	switch {
	case o.Replace != ReplaceRR:
		fill(&o.Select, SelectRandom)
	case o.Select == SelectNone: // another name of the same
		o.Select = ""
	}
	if o.Tau == 0 {
		o.Tau = DefaultTau
	}
	if o.Batch == 0 {
		o.Batch = DefaultBatch
	}
}

// check fills in defaults and refuses what cannot be carried out.
func (o *Options) check(p *slate.Pairs) error {
	o.fill()
	o.Workers = max(o.Workers, 1)
	if err := o.Method.check(); err != nil {
		return err
	}
	switch {
	case p.T < 1:
		return fmt.Errorf("slates of %d items: there is nothing to protect", p.T)
	case o.Pool == nil && (o.Replace == ReplaceRR || positions(p.T, o.Ratio) > 0):
		return fmt.Errorf("no pool of items to draw replacements from")
	case o.Similarity() && o.Vectors == nil && positions(p.T, o.Ratio) > 0:
		return fmt.Errorf("select %s needs vectors of the items", o.Select)
	}
	return nil
}

// Similarity reports whether positions are selected by cosine.
func (o *Method) Similarity() bool {
	return o.Replace != ReplaceRR && (o.Select == SelectSimilar || o.Select == SelectDissimilar)
}

// check refuses an invalid method, whatever the slates.
func (o *Method) check() error {
	known := func(what, s string, list ...string) error {
		for _, x := range list {
			if s == x {
				return nil
			}
		}
		return fmt.Errorf("%s is %q, want one of %v", what, s, list)
	}
	if err := known("replace", o.Replace, Replacements()...); err != nil {
		return err
	}
	if err := known("reference", o.Reference, ReferencePast, ReferenceSlate); err != nil {
		return err
	}
	switch {
	case !(o.Tau > 0) || math.IsInf(o.Tau, 1):
		return fmt.Errorf("tau is %g, want above 0", o.Tau)
	case o.Batch < 2:
		return fmt.Errorf("batch is %d slates, want at least 2", o.Batch)
	case o.Replace == ReplaceRR:
		switch {
		case o.Select != "" || o.Ratio != 0:
			return fmt.Errorf("rr answers every position: it takes an epsilon, neither a selection nor a ratio")
		case !(o.Epsilon >= MinEpsilon && o.Epsilon <= MaxEpsilon):
			return fmt.Errorf("epsilon is %g, want %g to %d", o.Epsilon, MinEpsilon, MaxEpsilon)
		}
		return nil
	case o.Epsilon != 0:
		return fmt.Errorf("epsilon belongs to rr: replacing by %s has no guarantee", o.Replace)
	case !(o.Ratio >= 0 && o.Ratio < 1):
		return fmt.Errorf("ratio is %g, want at least 0 and below 1", o.Ratio)
	}
	return known("select", o.Select, Selections()...)
}

// checkPairs refuses values outside the pool, the vocabulary or the vectors. The error names pair, column and value,
// from 0. It checks only what the method reads: users for in-batch, behaviours and vectors for similarity.
func (o *Options) checkPairs(p *slate.Pairs) error {
	n := p.Len()
	switch {
	case len(p.Slates) != n*p.T:
		return fmt.Errorf("%d pairs of %d items with %d tokens in slates", n, p.T, len(p.Slates))
	case len(p.Behaviours) != n*p.L:
		return fmt.Errorf("%d pairs of %d clicks with %d tokens in behaviours", n, p.L, len(p.Behaviours))
	}
	if o.Replace == ReplaceRR {
		for i, t := range p.Slates {
			if t != slate.OOV && (t < slate.FirstItem || int(t) >= o.Pool.vocab) {
				return fmt.Errorf("slate of pair %d, position %d: token %d, want an item below %d or the unknown one",
					i/p.T, i%p.T, t, o.Pool.vocab)
			}
		}
		return nil
	}
	for i, t := range p.Slates {
		if t < 0 || int(t) >= o.Pool.vocab {
			return fmt.Errorf("slate of pair %d, position %d: token %d, want one below %d", i/p.T, i%p.T, t,
				o.Pool.vocab)
		}
	}
	if o.Replace == ReplaceInBatch {
		for i, u := range p.Users {
			if u < 0 || int(u) >= len(o.Pool.logs) {
				return fmt.Errorf("user of pair %d is %d, want one of the %d of the pool", i, u, len(o.Pool.logs))
			}
		}
	}
	if o.Similarity() {
		return o.checkVectors(p)
	}
	return nil
}

// checkVectors refuses vectors of different lengths, and tokens without a place among them.
func (o *Options) checkVectors(p *slate.Pairs) error {
	dim := 0
	for token, v := range o.Vectors {
		switch {
		case v == nil:
		case dim == 0 && len(v) > 0:
			dim = len(v)
		case len(v) != dim || dim == 0:
			return fmt.Errorf("vector of token %d has %d numbers, those before it %d", token, len(v), dim)
		}
	}
	inside := func(what string, tokens []int32, width int) error {
		for i, t := range tokens {
			if t < 0 || int(t) >= len(o.Vectors) {
				return fmt.Errorf("%s of pair %d, position %d: token %d, want one with a place among the %d vectors",
					what, i/width, i%width, t, len(o.Vectors))
			}
		}
		return nil
	}
	if err := inside("slate", p.Slates, p.T); err != nil || o.Reference != ReferencePast {
		return err
	}
	return inside("behaviour", p.Behaviours, p.L)
}
