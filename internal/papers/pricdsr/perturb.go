package pricdsr

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"

	"privrec/internal/dataset"
	"privrec/internal/dataset/format"
	"privrec/internal/perturb"
	"privrec/internal/perturb/histories"
	"privrec/internal/privacy"
	"privrec/internal/privacy/budget"
	"privrec/internal/privacy/mechanism"
	"privrec/internal/privacy/mechanism/sequence"
	"privrec/internal/run"
)

// Perturb reads the histories of In, perturbs them and writes Out, the users whose rows came out empty, the ledger and
// a report, as [perturb.Run] does. It takes some 30 MiB, and for each item 4 bytes a worker and 4 bytes once, and the
// names of a Catalogue. Each user beyond 2^17 takes 24 bytes on a file beside Out.
func Perturb(ctx context.Context, o Options) (*Report, error) {
	if err := errors.Join(o.Check(), o.FindForms("a line a user", true)); err != nil {
		return nil, err
	}
	p := &perturber{o: o}
	err := perturb.Run(ctx, p.job())
	return p.report, err
}

// perturber holds one perturbation in progress.
type perturber struct {
	o      Options
	m      sequence.Mechanism
	in     *histories.Reader
	seq    *sequence.Run
	counts []*Counts // of the workers
	report *Report
}

