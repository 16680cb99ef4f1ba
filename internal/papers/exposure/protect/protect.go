package protect

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"

	"privrec/internal/dataset/slate"
	"privrec/internal/privacy"
	"privrec/internal/privacy/mechanism"
	"privrec/internal/privacy/mechanism/local"
	"privrec/internal/rng"
)

// Report counts the changes of a protection.
type Report struct {
	Slates   int64
	Count    int   // positions replaced in every slate; of RR the positions answered
	Replaced int64 // positions that hold another token afterwards
	// Blind is the number of slates whose reference has no vector: similarity has no value there, and positions go in
	// their order.
	Blind   int64
	Batches int // of in-batch

	Keep         float64 // of RR: probability that a position stays as it is
	Catalogue    int64   // of RR: categories, the token of unknown items among them
	Epsilon      float64 // of RR: of a position; 0: there is no guarantee
	SlateEpsilon float64 // of RR: of a slate, T times that
}

// Slates replaces items of slates as section 4 of the paper says, or sends every
// position through randomized response, whose event goes to the ledger; other methods
// have no guarantee. What becomes of a slate depends on its row, the
// settings and the seed. p stays as it is; the result shares its users, behaviours and
// Complete, which goes on to say whether the pair was complete before.
//
// Pairs with a user, a token or a length that pool, vocabulary and vectors have no place
// for are an error that names pair and column.
//
// An item that comes into a slate was not in it before, so that exactly ceil(T Ratio)
// positions change; in RR a position may get any item, one that the slate has too.
func Slates(ctx context.Context, p *slate.Pairs, o Options) (*slate.Pairs, Report, error) {
	out := &slate.Pairs{T: p.T, L: p.L, Slates: append([]int32(nil), p.Slates...), Behaviours: p.Behaviours,
		Users: p.Users, Complete: p.Complete}
	r := Report{Slates: int64(p.Len())}
	if err := o.check(p); err != nil {
		return nil, r, fmt.Errorf("protect slates: %w", err)
	}
	var err error
	if ctx.Err() != nil { // before randomized response takes its epsilon
		err = context.Cause(ctx)
	} else if o.Replace == ReplaceRR {
		err = o.respond(out, &r)
	} else if r.Count = positions(p.T, o.Ratio); r.Count > 0 {
		err = o.replace(ctx, out, &r)
	}
	if err != nil {
		return nil, r, fmt.Errorf("protect slates: %w", err)
	}
	for i, t := range out.Slates {
		if t != p.Slates[i] {
			r.Replaced++
		}
	}
	return out, r, nil
}

// purpose returns the name of the release in the ledger.
func (o *Options) purpose() string {
	if o.Part == "" {
		return "slate positions"
	}
	return "slate positions, " + o.Part
}

// stream returns the stream of a setting's random choices. No two settings share one, nor do two ratios of one
// selection and replacement. So the points of a curve have independent errors, and releases at two ratios together
// reveal no more about the replaced positions than each by itself.
func (o *Options) stream(kind string) rng.Stream {
	name, ratio, epsilon := "protect exposure "+o.Part+" "+o.Select+" "+o.Replace+" "+kind+o.variant(),
		math.Float64bits(o.Ratio), math.Float64bits(o.Epsilon)
	if o.Under != nil {
		return o.Under.Of(name).Sub(ratio, epsilon)
	}
	return o.Seed.Stream(name, ratio, epsilon)
}

// variant names the differences of a setting from others with its selection and replacement. Only what its method reads
// counts, and defaults have no name: an option that is not set changes no random choice.
func (o *Method) variant() (name string) {
	if o.Similarity() {
		if o.Weighted {
			name += fmt.Sprintf(" weighted %g", o.Tau)
		}
		if o.Reference == ReferenceSlate {
			name += " to the slate"
		}
	}
	if o.Replace == ReplaceInBatch {
		if o.OwnRows {
			name += " own rows"
		}
		if o.Batch != DefaultBatch {
			name += fmt.Sprintf(" batch %d", o.Batch)
		}
	}
	return name
}

