package protect

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"

	"privrec/internal/dataset"
	"privrec/internal/dataset/format"
	"privrec/internal/perturb"
	"privrec/internal/perturb/slates"
	"privrec/internal/privacy"
	"privrec/internal/privacy/mechanism/local"
	"privrec/internal/rng"
	"privrec/internal/run"
)

// File reads the slates of In, protects them and writes Out, a ledger and a report, as [perturb.Run] does. It needs
// memory for a few blocks of slates, 4 bytes for each item and worker, the ids of the items, 32 bytes an item with
// popularity, and with similarity the items' vectors and one vector for each user of History.
//
// The result for a slate depends on its number in the file, the settings and the seed, and with in-batch on the slates
// around it too. Without a seed (Secure) no result can be repeated.
func File(ctx context.Context, o FileOptions) (*FileReport, error) {
	if err := errors.Join(o.Check(), o.checkFiles()); err != nil {
		return nil, err
	}
	p := &filePerturber{o: &o, users: slates.Users{Room: o.room()}}
	j := perturb.Job[int32]{
		Settings: &o.Settings, Kind: Kind, Noun: "slates", State: p.state, Sources: []string{o.Vectors, o.History},
		Open: p.open, Release: p.release, Worker: p.worker, Finish: p.finish, Report: p.newReport,
	}
	switch o.Replace {
	case ReplaceRR:
		j.Order = p.order
	case ReplaceInBatch:
		j.Batch = o.Batch
	}
	err := perturb.Run(ctx, j)
	return p.report, err
}

// filePerturber holds one perturbation in progress.
type filePerturber struct {
	o      *FileOptions
	cat    *perturb.Catalogue
	shown  *shown
	near   *neighbours
	in     *slates.Reader
	urn    urn // what is drawn from, by all workers; nil: the batch, or nothing
	ws     []*slateWorker
	report *FileReport

	answers *local.ResponseRun // of RR
	users   slates.Users       // of RR
}

// open reads the inputs of the method, and opens the file.
func (p *filePerturber) open(ctx context.Context) (_ perturb.Records[int32], err error) {
	if p.cat, p.shown, err = openCatalogue(ctx, p.o); err != nil {
		return nil, err
	}
	if p.near, err = openNeighbours(ctx, p.o, p.cat); err != nil {
		return nil, err
	}
	if p.in, err = slates.Open(ctx, &p.o.Settings, p.cat, p.o.room()); err != nil {
		return nil, err
	}
	if err := p.fits(); err != nil {
		p.in.Close()
		return nil, err
	}
	return p.in, nil
}

// fits refuses a catalogue or a form that does not suit the slates.
func (p *filePerturber) fits() (err error) {
	o, t := p.o, p.in.Length()
	switch {
	case p.cat.Size < t:
		return perturb.Refuse("is it the whole catalogue?", "%d items are fewer than the %d positions of a slate",
			p.cat.Size, t)
	case o.Replace == ReplaceRR && p.cat.Size < 2:
		return perturb.Refuse("", "a catalogue of %d item leaves nothing to answer with", p.cat.Size)
	case o.OutForm == format.Lines && p.in.Named():
		return perturb.Refuse("a line is a user and items: choose .tsv or .csv",
			"--out: lines have no place for the ids of slates")
	}
	file := o.Catalogue
	if file == "" {
		file = o.In
	}
	if err := p.cat.Writable(o.OutForm, file); err != nil {
		return err
	}
	switch o.Replace {
	case ReplaceUniform:
		p.urn = span(p.cat.Size)
	case ReplacePopularity:
		if p.urn, err = newAlias(p.shown.counts); err != nil {
			return &dataset.Error{File: file, Field: "count", Msg: err.Error()}
		}
	}
	return nil
}

// stream returns the stream of choices if there is a seed. No two settings share one.
func (p *filePerturber) stream() rng.Stream {
	o := p.o
	return o.Seed.Stream("perturb exposure "+o.Purpose+" "+o.Select+" "+o.Replace+o.variant(),
		math.Float64bits(o.Ratio), math.Float64bits(o.Epsilon), uint64(p.cat.Size), uint64(p.in.Length()))
}

// release records the event of the release: randomized response of every position, or an unprotected release.
func (p *filePerturber) release(l *privacy.Ledger, _ func() (*os.File, error)) (err error) {
	o, strength := p.o, fmt.Sprintf("%s, %s, ratio %g", p.o.Select, p.o.Replace, p.o.Ratio)
	if o.Replace == ReplaceRR {
		strength = fmt.Sprintf("rr, epsilon %g", o.Epsilon)
		if p.answers, err = response(o.Purpose, o.Epsilon, int64(p.cat.Size)).Open(l, o.Bits(p.stream())); err == nil {
			err = p.answers.Skip(int(o.First))
		}
	} else {
		err = o.unprotected(l)
	}
	if err == nil {
		o.Progress.Phase(fmt.Sprintf("perturb %s: %s; %d items, %d positions a slate", o.In, strength, p.cat.Size,
			p.in.Length()))
	}
	return err
}

// unprotected records a release without a guarantee.
func (o *FileOptions) unprotected(l *privacy.Ledger) error {
	return l.Record(o.Purpose, unprotected(o.Purpose, o.Ratio), 1)
}

// unprotected returns the event for the release of slates with a share of replaced items.
func unprotected(purpose string, ratio float64) privacy.Unprotected {
	return privacy.Unprotected{What: purpose,
		Why: fmt.Sprintf("replacing a share of %g of the items has no guarantee: the others are released as they are",
			ratio)}
}

