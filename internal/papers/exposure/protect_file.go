package exposure

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"

	"privrec/internal/dataset"
	"privrec/internal/dataset/format"
	"privrec/internal/perturb"
	"privrec/internal/privacy"
	"privrec/internal/privacy/mechanism"
	"privrec/internal/privacy/mechanism/local"
	"privrec/internal/rng"
)

// PerturbFile reads the slates of In, protects them and writes Out, a ledger and a
// report, all of them or none: with Force in place of those that were there. Whoever is killed
// between the names of two of them leaves no output; the next call says where the old files
// are. Memory does not grow with the number of slates: it is a few blocks of slates, and
// 4 bytes an item a worker, besides the ids of the items, 32 an item with popularity, and
// with similarity their vectors and one vector a user of History.
//
// What becomes of a slate depends on its number in the file, the settings and the seed;
// with in-batch on the slates around it too. Without seed (Secure) nothing comes twice.
func PerturbFile(ctx context.Context, o PerturbOptions) (r *PerturbReport, err error) {
	if err := errors.Join(o.Check(), o.checkFiles()); err != nil {
		return nil, err
	}
	outputs := perturb.Outputs{Files: outputsOf(o.Out), Force: o.Force, Sources: []string{o.In, o.Catalogue, o.Vectors, o.History}}
	if err := outputs.Free(); err != nil {
		return nil, err
	}
	cat, err := openCatalogue(ctx, &o)
	if err != nil {
		return nil, err
	}
	near, err := openNeighbours(ctx, &o, cat)
	if err != nil {
		return nil, err
	}
	in, err := openSlates(ctx, &o, cat)
	if err != nil {
		return nil, err
	}
	defer in.close()
	if err := o.fits(cat, in); err != nil {
		return nil, err
	}
	st, err := perturb.NewStage(outputs)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, st.Drop()) }()
	p := &filePerturber{o: &o, cat: cat, near: near, in: in, st: st, t: len(in.items)}
	if p.urn, err = cat.urn(o.Replace); err != nil {
		file := o.Catalogue
		if file == "" {
			file = o.In
		}
		return nil, &dataset.Error{File: file, Field: "count", Msg: err.Error()}
	}
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

// fits refuses a catalogue or a form that does not suit the slates.
func (o *PerturbOptions) fits(cat *itemNames, in *slateReader) error {
	t := len(in.items)
	if cat.len() < t {
		return refuseOption("is it the whole catalogue?", "%d items are fewer than the %d positions of a slate", cat.len(), t)
	}
	if o.Replace == ReplaceRR && cat.len() < 2 {
		return refuseOption("", "a catalogue of %d item leaves nothing to answer with", cat.len())
	}
	if o.OutForm == format.Lines && in.long() {
		return refuseOption("a line is a user and items: choose .tsv or .csv", "--out: lines have no place for the ids of slates")
	}
	file := o.Catalogue
	if file == "" {
		file = o.In
	}
	return cat.writable(o.OutForm, file)
}

// filePerturber is one perturbation at work.
type filePerturber struct {
	o    *PerturbOptions
	cat  *itemNames
	near *neighbours
	in   *slateReader
	st   *perturb.Stage
	t    int // T
	urn  urn // what is drawn from, by all workers; nil: the batch, or nothing

	answers *local.ResponseRun // of RR
	users   userTally          // of RR
}

// stream is what choices are drawn from where there is a seed. No two settings share one.
func (p *filePerturber) stream() rng.Stream {
	o := p.o
	return o.Seed.Stream("perturb exposure "+o.Purpose+" "+o.Select+" "+o.Replace+o.method().variant(), math.Float64bits(o.Ratio), math.Float64bits(o.Epsilon), uint64(p.cat.len()), uint64(p.t))
}

