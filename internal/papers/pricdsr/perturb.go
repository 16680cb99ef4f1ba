package pricdsr

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"privrec/internal/dataset"
	"privrec/internal/privacy"
	"privrec/internal/privacy/mechanism"
	"privrec/internal/rng"
	"privrec/internal/run"
)

// Options say what to perturb and how.
type Options struct {
	In, Out         string       // files
	InForm, OutForm dataset.Form // empty: by the names of the files

	Variant mechanism.Variant // empty: sdp-fixed
	Epsilon float64           // of one cell
	Limits  bool              // accept epsilon 0 and +Inf
	Items   int               // m, where ids are 1 to m; 0: Catalogue says
	// Catalogue is a file with the ids of the items, one a line or under item_id. It
	// must be public: what is read off the rows gives away whose item is his alone.
	Catalogue string
	Length    int  // L
	Small     bool // accept fewer items than cells

	Purpose string   // names the release in the ledger; empty: "sequences"
	Seed    rng.Seed // of research noise
	Secure  bool     // cryptographic bits: no seed, no second time

	KeepOrder bool // users in the order of the input; otherwise by id
	Strict    bool // refuse what definition 1 leaves out: repeated items, more than Length
	Force     bool // replace files that are there
	Workers   int  // at least 1; the bytes do not depend on it

	Progress run.Progress // nil: silent
}

// Mechanism is the mechanism that the options describe, with m items.
func (o Options) Mechanism(m int) mechanism.Sequence {
	return mechanism.Sequence{Purpose: o.Purpose, Variant: o.Variant, Epsilon: o.Epsilon, Items: m, Length: o.Length, Limits: o.Limits}
}

func refuse(fix, format string, args ...any) error {
	return &run.UsageError{Message: fmt.Sprintf(format, args...), Fix: fix}
}

// Check fills in defaults and refuses what cannot be carried out.
func (o *Options) Check() error {
	if o.Purpose == "" {
		o.Purpose = "sequences"
	}
	if o.Variant == "" {
		o.Variant = mechanism.SDPFixed
	}
	if o.Progress == nil {
		o.Progress = run.Silent{}
	}
	switch {
	case o.Variant != mechanism.SDPFixed && o.Variant != mechanism.SDPPaper && o.Variant != mechanism.RR:
		return refuse("known: sdp-fixed, sdp-paper, rr", "mechanism %q is not known", string(o.Variant))
	case math.IsNaN(o.Epsilon) || o.Epsilon < 0:
		return refuse("half of the cells are kept at epsilon = ln m", "epsilon is %g, want above 0", o.Epsilon)
	case !o.Limits && o.Epsilon == 0:
		return refuse("--limits accepts it: the output then does not depend on the rows at all", "epsilon is 0, want above 0")
	case !o.Limits && math.IsInf(o.Epsilon, 1):
		return refuse("--limits accepts it: the output then is the rows as they are, and nothing is protected", "epsilon is infinite")
	case o.Length < 1:
		return refuse("L is the longest history to keep, such as 100", "length is %d, want at least 1", o.Length)
	case o.Workers < 1:
		return refuse("", "workers is %d, want at least 1", o.Workers)
	case o.Items == 0 && o.Catalogue == "":
		return refuse("give --items M or --catalogue FILE: both public, and not read off the rows", "the size of the catalogue is missing")
	case o.Items != 0 && o.Catalogue != "":
		return refuse("the catalogue has the number of its ids", "items and a catalogue are given")
	case o.Items < 0:
		return refuse("", "items is %d, want at least 1", o.Items)
	}
	return nil
}

// checkFiles finds the forms of the files.
func (o *Options) checkFiles() error {
	for _, f := range []struct {
		what, path string
		form       *dataset.Form
	}{{"in", o.In, &o.InForm}, {"out", o.Out, &o.OutForm}} {
		if f.path == "" {
			return refuse("", "--%s is missing", f.what)
		}
		if *f.form != "" {
			continue
		}
		var ok bool
		if *f.form, ok = dataset.FormOf(f.path); !ok {
			return refuse(fmt.Sprintf("names end in .tsv, .csv, .inter, or .txt for a line a user, then .gz or .zst; or give --%s-form", f.what),
				"--%s: the name %q does not tell the form", f.what, filepath.Base(f.path))
		}
	}
	return nil
}

// size refuses a catalogue that does not suit the rows.
func (o *Options) size(m int) error {
	if m < o.Length && !o.Small {
		return refuse("is --items the size of the whole catalogue? --small accepts it", "%d items are fewer than the %d cells of a row", m, o.Length)
	}
	return nil
}

// Catalogue is the items that can be drawn: ids 1 to Items, or names of them.
type Catalogue struct {
	Items int
	names []string // nil: numbers
	index map[string]int32
}