// respond answers every position by randomized response over the items and the token of unknown items.
func (o *Options) respond(p *slate.Pairs, r *Report) error {
	m := response(o.purpose(), o.Epsilon, int64(o.Pool.vocab)-int64(slate.FirstItem)+1)
	r.Count, r.Keep, r.Catalogue, r.Epsilon, r.SlateEpsilon = p.T, m.Keep(), m.Categories, o.Epsilon,
		o.Epsilon*float64(p.T)
	if o.Ledger == nil {
		return errors.New("rr needs a ledger for its epsilon")
	}
	if err := o.checkPairs(p); err != nil {
		return err
	}
	const shift = slate.FirstItem - 1 // unknown items are category 0
	for i, t := range p.Slates {
		if t == slate.OOV {
			p.Slates[i] = 0
		} else {
			p.Slates[i] = t - shift
		}
	}
	if p.Len() > 0 { // what records nothing covers no other part
		if err := o.Parallel.answer(o.Part, m, o.Ledger, func(m local.Response, l *privacy.Ledger) error {
			return local.PerturbResponses(m, l, mechanism.Keyed(o.stream("responses")), p.Slates)
		}); err != nil {
			return err
		}
	}
	for i, c := range p.Slates {
		if c == 0 {
			p.Slates[i] = slate.OOV
		} else {
			p.Slates[i] = c + shift
		}
	}
	return nil
}

// response returns the mechanism of RR. Its unit is one position of one slate, without the rest of the user's data, so
// a slate costs T times its epsilon.
func response(purpose string, epsilon float64, categories int64) local.Response {
	return local.Response{Purpose: purpose, Epsilon: epsilon, Categories: categories, Unit: privacy.Position}
}

// checkEvery is the number of slates between checks of the context.
const checkEvery = 256

// replace replaces count positions of every slate.
func (o *Options) replace(ctx context.Context, p *slate.Pairs, r *Report) error {
	if err := o.checkPairs(p); err != nil {
		return err
	}
	rows, bounds := []int32(nil), deal(p.Len(), max(p.Len(), 1))
	if o.Replace == ReplaceInBatch { // shuffled anew by every seed, not once for all as in the released program
		s := o.stream("batches")
		rows, bounds = s.Perm(p.Len()), deal(p.Len(), o.Batch)
		r.Batches = len(bounds) - 1
	}
	work := make([]*swapper, o.Workers)
	for w := range work {
		work[w] = newSwapper(o, p.T, r.Count, o.Pool.vocab)
	}
	for k := range len(bounds) - 1 {
		from, to := bounds[k], bounds[k+1]
		row := func(i int) int { return i }
		var b *batch
		if rows != nil {
			row = func(i int) int { return int(rows[i]) }
			users := make([]int32, 0, to-from)
			for i := from; i < to; i++ {
				users = append(users, p.Users[rows[i]])
			}
			b = o.Pool.batch(users)
		}
		errs := make([]error, o.Workers)
		var wg sync.WaitGroup
		for w := range work {
			wg.Go(func() {
				n := to - from
				for i := from + w*n/o.Workers; i < from+(w+1)*n/o.Workers && errs[w] == nil; i++ {
					if i%checkEvery == 0 && ctx.Err() != nil {
						return
					}
					errs[w] = work[w].pair(p, row(i), b)
				}
			})
		}
		wg.Wait()
		if err := errors.Join(errs...); err != nil {
			return err
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
	for _, w := range work {
		r.Blind += w.blind
	}
	return nil
}

// swapper replaces items of slates for one goroutine.
type swapper struct {
	o       *Options
	choose  *chooser
	new     distinct
	stream  rng.Stream
	base    rng.Stream
	blind   int64
	byPast  bool
	similar bool
}

func newSwapper(o *Options, t, count, tokens int) *swapper {
	return &swapper{o: o, choose: newChooser(o, t, count), new: distinct{marks: make([]uint32, tokens)},
		base:   o.stream("slates"),
		byPast: o.Reference == ReferencePast, similar: o.Similarity()}
}

// pair replaces items of the slate of pair i.
func (s *swapper) pair(p *slate.Pairs, i int, b *batch) error {
	var u urn
	switch s.o.Replace {
	case ReplaceUniform:
		u = s.o.Pool.even
	case ReplacePopularity:
		u = s.o.Pool.popular
	default:
		u = b.urn(p.Users[i], s.o.OwnRows)
	}
	s.stream = s.base.Sub(uint64(i))
	row := p.Slate(i)
	var reference []float64
	if s.similar {
		from, ok := row, false
		if s.byPast {
			from = p.Behaviour(i)
		}
		if reference, ok = s.choose.reference(from); !ok {
			s.blind++
		}
	}
	if err := swapItems(s.choose, &s.new, dice{&s.stream}, row, reference, u); err != nil {
		return fmt.Errorf("slate %d: %w", i, err)
	}
	return nil
}

// swapItems replaces the selected items of one slate by items that it does not have.
func swapItems(c *chooser, x *distinct, d dice, row []int32, reference []float64, u urn) error {
	at := c.choose(d, row, reference)
	x.start(row)
	for k, pos := range at {
		item, ok := x.draw(u, d)
		if !ok {
			return &errUrn{len(row), len(at), k}
		}
		row[pos] = item
	}
	return nil
}
