package stream

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"privrec/internal/rng"
	"privrec/internal/run"
	"privrec/internal/system"
)

// Names in the folder of a stream.
const (
	aboutName = "stream.json"
	itemsName = "items.tsv"
)

// version names the form of a stream's files.
const version = "privrec stream 1"

// about is what aboutName holds. All of it is public but, in a stream whose noise has a seed, that seed.
type about struct {
	Version string `json:"version"`
	ID      string `json:"id"`     // random; the same in all files of the stream
	Folder  string `json:"folder"` // where the stream goes on
	Table   string `json:"table"`  // SHA-256 of itemsName
	// NoiseSeed is the seed of noise that can be drawn again; 0: the noise has a secret key, or is secure.
	NoiseSeed uint64 `json:"noise_seed,omitempty"`
	Settings
}

// Folder is a stream on disk, locked for one process.
type Folder struct {
	Dir string
	about
	Catalogue *Catalogue
	Terms     Terms

	now            progress
	sums           *Sums
	counts, matrix *series
	key            rng.Key
	lock           *system.Folder
}

// readKey reads the key of the noise.
func (f *Folder) readKey() error {
	switch {
	case f.Secure:
		return nil
	case f.NoiseSeed != 0:
		f.key = rng.Seed(f.NoiseSeed).Key()
		return nil
	}
	path := filepath.Join(f.Dir, run.NoiseFile)
	b, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("the key of the noise: %w", err)
	}
	text, check, _ := strings.Cut(strings.TrimSpace(string(b)), " ")
	if f.key, err = rng.ReadKey(text); err != nil || check != f.key.Check(f.ID) {
		return fmt.Errorf("%s is damaged, or of another stream", path)
	}
	return nil
}

// describe writes what is fixed, the last file of a new stream.
func (f *Folder) describe() error {
	b, err := json.MarshalIndent(f.about, "", "  ")
	if err != nil {
		return err
	}
	return write(filepath.Join(f.Dir, aboutName), append(b, '\n'))
}

// write writes a file whole, or not at all.
func write(path string, b []byte) error {
	return system.WriteFile(path, func(w io.Writer) error {
		_, err := w.Write(b)
		return err
	})
}

