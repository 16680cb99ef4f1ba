package run

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"privrec/internal/dataset"
	"privrec/internal/privacy"
	"privrec/internal/rng"
	"privrec/internal/system"
)

// NoiseFile names the file with the secret key of the run's noise. A resumed run and the answers of a finished run read
// it. Whoever has the file and the data can remove the noise.
const NoiseFile = "noise.key"

// NoiseSeedKey is the key of Settings.NoiseSeed.
const NoiseSeedKey = "run.noise_seed"

// Values of Manifest.Noise: the source of a run's noise.
const (
	NoiseOfKey    = "key"    // a key of the system's random bits, in NoiseFile
	NoiseOfSeed   = "seed"   // run.noise_seed
	NoiseOfSystem = "secure" // cryptographic bits, drawn once and never again
)

// noise holds the source of a run's noise.
type noise struct {
	kind string             // see Manifest.Noise; "": run.seed, as in runs that an older program began
	seed uint64             // run.noise_seed
	told bool               // a program set the seed for many runs, and tells of it itself
	key  *rng.Key           // nil: not asked for yet
	rows *dataset.RowDigest // nil: not recorded yet
	used bool               // a stream was asked for
	on   func(paper, purpose string, s rng.Stream)
}

// noiseKind returns the source of the noise of a new run, a value of Manifest.Noise.
func (b *bound) noiseKind() string {
	switch {
	case b.secure:
		return NoiseOfSystem
	case b.settings.NoiseSeed != 0:
		return NoiseOfSeed
	}
	return NoiseOfKey
}

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

// errNoRows reports a fault of the program. Noise that does not depend on the rows would stay the same when a row
// changes, so the difference of two releases would reveal that row.
var errNoRows = errors.New("noise is drawn before the private rows of the run are recorded")

// errSecretNoise reports a fault of the program: secure noise has no stream that can be drawn again.
var errSecretNoise = errors.New("a run with secure noise asks for noise that can be drawn again")

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
func (e *Env) Keyed() bool { return e.noise.kind != "" || e.mode == rehearsing }

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
	case e.mode == rehearsing: // nothing of it is shown
		return rng.NewKey(), nil
	}
	path := filepath.Join(e.Dir, NoiseFile)
	k, err := readNoiseKey(path, e.ConfigHash)
	if err == nil {
		return k, nil
	}
	if e.mode == reopened {
		return k, &UsageError{Message: fmt.Sprintf(
			"the run in %s answers with the noise that it was trained with, and the key of it cannot be read: %v",
			e.Dir, err),
			Fix: "restore " + NoiseFile + " from a copy of the run, or train again with another --out"}
	}
	if e.Resume && released(filepath.Join(e.Dir, LedgerName), e.key) {
		return k, lostNoise(e.Dir, err)
	}
	k = rng.NewKey()
	return k, writeNoiseKey(path, k, e.ConfigHash)
}

// lostNoise refuses to go on with a run whose noise cannot be drawn again.
func lostNoise(dir string, err error) error {
	return &UsageError{
		Message: fmt.Sprintf("the run in %s has made releases, and the key of their noise cannot be read: %v; other "+
			"noise on the same data would be a second release, in no account", dir, err),
		Fix: "restore " + NoiseFile +
			" from a copy of the run, or choose another --out, whose releases then come on top",
	}
}

// released reports whether a ledger lists releases. It returns true for a ledger that cannot be read.
func released(path string, k *privacy.Key) bool {
	l, err := privacy.Reading{Key: k, Unfinished: true}.File(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false
	}
	return err != nil || len(l.Entries()) > 0
}

// checkNoise refuses to start a run again in the directory of a stopped run that released something and has lost its
// noise key. Only with the key would it make the same releases.
func checkNoise(dir string, old *Manifest, b *bound) error {
	if old.Noise != NoiseOfKey || !released(filepath.Join(dir, LedgerName), b.key) {
		return nil
	}
	if _, err := readNoiseKey(filepath.Join(dir, NoiseFile), old.ConfigHash); err != nil {
		return lostNoise(dir, err)
	}
	return nil
}