// OpenCatalogue is the catalogue that the options state.
func OpenCatalogue(ctx context.Context, o Options) (*Catalogue, error) {
	if o.Catalogue == "" {
		return &Catalogue{Items: o.Items}, nil
	}
	form, ok := dataset.FormOf(o.Catalogue)
	if !ok {
		return nil, refuse("names end in .tsv, .csv, .inter, or .txt for an id a line, then .gz or .zst", "--catalogue: the name %q does not tell the form", filepath.Base(o.Catalogue))
	}
	names, err := dataset.ReadIDs(ctx, o.Catalogue, form, "item_id")
	if err != nil {
		return nil, err
	}
	c := &Catalogue{Items: len(names), names: names, index: make(map[string]int32, len(names))}
	for i, name := range names {
		c.index[name] = int32(i + 1)
	}
	return c, nil
}

// append writes an item's id.
func (c *Catalogue) append(b []byte, id int32) []byte {
	if c.names != nil {
		return append(b, c.names[id-1]...)
	}
	return strconv.AppendInt(b, int64(id), 10)
}

// Perturb reads the histories of In, perturbs them and writes Out, the users whose
// rows came out empty, the ledger and a report, all of them or none. Memory does not
// grow with the number of users or the length of a history: it is some 30 MiB, 4 bytes
// a worker and 4 once an item, and the names of a Catalogue. Beyond 2^17 a user costs
// 24 bytes on a file beside Out, and where users are sorted the perturbed row; these
// files have no name and go with the process.
func Perturb(ctx context.Context, o Options) (r *Report, err error) {
	if err := errors.Join(o.Check(), o.checkFiles()); err != nil {
		return nil, err
	}
	files := filesOf(o.Out)
	if err := files.free(o.Force); err != nil {
		return nil, err
	}
	cat, err := OpenCatalogue(ctx, o)
	if err != nil {
		return nil, err
	}
	if err := o.size(cat.Items); err != nil {
		return nil, err
	}
	in, err := openReader(ctx, o, cat)
	if err != nil {
		return nil, err
	}
	defer in.close()
	st, err := newStage(files)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, st.drop()) }()
	p := &perturber{o: o, m: o.Mechanism(cat.Items), cat: cat, in: in, st: st}
	if r, err = p.run(ctx); err != nil {
		return nil, err
	}
	if err := r.write(st); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil { // the last moment to turn back
		return nil, err
	}
	return r, st.commit()
}

// perturber is one perturbation at work.
type perturber struct {
	o   Options
	m   mechanism.Sequence
	cat *Catalogue
	in  *reader
	st  *stage
}

// bits are cryptographic, or those of a stream that no other setting has: two releases
// of one history under one noise would show their difference.
func (p *perturber) bits() (mechanism.Bits, privacy.Noise) {
	if p.o.Secure {
		return mechanism.Secret(), privacy.Secure
	}
	s := p.o.Seed.Stream("perturb pricdsr "+p.o.Purpose+" "+string(p.o.Variant), math.Float64bits(p.o.Epsilon), uint64(p.m.Items), uint64(p.m.Length))
	return mechanism.Keyed(s), privacy.Research
}

func (p *perturber) run(ctx context.Context) (r *Report, err error) {
	bits, mark := p.bits()
	ledger, err := privacy.CreateLedger(p.st.path(ledgerFile), mark)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, ledger.Close()) }()
	seq, err := p.m.OpenUsers(ledger, bits, func() (mechanism.Spill, error) { return nameless(p.st.dir) })
	if err != nil {
		return nil, refuse("", "%v", err)
	}
	finished := false
	finish := func() error { finished = true; return p.repeated(seq.Finish()) }
	defer func() {
		if !finished { // its files are closed; what it found is of no use any more
			err = errors.Join(err, ignore[*mechanism.RepeatedUser](finish()))
		}
	}()
	w, err := newWriter(p)
	if err != nil {
		return nil, err
	}
	t := newTally(p.m)
	p.o.Progress.Phase(fmt.Sprintf("perturb %s with %s, epsilon %g, %d items, %d cells a row", p.o.In, p.o.Variant, p.o.Epsilon, p.m.Items, p.m.Length))
	if w := Warning(p.m); w != "" {
		p.o.Progress.Phase("warning: " + w)
	}
	if p.o.KeepOrder {
		err = p.direct(ctx, seq, t, w)
	} else {
		err = p.sorted(ctx, seq, t, w, finish)
	}
	if err != nil {
		return nil, errors.Join(err, w.abandon())
	}
	if err := w.close(); err != nil {
		return nil, err
	}
	if !finished {
		if err := finish(); err != nil {
			return nil, err
		}
	}
	digest, err := p.in.s.Digest()
	if err != nil {
		return nil, err
	}
	return newReport(p, mark, digest, t, seq.Retained()), nil
}

// ignore drops an error of a type.
func ignore[T error](err error) error {
	var e T
	if errors.As(err, &e) {
		return nil
	}
	return err
}

