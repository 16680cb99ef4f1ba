package nextitem

import (
	"fmt"

	"privrec/internal/dataset"
	"privrec/internal/graph"
)

// Part is one side of the split with its samples.
type Part struct {
	Name      string
	Sequences [][]int32 // by user; items from 1
	Samples   dataset.Samples
	Labels    []int32 // item index from 0 of every sample's label

	sessions *graph.Sessions // of Sequences
}

// NewPart makes a part of sequences of items 1..items.
func NewPart(name string, sequences [][]int32, samples dataset.Samples, items int) (*Part, error) {
	s, err := graph.NewSessions(sequences, items)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return (&Part{Sequences: sequences, sessions: s}).with(name, samples), nil
}

// with is other samples of the same sequences.
func (p *Part) with(name string, samples dataset.Samples) *Part {
	labels := samples.Targets(p.Sequences)
	for i := range labels {
		labels[i]--
	}
	return &Part{Name: name, Sequences: p.Sequences, Samples: samples, Labels: labels, sessions: p.sessions}
}

// All lists the samples.
func (p *Part) All() []int32 {
	all := make([]int32, p.Samples.Len())
	for i := range all {
		all[i] = int32(i)
	}
	return all
}