// open records what the release is: randomized response of every position, or nothing
// that could be accounted for.
func (p *filePerturber) open(l *privacy.Ledger) (err error) {
	if p.o.Replace != ReplaceRR {
		return l.Record(p.o.Purpose, privacy.Unprotected{What: p.o.Purpose,
			Why: fmt.Sprintf("replacing a share of %g of the items has no guarantee: the others are released as they are", p.o.Ratio)}, 1)
	}
	bits := mechanism.Keyed(p.stream())
	if p.o.Secure {
		bits = mechanism.Secret()
	}
	p.answers, err = response(p.o.Purpose, p.o.Epsilon, int64(p.cat.len())).Open(l, bits)
	return err
}

// hold states how many positions a user holds at most, where that is known. The number
// is data that the output shows as it is: every slate is written under its user, with
// all of its positions.
func (p *filePerturber) hold(l *privacy.Ledger) error {
	most, known := p.users.slates()
	if !known || most < 1 {
		return nil
	}
	return l.Hold(privacy.Holding{Unit: privacy.User, Of: privacy.Position, Most: most * int64(p.t)})
}

func (p *filePerturber) run(ctx context.Context) (r *PerturbReport, err error) {
	mark := privacy.Research
	if p.o.Secure {
		mark = privacy.Secure
	}
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
	if err := p.open(ledger); err != nil {
		return nil, refuseOption("", "%v", err)
	}
	out, err := os.Create(p.st.Path(outFile))
	if err != nil {
		return nil, &format.WriteError{File: p.o.Out, Err: err}
	}
	ws, err := p.work(ctx, out)
	if err == nil {
		if e := out.Sync(); e != nil {
			err = &format.WriteError{File: p.o.Out, Err: e}
		}
	}
	if e := out.Close(); e != nil && err == nil {
		err = &format.WriteError{File: p.o.Out, Err: e}
	}
	if err != nil {
		return nil, err
	}
	if p.answers != nil {
		if err := errors.Join(p.answers.Finish(), p.hold(ledger)); err != nil {
			return nil, err
		}
	}
	digest, err := p.in.rows.Digest()
	if err != nil {
		return nil, err
	}
	if p.cat.digest != "" && p.cat.digest != digest {
		return nil, &dataset.Error{File: p.o.In, Msg: "the file changed between the two times it was read", Hint: "give it when it is written to the end"}
	}
	return newPerturbReport(p, mark, digest, ws), nil
}

// work perturbs all slates and writes them in their order.
func (p *filePerturber) work(ctx context.Context, out *os.File) (ws []*slateWorker, err error) {
	ws = make([]*slateWorker, p.o.Workers)
	for i := range ws {
		if ws[i], err = newSlateWorker(p); err != nil {
			return nil, err
		}
	}
	head, err := ws[0].pack.Append(nil, []byte(p.header()))
	if err == nil {
		_, err = out.Write(head)
	}
	if err != nil {
		return nil, &format.WriteError{File: p.o.Out, Err: err}
	}
	strength := fmt.Sprintf("%s, %s, ratio %g", p.o.Select, p.o.Replace, p.o.Ratio)
	if p.o.Replace == ReplaceRR {
		strength = fmt.Sprintf("rr, epsilon %g", p.o.Epsilon)
	}
	p.o.Progress.Phase(fmt.Sprintf("perturb %s: %s; %d items, %d positions a slate", p.o.In, strength, p.cat.len(), p.t))
	blocks := make([]*slateBlock, 2*p.o.Workers+2)
	for i := range blocks {
		blocks[i] = newSlateBlock(p.t, p.o.blockSlates(p.t))
	}
	done := int64(0)
	return ws, perturb.InOrder(ctx, p.o.Workers, blocks, p.fill, func(i int, b *slateBlock) error { return ws[i].do(b) }, func(b *slateBlock) error {
		if _, err := out.Write(b.packed); err != nil {
			return &format.WriteError{File: p.o.Out, Err: err}
		}
		before := done >> 20
		if done += int64(b.len()); done>>20 > before {
			p.o.Progress.Phase(fmt.Sprintf("written %d slates", done))
		}
		return nil
	})
}