// order passes the rows to randomized response in the order of the file, and counts the slates of users.
func (p *filePerturber) order(b *perturb.Block[int32], own bool) error {
	for i := range b.Len() {
		p.users.Add(b.ID(i, 0))
	}
	if !own {
		return p.answers.Skip(b.Len())
	}
	rows, err := p.answers.Rows(b.Len())
	b.State = rows
	return err
}

// finish ends randomized response and records the largest number of positions of one user, if known. The output shows
// that number anyway: every slate is written under its user, with all of its positions.
func (p *filePerturber) finish(l *privacy.Ledger) error {
	if p.answers == nil {
		return nil
	}
	err := p.answers.Finish()
	if most, known := p.most(); known && most > 0 {
		err = errors.Join(err, l.Hold(privacy.Holding{Unit: privacy.User, Of: privacy.Position,
			Most: most * int64(p.in.Length())}))
	}
	return err
}

// most returns the largest number of slates of one user, if known. A shard that got only its own slates does not see
// those of its users in other shards.
func (p *filePerturber) most() (n int64, known bool) {
	if p.o.Own {
		return 0, false
	}
	return p.users.Most()
}

// newReport returns the report of the perturbation.
func (p *filePerturber) newReport(f perturb.Facts) (run.Result, error) {
	if p.shown != nil && p.shown.digest != "" && p.shown.digest != f.Digest {
		return nil, &dataset.Error{File: p.o.In, Msg: "the file changed between the two times it was read",
			Hint: "give it when it is written to the end"}
	}
	r := &FileReport{Facts: f, Options: *p.o, Length: p.in.Length(), Items: p.cat.Size, Count: p.in.Length(),
		ids: p.in.Named(), once: p.in.Distinct()}
	for _, w := range p.ws {
		r.add(w.slateCounts)
	}
	if p.shown != nil {
		r.CountsFrom = p.shown.from
	}
	if p.near != nil {
		r.vectorCounts = p.near.vectorCounts
	}
	if p.o.Replace == ReplaceRR {
		m := response(p.o.Purpose, p.o.Epsilon, int64(p.cat.Size))
		r.Keep, r.Other = m.Keep(), m.Other()
		if most, known := p.most(); known {
			r.Most = most
		}
	} else {
		r.Count = positions(r.Length, p.o.Ratio)
	}
	p.report = r
	return r.Document(), nil
}

// FileOptions says which slates to protect and how: Options for files.
type FileOptions struct {
	// Length is T; 0: that of the first slate. With popularity the column count of the Catalogue says how often each
	// item is shown. Without Catalogue and Items the items and their counts are those of In, which is then read twice.
	// With RR they must be stated, and public.
	perturb.Settings

	Method

	Vectors string // file with item_id and numbers, or directory of a finished train sasrec; of similarity
	History string // file with user_id and item_id, past behaviour; of similarity to it
	Past    *Past  `json:"-"` // in place of History, summed up already; nil: History says

	remember int // users, and slates, that are kept apart at a time; 0: slates.Remembered
}

// room returns the number of users, and of slates, that are told apart at a time.
func (o *FileOptions) room() int {
	if o.remember > 0 {
		return o.remember
	}
	return slates.Remembered
}

// Check fills in defaults and refuses what cannot be carried out.
func (o *FileOptions) Check() error {
	o.fill()
	if err := o.Method.check(); err != nil {
		return perturb.Refuse("", "%v", err)
	}
	switch {
	case o.Length < 0:
		return perturb.Refuse("leave it out where the first slate tells", "length is %d, want at least 1", o.Length)
	case o.Items > slates.MaxItems:
		return perturb.Refuse("", "items is %d, want at most %d", o.Items, slates.MaxItems)
	}
	if err := o.Settings.Check("slates"); err != nil {
		return err
	}
	switch {
	case o.Replace == ReplaceRR && o.Items == 0 && o.Catalogue == "":
		return perturb.Refuse("give --items M or --catalogue FILE: both public, and not read off the slates",
			"the catalogue is missing: rr answers with any item of it")
	case o.Similarity() && o.Vectors == "":
		return perturb.Refuse("give --vectors FILE, with item_id and numbers", "select %s needs vectors of the items",
			o.Select)
	case o.Similarity() && o.Reference == ReferencePast && o.History == "" && o.Past == nil:
		return perturb.Refuse("give --history FILE, with user_id and item_id, or --reference slate",
			"select %s needs the past behaviour of the users", o.Select)
	case !o.Similarity() && (o.Vectors != "" || o.History != "" || o.Past != nil):
		return perturb.Refuse("leave them out", "vectors and histories are of select similar and dissimilar")
	case (o.History != "" || o.Past != nil) && o.Reference == ReferenceSlate:
		return perturb.Refuse("leave it out", "with --reference slate no history is looked at")
	}
	return nil
}

// slateALine describes a line of a .txt file.
const slateALine = "a slate a line"

// checkFiles finds the forms of the files.
func (o *FileOptions) checkFiles() error {
	if err := o.FindForms(slateALine, false); err != nil {
		return err
	}
	if info, err := os.Stat(o.In); err == nil && !info.Mode().IsRegular() && !info.IsDir() && o.twice() {
		return perturb.Refuse("give --catalogue FILE, or the slates as a file",
			"--in is read twice to find the items, and %s can be read once", o.In)
	}
	return nil
}

// twice reports whether the slates are read a second time, to find items and counts.
func (o *FileOptions) twice() bool { return o.Items == 0 && o.Catalogue == "" }
