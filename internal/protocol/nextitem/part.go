package nextitem

import (
	"fmt"

	"privrec/internal/dataset"
	"privrec/internal/graph"
)

// Part is one part of the split with its samples.
type Part struct {
	Name      string
	Sequences [][]int32 // by user; items from 1
	Samples   dataset.Samples
	Labels    []int32 // item index from 0 of every sample's label
	Unknown   int     // further samples, whose labels no training row has: misses of every ranking
	Owner     []int32 // the user of every sequence, where sequences are windows; nil: sequence u is user u's

	graphs *graphs
}

// graphs holds the session graphs of sequences of items 1..items. They are made when a network
// over sessions first asks for them.
type graphs struct {
	items      int
	byPosition bool
	made       *graph.Sessions
}

// NewPart makes a part of sequences of items 1..items.
func NewPart(name string, sequences [][]int32, samples dataset.Samples, items int) *Part {
	return (&Part{Sequences: sequences, graphs: &graphs{items: items}}).with(name, samples)
}

// byPosition makes positions the nodes of the session graphs of the part and of all parts with its sequences: the k-th
// node of a session is its k-th position.
func (p *Part) byPosition() { p.graphs.byPosition = true }

// with returns a part with other samples of the same sequences.
func (p *Part) with(name string, samples dataset.Samples) *Part {
	labels := samples.Targets(p.Sequences)
	for i := range labels {
		labels[i]--
	}
	return &Part{Name: name, Sequences: p.Sequences, Samples: samples, Labels: labels, Owner: p.Owner, graphs: p.graphs}
}

// All lists the indices of all samples.
func (p *Part) All() []int32 {
	all := make([]int32, p.Samples.Len())
	for i := range all {
		all[i] = int32(i)
	}
	return all
}

// Prefix returns the items before the label of a sample, oldest first.
func (p *Part) Prefix(sample int32) []int32 {
	prefix, _ := p.Samples.At(p.Sequences, int(sample))
	return prefix
}

// sessions returns the graphs of the sequences.
func (p *Part) sessions() (*graph.Sessions, error) {
	g := p.graphs
	if g.made == nil {
		sequences, items := p.Sequences, g.items
		if g.byPosition {
			sequences, items = positions(sequences)
		}
		s, err := graph.NewSessions(sequences, items)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.Name, err)
		}
		g.made = s
	}
	return g.made, nil
}

// positions returns sequences of the same lengths that count 1, 2, 3, ..., and the greatest length.
func positions(sequences [][]int32) (of [][]int32, most int) {
	for _, s := range sequences {
		most = max(most, len(s))
	}
	all := make([]int32, most)
	for i := range all {
		all[i] = int32(i + 1)
	}
	for _, s := range sequences {
		of = append(of, all[:len(s)])
	}
	return of, most
}

// Pass numbers one pass over samples among all passes of a run. It keys the noise, so that two passes never draw the
// same noise.
type Pass int

// Passes numbers the passes of a run. Epochs is the largest number of epochs of each training.
type Passes struct{ Epochs int }

// Epoch returns the pass of an epoch of the first training, with its evaluations. e counts
// from 0.
func (p Passes) Epoch(e int) Pass { return Pass(e) }

// Again returns the pass of an epoch of the second training. e counts from 0.
func (p Passes) Again(e int) Pass { return Pass(p.Epochs + e) }

// Final returns the i-th pass after training. i counts from 0: first come the reported
// evaluations, then those that a finished run is asked for.
func (p Passes) Final(i int) Pass { return Pass(2*p.Epochs + i) }

// Rehearsal returns the pass of a forecast's ranking. It comes after all others.
func (p Passes) Rehearsal() Pass { return 1 << 30 }

// Name names the part of the run that a pass belongs to.
func (p Passes) Name(n Pass) string {
	switch {
	case n >= p.Final(0):
		return "final evaluation"
	case n >= p.Again(0):
		return fmt.Sprintf("refit, epoch %d", n-p.Again(0)+1)
	}
	return fmt.Sprintf("epoch %d", n+1)
}
