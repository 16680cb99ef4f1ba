package stream

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"privrec/internal/privacy"
	"privrec/internal/private/release"
	"privrec/internal/rng"
	"privrec/internal/run"
	"privrec/internal/system"
)

// Start says how the matrix of a new stream is chosen, and where its noise is from.
type Start struct {
	// Rows names a table of rows whose noisy counts choose the items of the matrix and their weights; Settings.Start is
	// paid for them. "": public counts choose.
	Rows   string
	Public []float64 // public counts of all items; nil and no Rows: all items are in the matrix, with weight 1
	Most   int       // items of the matrix
	Power  float64   // an item has a weight of its count to the power -Power
	// NoiseSeed makes the noise repeatable, for research; 0: nobody can repeat it.
	NoiseSeed uint64
}

// Create makes a stream in a new folder. Its ledger lists all that the stream will ever release, before the first of
// it.
func Create(ctx context.Context, dir string, s Settings, ids []string, o Start) (err error) {
	if err := s.Check(); err != nil {
		return &run.UsageError{Message: err.Error()}
	}
	terms, err := s.Terms()
	if err != nil {
		return err
	}
	place, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	c := &Catalogue{IDs: ids}
	a := about{Version: version, ID: newID(), Folder: place, NoiseSeed: o.NoiseSeed, Settings: s}
	if err := os.MkdirAll(filepath.Dir(place), 0o755); err != nil {
		return err
	}
	if err := os.Mkdir(place, 0o700); err != nil {
		if errors.Is(err, fs.ErrExist) {
			return run.Usagef("choose another folder; one without "+aboutName+" is of a command that was stopped, and "+
				"nothing of it was released", "%s is there already", dir)
		}
		return err
	}
	defer func() {
		if err != nil { // nothing of it was shown
			err = errors.Join(err, os.RemoveAll(place))
		}
	}()
	f := &Folder{Dir: dir, about: a, Catalogue: c, Terms: terms}
	if err := f.newKey(); err != nil {
		return err
	}
	fixed, err := json.Marshal(s)
	if err != nil {
		return err
	}
	f.chain(append([]string{string(fixed)}, ids...)...)
	ledger, err := f.newLedger()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, ledger.Close()) }()
	switch {
	case o.Rows != "":
		counts, err := f.start(ctx, o.Rows, ledger)
		if err != nil {
			return err
		}
		c.Choose(counts, o.Most, terms.Start.Deviation(), o.Power)
	case o.Public != nil:
		c.Choose(o.Public, o.Most, 1, o.Power)
	default:
		c.Choose(make([]float64, len(ids)), len(ids), 1, 0)
	}
	if err := c.Check(); err != nil {
		return run.Usagef("choose fewer with --matrix, by counts in the catalogue or by --start", "the catalogue has %v",
			err)
	}
	text := c.text()
	sum := sha256.Sum256([]byte(text))
	f.Table = hex.EncodeToString(sum[:])
	f.chain(f.Table)
	f.sums = NewSums(s, c)
	if err := f.open(func(string, int) seriesState { return seriesState{} }); err != nil {
		return err
	}
	if err := f.save(); err != nil {
		return err
	}
	if err := write(filepath.Join(dir, itemsName), []byte(text)); err != nil {
		return err
	}
	return f.describe()
}

// start releases the counts of a table of rows, which choose the matrix.
func (f *Folder) start(ctx context.Context, path string, l *privacy.Ledger) ([]float64, error) {
	rows, err := readRows(ctx, path, f.Catalogue.number())
	if err != nil {
		return nil, err
	}
	x := NewSums(f.Settings, f.Catalogue)
	x.addRows(rows)
	counts := release.Exact(x.Counts)
	r := release.Releaser{Ledger: l, Secure: f.Secure, Releases: 1, Noise: func(purpose string) (rng.Stream, error) {
		return f.key.Stream("private.stream", purpose, f.now.Chain, rows.digest), nil
	}}
	if err := r.Release(f.Terms.Start, counts, len(counts)); err != nil {
		return nil, err
	}
	return counts, l.Flush("start")
}

// newKey makes the key of the noise and keeps it, but for secure noise, which has none.
func (f *Folder) newKey() error {
	switch {
	case f.Secure:
		return nil
	case f.NoiseSeed != 0:
		f.key = rng.Seed(f.NoiseSeed).Key()
		return nil
	}
	f.key = rng.NewKey()
	return system.WritePrivate(filepath.Join(f.Dir, run.NoiseFile), func(w io.Writer) error {
		_, err := io.WriteString(w, f.key.Reveal()+" "+f.key.Check(f.ID)+"\n")
		return err
	})
}

// newID returns a random name.
func newID() string {
	b := make([]byte, 16)
	rand.Read(b)
	return hex.EncodeToString(b)
}
