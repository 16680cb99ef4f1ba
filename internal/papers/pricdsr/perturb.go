package pricdsr

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"

	"privrec/internal/dataset"
	"privrec/internal/dataset/format"
	"privrec/internal/perturb"
	"privrec/internal/perturb/histories"
	"privrec/internal/privacy"
	"privrec/internal/privacy/mechanism"
	"privrec/internal/privacy/mechanism/sequence"
	"privrec/internal/run"
)

// Perturb reads the histories of In, perturbs them and writes Out, the users whose
// rows came out empty, the ledger and a report, as [perturb.Run] does. It takes some
// 30 MiB, 4 bytes a worker and 4 once an item, and the names of a Catalogue. Beyond 2^17 a
// user costs 24 bytes on a file beside Out.
func Perturb(ctx context.Context, o Options) (*Report, error) {
	if err := errors.Join(o.Check(), o.FindForms("a line a user", true)); err != nil {
		return nil, err
	}
	p := &perturber{o: o}
	err := perturb.Run(ctx, p.job())
	return p.report, err
}

// perturber is one perturbation at work.
type perturber struct {
	o      Options
	m      sequence.Mechanism
	in     *histories.Reader
	seq    *sequence.Run
	counts []*Counts // of the workers
	report *Report
}

// job lays the perturbation out for the engine of files.
func (p *perturber) job() perturb.Job[int32] {
	j := perturb.Job[int32]{
		Settings: &p.o.Settings, Noun: "users", Beside: histories.Beside(),
		Open: p.open, Release: p.release, Worker: p.worker, Report: p.newReport,
		Finish: func(*privacy.Ledger) error { return p.repeated(p.seq.Finish()) },
		Abandon: func() error { // its files are closed; that a user came twice is of no use any more
			err := p.seq.Finish()
			if e := (*sequence.RepeatedUser)(nil); errors.As(err, &e) {
				return nil
			}
			return err
		},
	}
	if !p.o.KeepOrder {
		j.Sort = perturb.Items()
	}
	return j
}

// open refuses a catalogue that does not suit the rows, and opens the file.
func (p *perturber) open(ctx context.Context) (perturb.Records[int32], error) {
	cat, err := OpenCatalogue(ctx, &p.o)
	if err != nil {
		return nil, err
	}
	if cat.Size < p.o.Length && !p.o.Small {
		err = perturb.Refuse("is --items the size of the whole catalogue? --small accepts it", "%d items are fewer than the %d cells of a row", cat.Size, p.o.Length)
	}
	if err := errors.Join(err, cat.Writable(p.o.OutForm, p.o.Catalogue)); err != nil {
		return nil, err
	}
	p.m = p.o.Mechanism(cat.Size)
	if err := p.m.Validate(); err != nil { // before what is as large is made
		return nil, perturb.Refuse("", "%v", err)
	}
	p.in, err = histories.Open(ctx, &p.o.Settings, cat, p.o.Strict)
	return p.in, err
}

// bits draws from a stream that no other setting has.
func (p *perturber) bits() mechanism.Bits {
	return p.o.Bits(p.o.Seed.Stream("perturb pricdsr "+p.o.Purpose+" "+string(p.o.Variant), math.Float64bits(p.o.Epsilon), uint64(p.m.Items), uint64(p.m.Length)))
}

// release records that every row is perturbed, once.
func (p *perturber) release(l *privacy.Ledger, spill func() (*os.File, error)) (err error) {
	if p.seq, err = p.m.OpenUsers(l, p.bits(), func() (sequence.Spill, error) { return spill() }); err != nil {
		return err
	}
	p.o.Progress.Phase(fmt.Sprintf("perturb %s with %s, epsilon %g, %d items, %d cells a row", p.o.In, p.o.Variant, p.o.Epsilon, p.m.Items, p.m.Length))
	if w := Warning(p.m); w != "" {
		p.o.Progress.Phase("warning: " + w)
	}
	return nil
}

func (p *perturber) newCounts() *Counts { return &Counts{Lengths: make([]int64, p.m.Length+1)} }

// worker perturbs the rows of blocks for one goroutine.
func (p *perturber) worker() (func(b *perturb.Block[int32]) error, error) {
	s, err := p.seq.UserSampler()
	if err != nil {
		return nil, err
	}
	t, before := p.newCounts(), make([]int32, p.m.Length)
	p.counts = append(p.counts, t)
	return func(b *perturb.Block[int32]) error {
		for u := range b.Len() {
			row := b.Cells(u)
			copy(before, row)
			if err := s.RowOf(sequence.KeyOf(b.ID(u, 0)), int64(b.Line(u)), row); err != nil {
				return err
			}
			t.see(before, row)
		}
		return nil
	}, nil
}

// repeated says of a user who comes twice what is wrong with the file.
func (p *perturber) repeated(err error) error {
	var twice *sequence.RepeatedUser
	if !errors.As(err, &twice) {
		return err
	}
	e := &dataset.Error{File: p.o.In, Line: int(twice.Second), Field: "user_id", Hint: "sort the file by user, then time"}
	e.Msg = fmt.Sprintf("the user of line %d comes again: the rows of a user must stand together", twice.First)
	if p.o.InForm == format.Lines {
		e.Field, e.Hint = "user", "join the two lines"
		e.Msg = fmt.Sprintf("the user of line %d has a second line", twice.First)
	}
	return e
}

// newReport says what was done.
func (p *perturber) newReport(f perturb.Facts) (run.Result, error) {
	p.report = &Report{Facts: f, Tally: p.in.Tally, Counts: *p.newCounts(), Retained: p.seq.Retained(), Mechanism: p.m, KeepOrder: p.o.KeepOrder}
	for _, c := range p.counts {
		p.report.add(*c)
	}
	return p.report.Document(), nil
}
