package exact

import (
	"errors"
	"fmt"
	"math/big"
)

// Law maps every output with a probability above 0 to that probability.
type Law[O comparable] map[O]*big.Rat

// Mechanism turns an input into an output. It draws all randomness from c, and changes no state that a later run could
// see.
type Mechanism[I, O comparable] func(in I, c *Choices) O

// Enumerate returns the output law of a program. It fails if the program exceeds the limits, misuses its choices or
// does not depend on them alone.
func Enumerate[O comparable](program func(c *Choices) O, limits Limits) (Law[O], error) {
	c := &Choices{limits: limits.filled()}
	ends := []end[O]{}
	for {
		out, err := once(program, c)
		if err == nil && c.depth != len(c.path) {
			err = errors.New("exact: a run ended before its last choice: the mechanism is not a function of its " +
				"input and its choices")
		}
		if err == nil {
			ends = append(ends, end[O]{append([]step{}, c.path...), out})
		} else if !errors.Is(err, exhausted.err) {
			return nil, err
		}
		if !c.advance() {
			break
		}
	}
	return sum(ends), nil
}

// end holds the choices and the output of one run.
type end[O comparable] struct {
	path []step
	out  O
}

// sum returns the law that the ends add up to. They come in the order of their paths, and each reuses the products of
// the path that it shares with the one before.
func sum[O comparable](ends []end[O]) Law[O] {
	law := Law[O]{}
	products := []*big.Rat{big.NewRat(1, 1)}
	var before []step
	for _, e := range ends {
		common := 0
		for common < min(len(before), len(e.path)) && before[common] == e.path[common] {
			common++
		}
		products = products[:common+1]
		for i, s := range e.path[common:] {
			products = append(products, new(big.Rat).Mul(products[common+i], s.at.odd(s.outcome)))
		}
		before = e.path
		if law[e.out] == nil {
			law[e.out] = new(big.Rat)
		}
		law[e.out].Add(law[e.out], products[len(e.path)])
	}
	return law
}

// odd returns the probability of an outcome of a node whose outcomes are all known.
func (n *node) odd(outcome int) *big.Rat {
	if n.odds == nil {
		n.odds = make([]*big.Rat, len(n.weights))
	}
	if n.odds[outcome] == nil {
		n.odds[outcome] = new(big.Rat).Quo(n.weights[outcome], n.total)
	}
	return n.odds[outcome]
}

// once executes one run.
func once[O comparable](program func(c *Choices) O, c *Choices) (out O, err error) {
	c.depth, c.refuse = 0, false
	defer func() {
		switch r := recover().(type) {
		case nil:
		case stop:
			err = r.err
		default:
			panic(r)
		}
	}()
	if out = program(c); c.refuse {
		return out, errors.New("exact: a run ended after a choice it refused")
	}
	return out, nil
}

// Worst returns the largest ratio l/o of the probabilities of one output, and an output that has it. ratio is nil if an
// output of l has no probability under o.
func (l Law[O]) Worst(o Law[O]) (ratio *big.Rat, at O) {
	ratio = new(big.Rat)
	for out, p := range l {
		if p.Sign() == 0 {
			continue
		}
		q := o[out]
		if q == nil || q.Sign() == 0 {
			return nil, out
		}
		if r := new(big.Rat).Quo(p, q); r.Cmp(ratio) > 0 {
			ratio, at = r, out
		}
	}
	return ratio, at
}

// first returns the first output, ordered by text, that has the given ratio l/o. With a nil ratio it returns an output
// without a probability under o.
func (l Law[O]) first(o Law[O], ratio *big.Rat) (at O) {
	least, found := "", false
	for out, p := range l {
		q := o[out]
		none := q == nil || q.Sign() == 0
		if p.Sign() == 0 || none != (ratio == nil) || !none && new(big.Rat).Quo(p, q).Cmp(ratio) != 0 {
			continue
		}
		if text := fmt.Sprint(out); !found || text < least {
			least, at, found = text, out, true
		}
	}
	return at
}