// repeated says of a user who comes twice what is wrong with the file.
func (p *perturber) repeated(err error) error {
	var twice *mechanism.RepeatedUser
	if !errors.As(err, &twice) {
		return err
	}
	e := &dataset.Error{File: p.o.In, Line: int(twice.Second), Field: "user_id", Hint: "sort the file by user, then time"}
	e.Msg = fmt.Sprintf("the user of line %d comes again: the rows of a user must stand together", twice.First)
	if p.o.InForm == dataset.FormLines {
		e.Field, e.Hint = "user", "join the two lines"
		e.Msg = fmt.Sprintf("the user of line %d has a second line", twice.First)
	}
	return e
}

// direct perturbs and writes users in the order of the file.
func (p *perturber) direct(ctx context.Context, seq *mechanism.SequenceRun, t *tally, w *writer) error {
	ws, err := p.workers(seq)
	if err != nil {
		return err
	}
	err = inOrder(ctx, p.o.Workers, p.blocks(), p.in.fill, func(i int, b *block) error {
		if err := ws[i].perturb(b); err != nil {
			return err
		}
		return ws[i].format(b)
	}, func(b *block) error { return w.write(b, p.o.Progress) })
	t.sum(p.in, ws)
	return err
}

// sorted perturbs all users, sorts them by id and writes them.
func (p *perturber) sorted(ctx context.Context, seq *mechanism.SequenceRun, t *tally, w *writer, finish func() error) (err error) {
	ws, err := p.workers(seq)
	if err != nil {
		return err
	}
	s := &sorter{dir: p.st.dir, most: sortBytes, ways: sortWays}
	defer func() { err = errors.Join(err, s.close()) }()
	done := int64(0)
	err = inOrder(ctx, p.o.Workers, p.blocks(), p.in.fill, func(i int, b *block) error { return ws[i].perturb(b) }, func(b *block) error {
		for u := range b.users() {
			if err := s.add(b.id(u), b.row(u)); err != nil {
				return err
			}
		}
		tell(p.o.Progress, "perturbed", &done, b)
		return nil
	})
	t.sum(p.in, ws)
	if err != nil {
		return err
	}
	if err := finish(); err != nil {
		return err
	}
	fill := func(next func() *block) error {
		b := next()
		err := s.each(p.m.Length, func(id []byte, cells []int32) error {
			if b == nil {
				return context.Canceled
			}
			copy(b.push(id, 0), cells)
			if b.full() {
				b = next()
			}
			return nil
		})
		return err
	}
	return inOrder(ctx, p.o.Workers, p.blocks(), fill, func(i int, b *block) error { return ws[i].format(b) },
		func(b *block) error { return w.write(b, p.o.Progress) })
}

// tell reports every million users.
func tell(p run.Progress, what string, done *int64, b *block) {
	before := *done >> 20
	*done += int64(b.users())
	if *done>>20 > before {
		p.Phase(fmt.Sprintf("%s %d users", what, *done))
	}
}

// names of the files of a perturbation, beside the output.
const (
	outFile    = "out"
	emptyFile  = "empty"
	ledgerFile = "ledger"
	textFile   = "text"
	jsonFile   = "json"
)

// fileSet is where the files go, by name; the output last.
type fileSet []struct{ name, path string }

func filesOf(out string) fileSet {
	pack := ""
	stem := out
	for _, ext := range []string{".gz", ".zst"} {
		if s, ok := strings.CutSuffix(stem, ext); ok {
			stem, pack = s, ext
			break
		}
	}
	stem = strings.TrimSuffix(stem, filepath.Ext(stem))
	return fileSet{{emptyFile, stem + ".empty.tsv" + pack}, {ledgerFile, stem + ".ledger.jsonl"}, {textFile, stem + ".report.txt"}, {jsonFile, stem + ".report.json"}, {outFile, out}}
}

// free refuses to write over what is there.
func (f fileSet) free(force bool) error {
	for _, x := range f {
		info, err := os.Lstat(x.path)
		switch {
		case err != nil:
		case info.IsDir():
			return refuse("choose another --out", "%s is a folder", x.path)
		case !force:
			return refuse("choose another --out, or --force to replace what is there", "%s is there already", x.path)
		}
	}
	return nil
}

// stage is a folder beside the output in which its files come to be.
type stage struct {
	dir   string
	files fileSet
}

func newStage(files fileSet) (*stage, error) {
	out := files[len(files)-1].path
	dir, err := os.MkdirTemp(filepath.Dir(out), ".tmp-perturb-*")
	if err != nil {
		return nil, &dataset.WriteError{File: out, Err: err}
	}
	return &stage{dir, files}, nil
}

func (s *stage) path(name string) string { return filepath.Join(s.dir, name) }

// create writes a file of the stage.
func (s *stage) create(name string, write func(w io.Writer) error) error {
	return run.WriteFile(s.path(name), write)
}

// commit gives the files their names, the output last.
func (s *stage) commit() error {
	for _, x := range s.files {
		if err := os.Rename(s.path(x.name), x.path); err != nil {
			return &dataset.WriteError{File: x.path, Err: err}
		}
	}
	d, err := os.Open(filepath.Dir(s.dir))
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}

func (s *stage) drop() error { return os.RemoveAll(s.dir) }