// readNoiseKey reads the key of a run with this configuration.
func readNoiseKey(path, hash string) (rng.Key, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return rng.Key{}, fmt.Errorf("%s is missing", path)
		}
		return rng.Key{}, err
	}
	damaged := fmt.Errorf("%s is damaged, or of another run", path)
	text, check, ok := strings.Cut(string(b), " ")
	k, err := rng.ReadKey(text)
	if !ok || err != nil || !bytes.Equal(b, noiseText(k, hash)) || check == "" {
		return rng.Key{}, damaged
	}
	return k, nil
}

// noiseText returns what NoiseFile holds: the key, and a check of it and of the configuration.
func noiseText(k rng.Key, hash string) []byte {
	return []byte(k.Reveal() + " " + k.Check(hash) + "\n")
}

// writeNoiseKey writes the key durably, for the owner of the directory alone.
func writeNoiseKey(path string, k rng.Key, hash string) error {
	return system.WritePrivate(path, func(w io.Writer) error {
		_, err := w.Write(noiseText(k, hash))
		return err
	})
}

// Repeatable returns a sentence about who can draw the run's noise again; empty if nobody can, or if there is no noise.
// The account and the result of the run begin with it.
func (e *Env) Repeatable() string {
	if e.noise.kind != NoiseOfSeed || e.ledger == nil || len(e.ledger.Entries()) == 0 {
		return ""
	}
	return Repeats(e.noise.seed)
}

// Repeats returns a sentence about who can draw the noise of a seed again.
func Repeats(seed uint64) string {
	return fmt.Sprintf("the noise can be repeated, and taken off again, by whoever has the data and %s, which is %d: "+
		"epsilon holds as if that number were unknown", NoiseSeedKey, seed)
}

// Leading is a Result that can begin with a line of the run.
type Leading interface {
	Lead(line string)
}

// leading is an account that begins with a line of the run.
type leading struct {
	line    string
	account any
}

// MarshalJSON implements json.Marshaler.
func (l leading) MarshalJSON() ([]byte, error) {
	b, err := json.Marshal(l.account)
	if err != nil {
		return nil, err
	}
	first, err := json.Marshal(l.line)
	if err != nil {
		return nil, err
	}
	rest, ok := bytes.CutPrefix(b, []byte("{"))
	if !ok {
		return nil, fmt.Errorf("an account of type %T is no JSON object", l.account)
	}
	if !bytes.HasPrefix(rest, []byte("}")) {
		first = append(first, ',')
	}
	return slices.Concat([]byte(`{"noise_can_be_repeated":`), first, rest), nil
}

// warnRepeatable warns a user who set a noise seed for a run with a finite epsilon.
func (e *Env) warnRepeatable(d privacy.Declaration) {
	if e.noise.kind == NoiseOfSeed && !e.noise.told && d.Plan != nil && len(d.WithoutNoise) == 0 {
		e.Log.Warn(Repeats(e.noise.seed)+"; leave it out for noise that nobody can repeat", "dir", e.Dir)
	}
}

// checkNoiseSeed refuses a noise seed for secure noise, which has no seed.
func checkNoiseSeed(s Settings, secure bool) error {
	if !secure || s.NoiseSeed == 0 {
		return nil
	}
	return &UsageError{Message: NoiseSeedKey + ": secure noise is drawn from the system, once, and has no seed",
		Fix: "leave out " + NoiseSeedKey + ", or ask for no secure noise"}
}

// Remade states once, for a program that makes many runs, that their noise can be repeated.
const Remade = "the noise of the runs made here can be repeated, and taken off again, by whoever has the data: their " +
	"run.noise_seed follows from their seed, so that tables are the same every time; epsilon holds as if it were " +
	"unknown"

// NoiseSeedOf returns the noise seed for a run with the given seed, for a program that makes many runs. The
// configuration also keys the noise, so runs that differ in any setting have different noise.
func NoiseSeedOf(seed uint64) uint64 { return max(1, seed) }

// Secret is a configuration that can ask for secure noise by a key of its own, besides run.secure.
type Secret interface {
	// Secretly reports whether the configuration asks for secure noise.
	Secretly() bool
}

// secretly reports whether a configuration asks for secure noise.
func secretly[C any](c wholeFile[C]) bool {
	s, ok := any(c.Task).(Secret)
	return c.Run.Secure || ok && s.Secretly()
}