// job returns the perturbation as a job for package perturb.
func (p *perturber) job() perturb.Job[int32] {
	j := perturb.Job[int32]{
		Settings: &p.o.Settings, Kind: Kind, Noun: "users", Beside: histories.Beside(), ByUser: true, State: p.state,
		Open: p.open, Spends: p.spends, Release: p.release, Worker: p.worker, Report: p.newReport,
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

// spends returns the cost of the release: a whole row replaced by another, at a pure epsilon.
func (p *perturber) spends() (task string, plan *privacy.Plan, err error) {
	if p.m.Variant == sequence.SDPLengths {
		return "", nil, &budget.Refusal{Message: "the guarantee of " + string(p.m.Variant) +
			" for a row takes its length as public, and a budget is for rows of any length",
			Fix: "take another --mechanism, or leave out --parent"}
	}
	e := p.m.UserEvent()
	cost, ok := e.(privacy.PureLDP)
	if !ok {
		return "", nil, &budget.Refusal{Message: fmt.Sprintf(
			"the release has no finite epsilon for a row, and nothing of it can be spent from the budget in %s",
			p.o.Parent), Fix: "take a finite --epsilon"}
	}
	return "perturb pricdsr", &privacy.Plan{
		Budget:   privacy.Budget{Epsilon: cost.Epsilon, Delta: pureDelta},
		Subject:  privacy.Subject{Unit: privacy.User, Neighbouring: privacy.Replace},
		Releases: []privacy.Entry{{Purpose: p.o.Purpose, Count: 1, Event: e}},
	}, nil
}

// pureDelta is the delta charged to a budget for a release that is private with delta 0, since accountants need one
// above 0.
const pureDelta = 1e-15

// open refuses a catalogue that does not suit the rows, and opens the file.
func (p *perturber) open(ctx context.Context) (perturb.Records[int32], error) {
	cat, err := p.catalogue(ctx)
	if err != nil {
		return nil, err
	}
	p.in, err = histories.Open(ctx, &p.o.Settings, cat, p.o.Strict)
	return p.in, err
}

// catalogue opens the catalogue and refuses one that does not suit the rows.
func (p *perturber) catalogue(ctx context.Context) (*perturb.Catalogue, error) {
	cat, err := OpenCatalogue(ctx, &p.o)
	if err != nil {
		return nil, err
	}
	if cat.Size < p.o.Length && !p.o.Small {
		err = perturb.Refuse("is --items the size of the whole catalogue? --small accepts it",
			"%d items are fewer than the %d cells of a row", cat.Size, p.o.Length)
	}
	if err := errors.Join(err, cat.Writable(p.o.OutForm, p.o.Catalogue)); err != nil {
		return nil, err
	}
	p.m = p.o.Mechanism(cat.Size)
	if err := p.m.Validate(); err != nil { // before what is as large is made
		return nil, perturb.Refuse("", "%v", err)
	}
	return cat, nil
}

// bits returns random bits from a stream that no other setting has.
func (p *perturber) bits() mechanism.Bits {
	return p.o.Bits(p.o.Seed.Stream("perturb pricdsr "+p.o.Purpose+" "+string(p.o.Variant),
		math.Float64bits(p.o.Epsilon), uint64(p.m.Items), uint64(p.m.Length)))
}

// release records that every row is perturbed, once.
func (p *perturber) release(l *privacy.Ledger, spill func() (*os.File, error)) (err error) {
	if p.seq, err = p.m.OpenUsers(l, p.bits(), func() (sequence.Spill, error) { return spill() }); err != nil {
		return err
	}
	p.o.Progress.Phase(fmt.Sprintf("perturb %s with %s, epsilon %g, %d items, %d cells a row", p.o.In, p.o.Variant,
		p.o.Epsilon, p.m.Items, p.m.Length))
	if w := Warning(p.m); w != "" {
		p.o.Progress.Phase("warning: " + w)
	}
	return nil
}

func (p *perturber) newCounts() *Counts { return &Counts{Lengths: make([]int64, p.m.Length+1)} }

// worker returns a function that perturbs the rows of blocks, for one goroutine.
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

// repeated adds to the error of a user who occurs twice what is wrong with the file.
func (p *perturber) repeated(err error) error {
	var twice *sequence.RepeatedUser
	if !errors.As(err, &twice) {
		return err
	}
	e := &dataset.Error{File: p.o.In, Line: int(twice.Second), Field: "user_id", Hint: p.in.Sort()}
	e.Msg = fmt.Sprintf("the user of line %d comes again: the rows of a user must stand together", twice.First)
	if p.o.InForm == format.Lines {
		e.Field = "user"
		e.Msg = fmt.Sprintf("the user of line %d has a second line", twice.First)
	}
	return e
}

// newReport returns the report of the perturbation.
func (p *perturber) newReport(f perturb.Facts) (run.Result, error) {
	p.report = &Report{Facts: f, Tally: p.in.Tally, Counts: *p.newCounts(), Retained: p.seq.Retained(), Mechanism: p.m,
		KeepOrder: p.o.KeepOrder}
	for _, c := range p.counts {
		p.report.add(*c)
	}
	return p.report.Document(), nil
}

// Kind names the command to the merge of shards.
const Kind = "pricdsr"

// shardSame holds the data that all shards of a file share, and shardCounts the counts of each.
type (
	shardSame struct {
		Purpose   string           `json:"purpose"`
		Variant   sequence.Variant `json:"mechanism"`
		Epsilon   privacy.Number   `json:"epsilon"`
		Items     int              `json:"items"`
		Length    int              `json:"length"`
		Limits    bool             `json:"limits"`
		KeepOrder bool             `json:"keep_order"`
		Tally     histories.Tally  `json:"read"`
	}
	shardCounts struct {
		Counts
		Watched sequence.Watched
	}
)

func (p *perturber) state() (same, counts any) {
	m := p.m
	return shardSame{m.Purpose, m.Variant, privacy.Number(m.Epsilon), m.Items, m.Length, m.Limits, p.o.KeepOrder,
			p.in.Tally},
		shardCounts{p.report.Counts, p.seq.Watched()}
}

// Whole says how to join the shards of Perturb.
func Whole() perturb.Whole {
	return perturb.Whole{Beside: histories.Beside(), Join: joinShards, Release: releaseOf,
		Report: func(f perturb.Facts, same json.RawMessage, counts []json.RawMessage) (run.Result, error) {
			var s shardSame
			if err := json.Unmarshal(same, &s); err != nil {
				return nil, err
			}
			m := s.mechanism()
			r := &Report{Facts: f, Tally: s.Tally, Counts: Counts{Lengths: make([]int64, m.Length+1)}, Mechanism: m,
				KeepOrder: s.KeepOrder}
			var seen sequence.Watched
			for _, b := range counts {
				var c shardCounts
				if err := json.Unmarshal(b, &c); err != nil {
					return nil, err
				}
				if c.Users == 0 {
					continue
				}
				if len(c.Lengths) != len(r.Lengths) {
					return nil, fmt.Errorf("a shard counted rows of %d cells, want %d", len(c.Lengths)-1, m.Length)
				}
				r.add(c.Counts)
				seen.Add(c.Watched)
			}
			var err error
			if r.Retained, err = m.Retained(seen); err != nil {
				return nil, err
			}
			return r.Document(), nil
		}}
}

// mechanism returns the mechanism of the settings of shards.
func (s shardSame) mechanism() sequence.Mechanism {
	return sequence.Mechanism{Purpose: s.Purpose, Variant: s.Variant, Epsilon: float64(s.Epsilon), Items: s.Items,
		Length: s.Length, Limits: s.Limits}
}

// releaseOf returns the release of the settings of shards.
func releaseOf(same json.RawMessage) (string, privacy.Event, error) {
	var s shardSame
	if err := json.Unmarshal(same, &s); err != nil {
		return "", nil, err
	}
	m := s.mechanism()
	return m.Purpose, m.Event(), nil
}

// joinShards adds up the shared data of shards that each read a part of the input.
func joinShards(same []json.RawMessage) (json.RawMessage, error) {
	var all shardSame
	for i, b := range same {
		var s shardSame
		if err := json.Unmarshal(b, &s); err != nil {
			return nil, err
		}
		t := s.Tally
		if s.Tally = all.Tally; i == 0 {
			all = s
			all.Tally = t
			continue
		}
		if s != all {
			return nil, errors.New("shards were made with other settings")
		}
		all.Tally = histories.Tally{Rows: all.Tally.Rows + t.Rows, Repeats: all.Tally.Repeats + t.Repeats,
			RepeatUsers: all.Tally.RepeatUsers + t.RepeatUsers, Cut: all.Tally.Cut + t.Cut,
			CutUsers: all.Tally.CutUsers + t.CutUsers}
	}
	return json.Marshal(all)
}

// Declare records in a ledger the release of one perturbed file, or of all its shards, and returns the catalogue. It
// fails on settings that Perturb refuses.
func (o *Options) Declare(ctx context.Context, l *privacy.Ledger) (*perturb.Catalogue, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	p := &perturber{o: *o}
	cat, err := p.catalogue(ctx)
	if err != nil {
		return nil, err
	}
	_, err = p.m.OpenUsers(l, p.bits(), func() (sequence.Spill, error) {
		return nil,
			errors.New("no user is perturbed here")
	})
	return cat, err
}

// Options says what to perturb, and how: users by id, or in the order of the input.
type Options struct {
	perturb.Settings // Length is L, Items or Catalogue have m items

	Variant   sequence.Variant // empty: sdp-fixed
	Epsilon   float64          // of one cell; of a user for sdp-user, of an interaction for set
	Limits    bool             // accept epsilon 0 and +Inf
	Small     bool             // accept fewer items than cells
	KeepOrder bool             // users in the order of the input; otherwise by id
	Strict    bool             // refuse what definition 1 leaves out: repeated items, more than Length
}

// Mechanism returns the mechanism that the options describe, with m items.
func (o Options) Mechanism(m int) sequence.Mechanism {
	return sequence.Mechanism{Purpose: o.Purpose, Variant: o.Variant, Epsilon: o.Epsilon, Items: m, Length: o.Length,
		Limits: o.Limits}
}

const fixLength = "it is how many cells a row has, the longest history to keep, such as 100"

// Check sets defaults and refuses requests that cannot be carried out.
func (o *Options) Check() error {
	if o.Variant == "" {
		o.Variant = sequence.SDPFixed
	}
	switch {
	case !slices.Contains(sequence.Variants(), o.Variant):
		return perturb.Refuse("known: "+strings.Join(mechanisms(), ", "), "mechanism %q is not known",
			string(o.Variant))
	case math.IsNaN(o.Epsilon) || o.Epsilon < 0:
		return perturb.Refuse("half of the cells are kept at epsilon = ln m", "epsilon is %g, want above 0", o.Epsilon)
	case !o.Limits && o.Epsilon == 0:
		return perturb.Refuse("--limits accepts it: the output then does not depend on the rows at all",
			"epsilon is 0, want above 0")
	case !o.Limits && math.IsInf(o.Epsilon, 1):
		return perturb.Refuse("--limits accepts it: the output then is the rows as they are, and nothing is protected",
			"epsilon is infinite")
	case o.Length == 0:
		return perturb.Refuse(fixLength, "--length is missing")
	case o.Length < 0:
		return perturb.Refuse(fixLength, "length is %d, want at least 1", o.Length)
	case o.Items == 0 && o.Catalogue == "":
		return perturb.Refuse("give --items M or --catalogue FILE: both public, and not read off the rows",
			"the size of the catalogue is missing")
	}
	return o.Settings.Check("sequences")
}

// OpenCatalogue returns the catalogue that the options name.
func OpenCatalogue(ctx context.Context, o *Options) (*perturb.Catalogue, error) {
	return perturb.OpenCatalogue(ctx, &o.Settings, "an id a line")
}

// Counts compares rows before and after. It describes true data, so it is not for release.
type Counts struct {
	Users   int64
	Lengths []int64 // users by their items, 0 to L
	InPlace int64   // items in their column afterwards
	Written int64   // cells other than padding afterwards
	Found   int64   // rows with an item in its column
	Emptied int64   // rows without any item afterwards
}

// see counts a row.
func (t *Counts) see(before, after []int32) {
	items, same, written := 0, int64(0), int64(0)
	for c, id := range before {
		if after[c] != 0 {
			written++
		}
		if id != 0 {
			items++
			if after[c] == id {
				same++
			}
		}
	}
	t.Lengths[items]++
	t.add(Counts{Users: 1, InPlace: same, Written: written, Found: min(same, 1), Emptied: 1 - min(written, 1)})
}

// add adds other counts.
func (t *Counts) add(o Counts) {
	t.Users += o.Users
	t.InPlace += o.InPlace
	t.Written += o.Written
	t.Found += o.Found
	t.Emptied += o.Emptied
	for i, n := range o.Lengths {
		t.Lengths[i] += n
	}
}

// Items returns the number of items that the rows had.
func (t *Counts) Items() (n int64) {
	for k, rows := range t.Lengths {
		n += int64(k) * rows
	}
	return n
}

// expected returns the expected number of items in their own column, and its standard deviation, as if cells were
// independent; they are, except for terms of 1/m.
func (t *Counts) expected(m sequence.Mechanism) (mean, sd float64) {
	longer, v := int64(0), 0.0 // rows that have an item in the column
	if m.Variant == sequence.SDPLengths {
		longer = t.Users - t.Lengths[0]
	}
	for c, s := range Survivals(m) {
		if m.Variant == sequence.SDPLengths { // the item after c others, wherever it stands
			mean += float64(longer) * s
			v += float64(longer) * s * (1 - s)
			longer -= t.Lengths[c+1]
			continue
		}
		longer += t.Lengths[m.Length-c] // padding is in front: column c belongs to rows of at least L-c items
		mean += float64(longer) * s
		v += float64(longer) * s * (1 - s)
	}
	return mean, math.Sqrt(v)
}
