package stream

import (
	"context"
	"crypto/rand"
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

	"privrec/internal/privacy"
	"privrec/internal/private/release"
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
		return run.Usagef("choose fewer with --matrix, by counts in the catalogue or by --start", "the catalogue has %v", err)
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

// newLedger writes the ledger of the whole stream but for the counts that choose the matrix, which come next.
func (f *Folder) newLedger() (*privacy.Ledger, error) {
	l, err := privacy.CreateLedger(filepath.Join(f.Dir, run.LedgerName), f.Privacy().Marks(), nil)
	if err != nil {
		return nil, err
	}
	err = l.Declare(privacy.Declaration{Public: public})
	for _, e := range f.Terms.Entries {
		if err == nil && e.Purpose != StartPurpose {
			err = l.Record(e.Purpose, e.Event, e.Count)
		}
	}
	if err == nil {
		err = l.Flush("all steps")
	}
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// public lists what the guarantee of a stream takes as public.
var public = []privacy.Assumption{
	{What: "which items there are",
		Why: "the catalogue is fixed before the first row, and its ids are not chosen by the rows of the stream"},
	{What: "when and how often the stream releases"},
	{What: "what the commands print", Why: "numbers of users and rows are for whoever keeps the stream"},
}

// describe writes what is fixed, the last file of a new stream.
func (f *Folder) describe() error {
	b, err := json.MarshalIndent(f.about, "", "  ")
	if err != nil {
		return err
	}
	return write(filepath.Join(f.Dir, aboutName), append(b, '\n'))
}

// newID returns a random name.
func newID() string {
	b := make([]byte, 16)
	rand.Read(b)
	return hex.EncodeToString(b)
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

// sameLedger fails unless the ledger lists what the stream releases.
func (f *Folder) sameLedger() error {
	path := filepath.Join(f.Dir, run.LedgerName)
	l, err := (privacy.Reading{Unfinished: true}).File(path)
	if err != nil {
		return err
	}
	for _, want := range f.Terms.Entries {
		if !slices.ContainsFunc(l.Entries(), func(e privacy.Entry) bool {
			return e.Purpose == want.Purpose && e.Count >= want.Count && e.Event == want.Event
		}) {
			return fmt.Errorf("%s: it does not list what the stream releases as %q", path, want.Purpose)
		}
	}
	return nil
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
