package forgetting

import (
	"context"
)

// ascent returns a model of the remaining rows that forgot by gradient ascent: epochs passes up the loss of the
// forgotten rows from the parameters of first, and then the repair epochs down the loss of the remaining ones.
func (s *study) ascent(ctx context.Context, first *network, epochs int) (*network, error) {
	lost, err := graphOf(s.data, s.forgotten)
	if err != nil {
		return nil, err
	}
	up, err := s.over(first, first.graph)
	if err != nil {
		return nil, err
	}
	defer up.close()
	err = s.train(ctx, up, lessons{on: lost, epochs: epochs, rate: s.Ascent.Rate, seed: s.seed("ascent"), up: true})
	if err != nil {
		return nil, err
	}
	kept, err := s.over(up, s.rest)
	if err != nil || s.Ascent.Repair == 0 {
		return kept, err
	}
	return kept, s.train(ctx, kept, lessons{on: s.rest, epochs: s.Ascent.Repair, rate: s.Train.Rate,
		seed: s.seed("repair")})
}
