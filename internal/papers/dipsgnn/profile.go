package dipsgnn

import (
	"fmt"
	"strings"

	"privrec/internal/config"
	"privrec/internal/train"
)

// Code is the released program's setting on ML-1M, its slips included: noise of
// standard deviation sigma squared, features of random other users in training,
// unselected features in the clear, the test set choosing the epoch metric by
// metric, candidates counted before the split, no noise in evaluation.
func Code() Config {
	c := Default()
	c.Profile = "code"
	c.Data.Candidates = CandidatesTenCore
	c.Privacy.Features.Unselected = UnselectedRaw
	c.Privacy.Transitions.NoiseStd = StdSigmaSquared
	c.Train.Select, c.Train.Validation, c.Train.Refit = SelectTest, 0, false
	c.Train.MisalignUsers = true
	c.Eval.Noise = []string{NoiseOff}
	return c
}

// departures lists the keys in which a setting differs from the profile it
// names; ok is false for a name that is no profile's.
func departures[C any](setting C, profile string, named map[string]C) (changed []string, ok bool, err error) {
	base, ok := named[profile]
	if !ok {
		return nil, false, nil
	}
	changed, err = config.Diff(base, setting)
	return changed, true, err
}

// standing says how a run's setting relates to the profiles, for its result, and
// whether it is the one that the paper's Table 2 is about.
func standing[C any](setting C, profile string, named map[string]C) (text string, printed bool, err error) {
	changed, ok, err := departures(setting, profile, named)
	switch {
	case err != nil:
		return "", false, err
	case !ok:
		return fmt.Sprintf("own setting %q", profile), false, nil
	case len(changed) > 0:
		return fmt.Sprintf("profile %s, changed: %s", profile, strings.Join(changed, ", ")), false, nil
	}
	return "profile " + profile, true, nil
}

func (c Config) named() map[string]Config {
	return map[string]Config{"paper": Default(), "code": Code()}
}

func (c Config) standing() (string, bool, error) { return standing(c, c.Profile, c.named()) }

// stated is the training of the profile that a setting names, empty for none.
func (c Config) stated() train.Length { return c.named()[c.Profile].Train.length() }

// length is how long a training lasts.
func (c TrainConfig) length() train.Length {
	return train.Length{Epochs: c.Epochs, Patience: c.Patience}
}

func (c SRGNNConfig) standing() (string, bool, error) {
	return standing(c, c.Profile, c.named())
}

func (c SRGNNConfig) named() map[string]SRGNNConfig {
	return map[string]SRGNNConfig{"paper": DefaultSRGNN()}
}

func (c SRGNNConfig) stated() train.Length { return c.named()[c.Profile].Train.length() }

func (c APGNNConfig) standing() (string, bool, error) {
	return standing(c, c.Profile, c.named())
}

func (c APGNNConfig) named() map[string]APGNNConfig {
	return map[string]APGNNConfig{"paper": DefaultAPGNN()}
}

func (c APGNNConfig) stated() train.Length { return c.named()[c.Profile].Train.length() }
