package run

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"privrec/internal/dataset"
	"privrec/internal/privacy"
	"privrec/internal/rng"
)

// Private records the digest of all private input that the run loaded. The digest is part of the name of every noise
// stream, so data that differ in one row get unrelated noise. A method that reads only part of what was loaded records
// the digest of that part, before it asks for noise.
func (e *Env) Private(rows dataset.RowDigest) error {
	if e.noise.used && *e.noise.rows != rows {
		return errors.New("the private rows of the run changed after its noise was drawn")
	}
	e.noise.rows = &rows
	return nil
}

// Noise returns the stream of a paper's noise for one purpose. The stream is keyed by the secret key of the run, the
// digest of the private rows, the configuration and the purpose. Two runs share no noise if they differ in a row or a
// setting, or were started separately. A resumed run, a copy of a run and its answers get the same noise again.
//
// It fails before Private, and if the run released something and its key is lost.
func (e *Env) Noise(paper, purpose string) (rng.Stream, error) {
	if !e.Keyed() {
		return e.Draws(paper, purpose), nil
	}
	if e.noise.kind == NoiseOfSystem {
		return rng.Stream{}, fmt.Errorf("%s, %s: %w", paper, purpose, errSecretNoise)
	}
	if e.noise.rows == nil {
		return rng.Stream{}, fmt.Errorf("%s, %s: %w", paper, purpose, errNoRows)
	}
	if e.noise.key == nil {
		k, err := e.noiseKey()
		if err != nil {
			return rng.Stream{}, err
		}
		e.noise.key = &k
	}
	e.noise.used = true
	s := e.noise.key.Stream("noise", e.noise.rows.String(), paper, e.ConfigHash, purpose)
	if e.noise.on != nil {
		e.noise.on(paper, purpose, s)
	}
	return s, nil
}

// Keyed reports whether the noise of the run has its own key. Runs of older programs have none and use run.seed.
func (e *Env) Keyed() bool { return e.noise.kind != "" || e.opening.purpose.forecasts() }

// Draws returns the stream of a paper's random choices that need no secret, such as initial values and which rows users
// contribute. It does not depend on the rows, so one user's choices stay the same when another user joins or leaves.
func (e *Env) Draws(paper, purpose string) rng.Stream {
	return e.Seed.Stream(paper + "." + e.ConfigHash + "." + purpose)
}

// noiseKey returns the key of the run's noise. A run without one gets a new key, which is on disk before the run can
// release anything.
func (e *Env) noiseKey() (rng.Key, error) {
	switch {
	case e.noise.seed != 0:
		return rng.Seed(e.noise.seed).Key(), nil
	case e.opening.purpose.forecasts(): // nothing of it is shown
		return rng.NewKey(), nil
	}
	path := filepath.Join(e.Dir, NoiseFile)
	k, err := readNoiseKey(path, e.ConfigHash)
	if err == nil {
		return k, nil
	}
	if e.opening.purpose == reopened {
		return k, &UsageError{Message: fmt.Sprintf(
			"the run in %s answers with the noise that it was trained with, and the key of it cannot be read: %v",
			e.Dir, err),
			Fix: "restore " + NoiseFile + " from a copy of the run, or train again with another --out"}
	}
	if e.Resume && released(filepath.Join(e.Dir, LedgerName), e.books.key) {
		return k, lostNoise(e.Dir, err)
	}
	k = rng.NewKey()
	return k, writeNoiseKey(path, k, e.ConfigHash)
}

// Repeatable returns a sentence about who can draw the run's noise again; empty if nobody can, or if there is no noise.
// The account and the result of the run begin with it.
func (e *Env) Repeatable() string {
	if e.noise.kind != NoiseOfSeed || e.books.ledger == nil || len(e.books.ledger.Entries()) == 0 {
		return ""
	}
	return Repeats(e.noise.seed)
}

// warnRepeatable warns a user who set a noise seed for a run with a finite epsilon.
func (e *Env) warnRepeatable(d privacy.Declaration) {
	if e.noise.kind == NoiseOfSeed && !e.noise.told && d.Plan != nil && len(d.WithoutNoise) == 0 {
		e.Log.Warn(Repeats(e.noise.seed)+"; leave it out for noise that nobody can repeat", "dir", e.Dir)
	}
}

// Secure reports whether the run promises secure noise: samples and noise from cryptographic bits, discrete
// distributions sampled exactly, and exact sums. Its ledger must be marked as secure, and mechanisms that draw other
// noise refuse that ledger.
func (e *Env) Secure() bool { return e.noise.secure }

// continued adds an assumption to the declaration of a resumed run with secure noise: no other copy of its directory
// was resumed. Each copy would draw noise of its own and list it in its own ledger, unknown to the others. A shared
// budget knows of all copies (package budget), so a run that spends from one needs no such assumption.
func (e *Env) continued(d privacy.Declaration) privacy.Declaration {
	if e.Resume && e.books.spends.from == "" {
		d.Public = append(slices.Clone(d.Public), onlyOne)
	}
	return d
}

// onlyOne holds the assumption of a resumed run with secure noise.
var onlyOne = privacy.Assumption{What: "that only one copy of the run's folder went on after a stop",
	Why: "every copy that goes on draws noise of its own, which the ledgers of the others do not have; a run that " +
		"spends from a budget is held to one"}
