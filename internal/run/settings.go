package run

import (
	"math"
	"strings"

	"privrec/internal/config"
	"privrec/internal/dataset"
	"privrec/internal/privacy"
)

// Settings holds the keys that belong to every run, whatever the task, under the key "run".
type Settings struct {
	Seed    uint64 `yaml:"seed"`    // seed of all random numbers; default 1
	Workers int    `yaml:"workers"` // number of threads; default 0: all cores. Results do not depend on it
	Out     string `yaml:"out"`     // run directory; default: runs/<verb>-<name>-<configuration hash>

	// most seconds between checkpoints; default 20; 0: no limit. It does not change the results
	SaveSeconds float64 `yaml:"save_seconds"`
	// most steps between checkpoints; default 0: no limit. It does not change the results
	SaveSteps int `yaml:"save_steps"`

	// LedgerKey names a file of at least 16 secret bytes; only holders of them can then compute the checks of the
	// ledger. "": no key.
	LedgerKey string `yaml:"ledger_key"`

	HoldOut HoldOut `yaml:"hold_out,omitempty"`

	// users whose rows the run never sees, as if they were not in the files: half of the SHA-256 of each id, as
	// privrec forget writes them
	Forgotten []string `yaml:"forgotten,omitempty"`

	// Secure draws samples and noise from cryptographic bits, without a seed, so that what the guarantee covers may
	// be published. Tasks that cannot do so refuse it. False: keyed noise, for research.
	Secure bool  `yaml:"secure,omitempty"`
	Plant  Plant `yaml:"plant,omitempty"`
	// NoiseSeed makes the noise of the run repeatable, for research: whoever has it and the data can take the noise
	// off. 0: a secret random key, kept in the run directory, which nobody can guess.
	NoiseSeed uint64 `yaml:"noise_seed,omitempty"`
}

// key reads the key of the ledger.
func (s Settings) key() (*privacy.Key, error) {
	if s.LedgerKey == "" {
		return nil, nil
	}
	k, err := privacy.ReadKey(s.LedgerKey)
	if err != nil {
		return nil, &UsageError{Message: "run.ledger_key: " + err.Error(),
			Fix: "name a file of at least 16 secret bytes, as head -c 32 /dev/urandom writes them"}
	}
	return k, nil
}

// maxSaveSeconds is the longest time between checkpoints, a week.
const maxSaveSeconds = 7 * 24 * 3600

// check reports settings out of their range.
func (s Settings) check(v *config.Checker) {
	v.Limited(config.RangeLimit(0, MaxWorkers), s.Workers >= 0 && s.Workers <= MaxWorkers, "run.workers",
		"must lie in 0 to %d, got %d", MaxWorkers, s.Workers)
	v.Limited(config.RangeLimit(0, maxSaveSeconds), s.SaveSeconds >= 0 && s.SaveSeconds <= maxSaveSeconds,
		"run.save_seconds", "must lie in 0 to %d, got %v", maxSaveSeconds, s.SaveSeconds)
	v.Limited(config.RangeLimit(0, math.NaN()), s.SaveSteps >= 0, "run.save_steps", "must be at least 0, got %d",
		s.SaveSteps)
	if err := dataset.Forgotten(s.Forgotten).Check(); err != nil {
		v.Check(false, "run.forgotten", "%s", strings.TrimPrefix(err.Error(), "dataset: "))
	}
	// Elsewhere "-" is standard output; here it would be a folder of that name.
	v.Limited(config.NotLimit("-"), s.Out != "-", "run.out", "must name a folder, got \"-\"")
}

// checkNoiseSeed refuses a noise seed for secure noise, which has no seed.
func checkNoiseSeed(s Settings, secure bool) error {
	if !secure || s.NoiseSeed == 0 {
		return nil
	}
	return &UsageError{Message: NoiseSeedKey + ": secure noise is drawn from the system, once, and has no seed",
		Fix: "leave out " + NoiseSeedKey + ", or ask for no secure noise"}
}
