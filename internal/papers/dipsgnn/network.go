package dipsgnn

import (
	"privrec/internal/autograd"
	"privrec/internal/graph"
	"privrec/internal/protocol/nextitem"
)

// noisy is a nextitem.Network: the network with its user vectors and the noise of a run.
type noisy struct {
	*Network
	user  *nextitem.UserInput
	noise func(q *nextitem.Part) (noise, error) // of a part's aggregations; nil: never any
}

// noise adds to aggregated messages what a mechanism prescribes.
type noise interface {
	// begin fixes which samples of which pass the following calls are about.
	begin(pass nextitem.Pass, samples []int32, g *graph.Packed) Perturb
	// end reports what went wrong since begin.
	end() error
}

// silent adds nothing.
func silent(y *autograd.Node, _ int, _ Direction) *autograd.Node { return y }

// Items implements nextitem.Network.
func (n *noisy) Items() *autograd.Param { return n.Item }

// Params implements nextitem.Network.
func (n *noisy) Params() []*autograd.Param { return append(n.Network.Params(), n.user.Table) }

// Forward implements nextitem.Network.
func (n *noisy) Forward(t *autograd.Tape, s *nextitem.Step) (*autograd.Node, error) {
	user := n.user.Vectors(t, s.Users)
	if n.noise == nil || !s.Noisy {
		return n.Network.Forward(t, s.Graph, user, silent), nil
	}
	a, err := n.noise(s.Part)
	if err != nil {
		return nil, err
	}
	z := n.Network.Forward(t, s.Graph, user, a.begin(s.Pass, s.Samples, s.Graph))
	return z, a.end()
}
