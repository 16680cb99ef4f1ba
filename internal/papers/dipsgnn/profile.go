package dipsgnn

import (
	"privrec/internal/experiment"
	"privrec/internal/protocol/nextitem"
	"privrec/internal/train"
)

// Code returns the published program's setting on ML-1M, its slips included. These are noise
// of standard deviation sigma squared, features of random other users in training, unselected
// features in the clear, the test set choosing the epoch metric by metric, candidates counted
// before the split, and no noise in evaluation.
func Code() Config {
	c := Default()
	c.Profile = "code"
	c.Data.Candidates = nextitem.CandidatesTenCore
	c.Privacy.Features.Unselected = UnselectedRaw
	c.Privacy.Transitions.NoiseStd = StdSigmaSquared
	c.Train.Select, c.Train.Validation, c.Train.Refit = nextitem.SelectTest, 0, false
	c.Train.MisalignUsers = true
	c.Eval.Noise = []string{nextitem.NoiseOff}
	return c
}

// setting returns a configuration as the protocol takes it.
func (c Config) setting() (nextitem.Setting, error) {
	length := func(c Config) train.Length { return c.Train.Length() }
	s, err := experiment.Stand(c, c.Profile, map[string]Config{"paper": Default(), "code": Code()}, length)
	return nextitem.Setting{
		Method: "DIPSGNN", Standing: s, From: c.Data, Fit: c.Train, Eval: nextitem.Ranking{K: c.Eval.K, Every: c.Eval.Every}, Table: Tables(),
	}, err
}
