package protect

import (
	"fmt"

	"privrec/internal/dataset/slate"
)

// checkPairs refuses what a method would look up outside of the pool, the vocabulary or
// the vectors; the error names pair, column and value, from 0. Only what the method reads
// is checked: users matter to in-batch, behaviours and vectors to similarity.
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
				return fmt.Errorf("slate of pair %d, position %d: token %d, want an item below %d or the unknown one", i/p.T, i%p.T, t, o.Pool.vocab)
			}
		}
		return nil
	}
	for i, t := range p.Slates {
		if t < 0 || int(t) >= o.Pool.vocab {
			return fmt.Errorf("slate of pair %d, position %d: token %d, want one below %d", i/p.T, i%p.T, t, o.Pool.vocab)
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

// checkVectors refuses vectors that do not go together, and tokens without a place among
// them.
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
				return fmt.Errorf("%s of pair %d, position %d: token %d, want one with a place among the %d vectors", what, i/width, i%width, t, len(o.Vectors))
			}
		}
		return nil
	}
	if err := inside("slate", p.Slates, p.T); err != nil || o.Reference != ReferencePast {
		return err
	}
	return inside("behaviour", p.Behaviours, p.L)
}
