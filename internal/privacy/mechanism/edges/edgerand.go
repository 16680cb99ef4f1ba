package edges

import (
	"errors"
	"fmt"
	"math"

	"privrec/internal/privacy"
	"privrec/internal/privacy/mechanism"
	"privrec/internal/privacy/mechanism/internal/observe"
	"privrec/internal/rng"
)

// EdgeRand describes randomised response on every cell of an adjacency matrix (the baseline of the RDP-GCF paper, after
// Wu, Long, Zhang, Li, "LinkTeller", IEEE S&P 2022, who draw a cell with probability 2/(e^eps+1) and replace it by a
// fair coin). It flips each cell with probability Flip = 1/(e^eps+1). Any output is at most e^eps times as likely with
// an edge as without it.
type EdgeRand struct {
	Purpose string          // names the release in the ledger
	Epsilon float64         // of one cell, positive and at most MaxEdgeEpsilon
	Unit    privacy.Unit    // what a one in the matrix is: Edge or Interaction
	Limit   int64           // largest expected number of ones in the output; 0 is 2^31
	Share   mechanism.Share // of the run's false-alarm probability
}

// MaxEdgeEpsilon is the largest epsilon of EdgeRand. Above it no cell of any matrix that fits a
// machine would ever be flipped.
const MaxEdgeEpsilon = 64

// Flip returns the probability that a cell changes, rounded up.
func (m EdgeRand) Flip() float64 { return (1 + 0x1p-50) / (math.Exp(m.Epsilon) + 1) }

// Event returns one release as an accountant sees it.
func (m EdgeRand) Event() privacy.RandomizedResponse {
	return privacy.RandomizedResponse{Epsilon: m.Epsilon, Categories: 2, Unit: m.Unit}
}

// Expected returns the mean number of ones in the output for a matrix with these numbers of
// cells and ones, and the share of them that were ones before.
func (m EdgeRand) Expected(cells, edges int64) (ones, trueShare float64) {
	return flips{drop: m.Flip(), add: m.Flip()}.expected(cells, edges)
}

// PerturbEdgeRand returns a perturbed copy of a and records one release. The result depends only on the stream and on
// a, for any number of processors. Memory is that of the output; time is about a second for 10^9 cells, and less if few
// are flipped.
func PerturbEdgeRand(m EdgeRand, l *privacy.Ledger, s rng.Stream, a Adjacency) (Adjacency, error) {
	if m.Epsilon > MaxEdgeEpsilon {
		return Adjacency{}, fmt.Errorf("%s: epsilon is %v, want positive and at most %d", m.Purpose, m.Epsilon,
			MaxEdgeEpsilon)
	}
	f := flips{purpose: m.Purpose, unit: m.Unit, drop: m.Flip(), add: m.Flip(), limit: m.Limit, share: m.Share,
		newField: mechanism.NewField}
	return f.perturb(m.Event(), l, s, a)
}

// flips turns every one into a zero with probability drop and every zero into a one with probability add, each
// independently.
type flips struct {
	purpose   string
	unit      privacy.Unit
	drop, add float64
	limit     int64
	share     mechanism.Share
	newField  func(p float64) *mechanism.Field
}

func (f flips) expected(cells, edges int64) (ones, trueShare float64) {
	kept := float64(edges) * (1 - f.drop)
	if ones = kept + float64(cells-edges)*f.add; ones > 0 {
		trueShare = kept / ones
	}
	return ones, trueShare
}

// edgeUnit validates what all adjacency mechanisms require.
func edgeUnit(purpose string, e privacy.Event, unit privacy.Unit, share mechanism.Share, l *privacy.Ledger,
	a Adjacency) error {
	if purpose == "" {
		return errors.New("adjacency mechanism: no purpose")
	}
	if err := errors.Join(e.Validate(), share.Validate(), a.Validate()); err != nil {
		return fmt.Errorf("%s: %w", purpose, err)
	}
	if unit != privacy.Edge && unit != privacy.Interaction {
		return fmt.Errorf("%s: unit is %q, want %q or %q: one cell is perturbed, not all of a node", purpose,
			string(unit), privacy.Edge, privacy.Interaction)
	}
	return mechanism.Research(purpose, l)
}

// defaultLimit is the largest expected number of ones in an output by default.
const defaultLimit = 1 << 31

func (f flips) perturb(e privacy.Event, l *privacy.Ledger, s rng.Stream, a Adjacency) (Adjacency, error) {
	if err := edgeUnit(f.purpose, e, f.unit, f.share, l, a); err != nil {
		return Adjacency{}, err
	}
	limit, _ := f.expected(a.Cells(), a.Edges())
	limit += 8 * math.Sqrt(limit) // room for random deviation
	if allowed := f.limit; allowed < 0 || allowed > 0 && limit > float64(allowed) || allowed == 0 &&
		limit > defaultLimit {
		return Adjacency{}, fmt.Errorf("%s: the output is expected to have %.4g ones, the limit is %d (0 is 2^31): "+
			"allow more, or take a larger epsilon", f.purpose, limit, allowed)
	}
	if a.Cells() == 0 {
		return newBuilder(a.Rows, a.Cols, 0).finish(), nil
	}
	if err := l.Record(f.purpose, e, 1); err != nil {
		return Adjacency{}, err
	}
	out, twins := f.sample(s, a, int64(limit))
	kept := inCommon(a, out)
	dropped := mechanism.Proportion{What: "number of ones lost", P: f.drop, N: a.Edges(), Got: a.Edges() - kept}
	added := mechanism.Proportion{What: "number of zeros made ones", P: f.add, N: a.Cells() - a.Edges(),
		Got: out.Edges() - kept}
	if err := mechanism.CheckAll(f.purpose, f.share, &dropped, &added, &twins); err != nil {
		return Adjacency{}, err
	}
	return seen(observe.Begin(f.purpose, e, 1, 1), a, out), nil
}

// The streams of the two kinds of choices.
const (
	dropStream = iota
	addStream
)

func (f flips) sample(s rng.Stream, a Adjacency, capacity int64) (Adjacency, mechanism.Proportion) {
	lost := make([]uint64, a.Edges()/64+1) // a bit an edge
	f.newField(f.drop).Each(s.Sub(dropStream), a.Edges(), func(edges []int64) {
		for _, e := range edges {
			lost[e/64] |= 1 << (e % 64)
		}
	})
	b := newBuilder(a.Rows, a.Cols, capacity)
	w := ones{a: a}
	next := w.cell()
	keepBelow := func(cell int64) { // writes the kept ones before a cell
		for next < cell {
			if lost[w.next/64]>>(w.next%64)&1 == 0 {
				b.add(next)
			}
			w.next++
			next = w.cell()
		}
	}
	twins := f.newField(f.add).Each(s.Sub(addStream), a.Cells(), func(cells []int64) {
		for _, c := range cells {
			keepBelow(c)
			if c != next { // a one has its own choice
				b.add(c)
			}
		}
	})
	keepBelow(math.MaxInt64)
	return b.finish(), twins
}