// Open opens a stream and locks it. moved says that the folder was moved and no other copy goes on.
func Open(ctx context.Context, dir string, moved bool) (*Folder, error) {
	place, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	f := &Folder{Dir: dir}
	if err := f.readAbout(); err != nil {
		return nil, err
	}
	if f.lock, err = system.TakeFolder(place); errors.Is(err, system.ErrBusy) {
		return nil, run.Usagef("wait for it", "another command works on the stream in %s", dir)
	} else if err != nil {
		return nil, err
	}
	if err := f.resume(ctx, place, moved); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// resume brings a locked folder into the state of its last command. It reads what is fixed again, under the lock.
func (f *Folder) resume(ctx context.Context, place string, moved bool) error {
	if err := f.readAbout(); err != nil {
		return err
	}
	if f.Folder != place && !moved {
		return run.Usagef("go on in the folder that was copied; if it was moved and no copy goes on, add --moved",
			"the stream goes on in %s, and %s is a copy of it: what is released here would be a second stream for "+
				"one epsilon", f.Folder, place)
	}
	if err := f.readAll(ctx); err != nil {
		return err
	}
	if f.Folder != place {
		f.Folder = place
		if err := f.describe(); err != nil {
			return err
		}
	}
	if err := system.Sweep(f.Dir, filepath.Join(f.Dir, releasedFolder)); err != nil {
		return err
	}
	return f.heal()
}

// readAbout reads what is fixed.
func (f *Folder) readAbout() error {
	path := filepath.Join(f.Dir, aboutName)
	b, err := system.ReadFile(path, system.MostOfRun)
	if errors.Is(err, fs.ErrNotExist) {
		return run.Usagef("make one: privrec stream create", "%s is not the folder of a stream: it has no %s", f.Dir,
			aboutName)
	}
	if err != nil {
		return err
	}
	if err := json.Unmarshal(b, &f.about); err != nil || f.Version != version || f.ID == "" {
		return fmt.Errorf("%s: not the description of a stream of this version, %q", path, version)
	}
	if err := f.Settings.Check(); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// readAll reads all but what is fixed.
func (f *Folder) readAll(ctx context.Context) (err error) {
	path := filepath.Join(f.Dir, itemsName)
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if sum := sha256.Sum256(b); hex.EncodeToString(sum[:]) != f.Table {
		return fmt.Errorf("%s: it was changed after the stream began", path)
	}
	if f.Catalogue, err = readCatalogue(ctx, path); err != nil {
		return err
	}
	if f.Terms, err = f.Settings.Terms(); err != nil {
		return err
	}
	if err := f.readKey(); err != nil {
		return err
	}
	if err := f.sameLedger(); err != nil {
		return err
	}
	return f.load()
}

// open makes the two series go on from their states.
func (f *Folder) open(state func(name string, width int) seriesState) (err error) {
	width := len(f.sums.Counts)
	if f.counts, err = newSeries(f.Terms.Counts, 1, width, state("counts", width)); err != nil {
		return err
	}
	width = len(f.sums.Matrix)
	f.matrix, err = newSeries(f.Terms.Matrix, grid, width, state("matrix", width))
	return err
}

// named is a series with its name in the state and its exact sums.
type named struct {
	name string
	*series
	exact []int64
}

func (f *Folder) series() []named {
	return []named{{"counts", f.counts, f.sums.Counts}, {"matrix", f.matrix, f.sums.Matrix}}
}

// Close frees the folder.
func (f *Folder) Close() error { return f.lock.Free() }

// Added says what a file of rows added to a stream.
type Added struct {
	Tally
	NewUsers int
	Step     int      // of the release that shows the rows first
	Left     []string // sentences on columns that are not read, or have unusual names
}

// Add adds a table of rows to the open step, and keeps them. day, of the form 2026-11-29, says which day they are of;
// "" leaves it open. It must be after all days that were released, or late. A file that is there already is refused.
func (f *Folder) Add(ctx context.Context, path, day string, late bool) (Added, error) {
	step := f.now.Step + 1
	if step > f.Horizon {
		return Added{}, f.over()
	}
	if day != "" {
		if _, err := time.Parse(time.DateOnly, day); err != nil {
			return Added{}, run.Usagef("write it as 2026-11-29", "--day is %q, want a date", day)
		}
		if f.now.Day != "" && day <= f.now.Day && !late {
			return Added{}, run.Usagef("add rows that come late with --late: the next release shows them",
				"the day %s is not after %s, which was released in step %d", day, f.now.Day, f.now.Step)
		}
	}
	rows, err := readRows(ctx, path, f.Catalogue.number())
	if err != nil {
		return Added{}, err
	}
	for _, x := range f.now.Files {
		if x.Digest == rows.digest {
			return Added{}, run.Usagef("add a file once", "%s was added before, for step %d", path, x.Step)
		}
	}
	before := f.sums.Users()
	a := Added{Tally: f.sums.addRows(rows), Step: step, Left: rows.left}
	a.NewUsers = f.sums.Users() - before
	f.now.Files = append(f.now.Files, added{rows.digest, step})
	f.now.Open = max(f.now.Open, day)
	f.now.Total = f.now.Total.Plus(a.Tally)
	f.chain(rows.digest, strconv.Itoa(step))
	return a, f.save()
}

// chain adds fields to the digest of all that the stream is and holds. The noise of a step is of this digest: streams
// with one noise seed share nothing of it unless they are equal.
func (f *Folder) chain(fields ...string) {
	sum := sha256.Sum256([]byte(strings.Join(append([]string{f.now.Chain}, fields...), "\n")))
	f.now.Chain = hex.EncodeToString(sum[:])
}

// addRows adds all rows of a file.
func (x *Sums) addRows(r *rowsOf) Tally {
	var all Tally
	for id, n := range r.all {
		t := x.Add(id, r.items[id])
		t.Unknown = n - t.Rows
		t.Rows = n
		all = all.Plus(t)
	}
	return all
}

// over refuses to go beyond the horizon.
func (f *Folder) over() error {
	return run.Usagef("a new stream has a new epsilon, which comes on top for those who are in both",
		"the stream has made all of its %d releases", f.Horizon)
}

// Release ends the open step: it draws the noise of the step, keeps it, and writes what is released.
func (f *Folder) Release() (*Released, error) {
	if f.now.Step >= f.Horizon {
		return nil, f.over()
	}
	f.now.Step++
	f.chain("release", strconv.Itoa(f.now.Step))
	r := f.released()
	for _, x := range f.series() {
		var draw rng.Stream
		if !f.Secure {
			draw = f.key.Stream("private.stream", x.noise.Purpose, f.now.Chain)
		}
		out, err := x.next(x.exact, &draw)
		if err != nil {
			return nil, err
		}
		if x.name == "counts" {
			r.Counts = out
		} else {
			r.Matrix = out
		}
		if f.Secure {
			clear(x.exact)
		}
	}
	f.now.Day, f.now.Open = max(f.now.Day, f.now.Open), ""
	r.Day = f.now.Day
	if err := f.save(); err != nil {
		return nil, err
	}
	return r, f.write(r)
}

// heal writes the last release if a command was stopped between the state and its file.
func (f *Folder) heal() error {
	if f.now.Step == 0 || slices.ContainsFunc(f.now.Files, func(a added) bool { return a.Step > f.now.Step }) {
		return nil
	}
	if _, err := os.Stat(f.path(f.now.Step)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	r := f.released()
	r.Day = f.now.Day
	for _, x := range f.series() {
		out := slices.Clone(x.total)
		if !f.Secure {
			for j, n := range x.exact {
				out[j] += float64(n) * x.unit
			}
		}
		if x.name == "counts" {
			r.Counts = out
		} else {
			r.Matrix = out
		}
	}
	return f.write(r)
}
