package exact

import (
	"errors"
	"fmt"
	"math/big"
)

// Law is the probability of every output that has one.
type Law[O comparable] map[O]*big.Rat

// Mechanism turns an input into an output. All its chance comes from c, and it
// changes nothing that a later run could see.
type Mechanism[I, O comparable] func(in I, c *Choices) O

// Enumerate returns the law of a program's output. It fails where the program
// exceeds the limits, misuses its choices or is not a function of them.
func Enumerate[O comparable](program func(c *Choices) O, limits Limits) (Law[O], error) {
	c := &Choices{limits: limits.filled()}
	ends := []end[O]{}
	for {
		out, err := once(program, c)
		if err == nil && c.depth != len(c.path) {
			err = errors.New("exact: a run ended before its last choice: the mechanism is not a function of its input and its choices")
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
	law := Law[O]{}
	odds := map[*node][]*big.Rat{}
	for _, e := range ends {
		p := big.NewRat(1, 1)
		for _, s := range e.path {
			p.Mul(p, s.at.odds(odds)[s.outcome])
		}
		if law[e.out] == nil {
			law[e.out] = p
		} else {
			law[e.out].Add(law[e.out], p)
		}
	}
	return law, nil
}

// end is one run: its choices and its output.
type end[O comparable] struct {
	path []step
	out  O
}

// odds returns the probabilities of a node's outcomes, once all are known.
func (n *node) odds(known map[*node][]*big.Rat) []*big.Rat {
	p := known[n]
	if p == nil {
		p = make([]*big.Rat, len(n.weights))
		for i, w := range n.weights {
			p[i] = new(big.Rat).Quo(w, n.total)
		}
		known[n] = p
	}
	return p
}

// once makes one run.
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

// Total is the sum of the probabilities, 1 in a law from Enumerate.
func (l Law[O]) Total() *big.Rat {
	t := new(big.Rat)
	for _, p := range l {
		t.Add(t, p)
	}
	return t
}

// Difference returns an output to which two laws give other probabilities, as a
// sentence, or "" where they are equal.
func (l Law[O]) Difference(o Law[O]) string {
	at := func(l Law[O], out O) *big.Rat {
		if p := l[out]; p != nil {
			return p
		}
		return new(big.Rat)
	}
	for _, law := range []Law[O]{l, o} {
		for out := range law {
			if p, q := at(l, out), at(o, out); p.Cmp(q) != 0 {
				return fmt.Sprintf("output %v has probability %s and %s", out, p.RatString(), q.RatString())
			}
		}
	}
	return ""
}

// Worst returns the largest ratio l/o of the probabilities of one output, and
// that output; nil where o gives none to an output of l.
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
