package run

import (
	"errors"
	"fmt"

	"privrec/internal/dataset"
	"privrec/internal/rng"
)

// Values of Manifest.Noise: the source of a run's noise.
const (
	NoiseOfKey    = "key"    // a key of the system's random bits, in NoiseFile
	NoiseOfSeed   = "seed"   // run.noise_seed
	NoiseOfSystem = "secure" // cryptographic bits, drawn once and never again
)

// noise holds the source of a run's noise.
type noise struct {
	kind   string             // see Manifest.Noise; "": run.seed, as in runs that an older program began
	secure bool               // run.secure: noise is from cryptographic bits
	seed   uint64             // run.noise_seed
	told   bool               // a program set the seed for many runs, and tells of it itself
	key    *rng.Key           // nil: not asked for yet
	rows   *dataset.RowDigest // nil: not recorded yet
	used   bool               // a stream was asked for
	on     func(paper, purpose string, s rng.Stream)
}

// errNoRows reports a fault of the program. Noise that does not depend on the rows would stay the same when a row
// changes, so the difference of two releases would reveal that row.
var errNoRows = errors.New("noise is drawn before the private rows of the run are recorded")

// errSecretNoise reports a fault of the program: secure noise has no stream that can be drawn again.
var errSecretNoise = errors.New("a run with secure noise asks for noise that can be drawn again")

// Repeats returns a sentence about who can draw the noise of a seed again.
func Repeats(seed uint64) string {
	return fmt.Sprintf("the noise can be repeated, and taken off again, by whoever has the data and %s, which is %d: "+
		"epsilon holds as if that number were unknown", NoiseSeedKey, seed)
}

// Remade states once, for a program that makes many runs, that their noise can be repeated.
const Remade = "the noise of the runs made here can be repeated, and taken off again, by whoever has the data: their " +
	"run.noise_seed follows from their seed, so that tables are the same every time; epsilon holds as if it were " +
	"unknown"

// secureNote returns the manifest's note about a run with secure noise.
func secureNote(seed uint64) string {
	return fmt.Sprintf("secure noise: samples and noise are from cryptographic bits, have no seed and cannot be "+
		"drawn again; run.seed %d is used only for what is public or needs no secret (initial values, splits of the "+
		"data, which of their items users contribute)", seed)
}

// NoiseSeedKey is the key of Settings.NoiseSeed.
const NoiseSeedKey = "run.noise_seed"

// NoiseSeedOf returns the noise seed for a run with the given seed, for a program that makes many runs. The
// configuration also keys the noise, so runs that differ in any setting have different noise.
func NoiseSeedOf(seed uint64) uint64 { return max(1, seed) }
