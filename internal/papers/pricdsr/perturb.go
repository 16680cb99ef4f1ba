package pricdsr

import (
	"context"
	"errors"
	"fmt"
	"math"

	"privrec/internal/dataset"
	"privrec/internal/dataset/format"
	"privrec/internal/perturb"
	"privrec/internal/privacy"
	"privrec/internal/privacy/mechanism"
	"privrec/internal/privacy/mechanism/sequence"
)

// Perturb reads the histories of In, perturbs them and writes Out, the users whose
// rows came out empty, the ledger and a report, all of them or none. Memory does not
// grow with the number of users or the length of a history: it is some 30 MiB, 4 bytes
// a worker and 4 once an item, and the names of a Catalogue. Beyond 2^17 a user costs
// 24 bytes on a file beside Out, and where users are sorted the perturbed row; these
// files have no name and go with the process. A killed process leaves a folder
// .tmp-perturb-* beside Out, which the next one there removes, and nothing under the names
// of the files; killed while it replaces files (Force), it leaves no output, and the next
// call says where the old ones are.
func Perturb(ctx context.Context, o Options) (r *Report, err error) {
	if err := errors.Join(o.Check(), o.checkFiles()); err != nil {
		return nil, err
	}
	outputs := perturb.Outputs{Files: filesOf(o.Out), Force: o.Force, Sources: []string{o.In, o.Catalogue}}
	if err := outputs.Free(); err != nil {
		return nil, err
	}
	cat, err := OpenCatalogue(ctx, o)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(o.size(cat.Items), cat.writable(o.OutForm, o.Catalogue)); err != nil {
		return nil, err
	}
	m := o.Mechanism(cat.Items)
	if err := m.Validate(); err != nil { // before what is as large is made
		return nil, refuse("", "%v", err)
	}
	in, err := openReader(ctx, o, cat)
	if err != nil {
		return nil, err
	}
	defer in.close()
	st, err := perturb.NewStage(outputs)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, st.Drop()) }()
	p := &perturber{o: o, m: m, cat: cat, in: in, st: st}
	if r, err = p.run(ctx); err != nil {
		return nil, err
	}
	if err := r.write(st); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil { // the last moment to turn back
		return nil, err
	}
	return r, st.Commit(o.Progress)
}

// perturber is one perturbation at work.
type perturber struct {
	o   Options
	m   sequence.Mechanism
	cat *Catalogue
	in  *reader
	st  *perturb.Stage
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
	ledger, err := privacy.CreateKeyedLedger(p.st.Path(ledgerFile), mark, p.o.Key)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, ledger.Leave())
		} else if err = ledger.Close(); err == nil {
			r.Ledger, _ = ledger.Seal()
		}
	}()
	seq, err := p.m.OpenUsers(ledger, bits, func() (sequence.Spill, error) { return nameless(p.st.Dir()) })
	if err != nil {
		return nil, refuse("", "%v", err)
	}
	finished := false
	finish := func() error { finished = true; return p.repeated(seq.Finish()) }
	defer func() {
		if !finished { // its files are closed; what it found is of no use any more
			err = errors.Join(err, ignore[*sequence.RepeatedUser](finish()))
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

// direct perturbs and writes users in the order of the file.
func (p *perturber) direct(ctx context.Context, seq *sequence.Run, t *tally, w *writer) error {
	ws, err := p.workers(seq)
	if err != nil {
		return err
	}
	err = perturb.InOrder(ctx, p.o.Workers, p.blocks(), p.in.fill, func(i int, b *block) error {
		if err := ws[i].perturb(b); err != nil {
			return err
		}
		return ws[i].format(b)
	}, func(b *block) error { return w.write(b, p.o.Progress) })
	t.sum(p.in, ws)
	return err
}

// sorted perturbs all users, sorts them by id and writes them.
func (p *perturber) sorted(ctx context.Context, seq *sequence.Run, t *tally, w *writer, finish func() error) (err error) {
	ws, err := p.workers(seq)
	if err != nil {
		return err
	}
	s := &sorter{dir: p.st.Dir(), most: sortBytes, ways: sortWays}
	defer func() { err = errors.Join(err, s.close()) }()
	done := int64(0)
	err = perturb.InOrder(ctx, p.o.Workers, p.blocks(), p.in.fill, func(i int, b *block) error { return ws[i].perturb(b) }, func(b *block) error {
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
	return perturb.InOrder(ctx, p.o.Workers, p.blocks(), fill, func(i int, b *block) error { return ws[i].format(b) },
		func(b *block) error { return w.write(b, p.o.Progress) })
}
