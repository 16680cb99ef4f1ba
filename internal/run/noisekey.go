package run

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"privrec/internal/rng"
	"privrec/internal/system"
)

// lostNoise refuses to go on with a run whose noise cannot be drawn again.
func lostNoise(dir string, err error) error {
	return &UsageError{
		Message: fmt.Sprintf("the run in %s has made releases, and the key of their noise cannot be read: %v; other "+
			"noise on the same data would be a second release, in no account", dir, err),
		Fix: "restore " + NoiseFile +
			" from a copy of the run, or choose another --out, whose releases then come on top",
	}
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
