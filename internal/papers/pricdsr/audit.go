package pricdsr

import (
	"context"
	"fmt"
	"slices"

	"privrec/internal/config"
	"privrec/internal/dataset"
	"privrec/internal/dataset/registry"
	"privrec/internal/experiment"
	"privrec/internal/privacy"
	"privrec/internal/privacy/mechanism"
	"privrec/internal/privacy/mechanism/sequence"
	"privrec/internal/protocol/auditing"
	"privrec/internal/rng"
	"privrec/internal/run"
)

// AuditConfig configures one audit of released rows. Users' rows of a data set serve as canaries, in turn: one side is
// the true row, the other differs from it.
type AuditConfig struct {
	// name of the set of choices, for reports: default or your own
	Profile   string                 `yaml:"profile" limit:"filled"`
	Data      AuditData              `yaml:"data"`
	Mechanism AuditMechanism         `yaml:"mechanism"`
	Audit     auditing.ReleaseConfig `yaml:"audit"`
}

// AuditData names the rows that canaries are made from.
type AuditData struct {
	Name   string `yaml:"name" limit:"filled"`   // a registered data set of sequences
	Recipe string `yaml:"recipe" limit:"filled"` // recipe of filters
}

// AuditMechanism sets what perturbs rows and how the two sides of a canary differ.
type AuditMechanism struct {
	Name string `yaml:"name"` // mechanism: sdp-fixed, sdp-lengths, sdp-user, set, sdp-paper or rr
	// epsilon of one draw; for sdp-user of a user, for set of an interaction
	Epsilon float64 `yaml:"epsilon" limit:"[0.001,10000]"`
	Length  int     `yaml:"length" limit:"2..10000"` // number of cells of a row
	// number of items of the catalogue; 0: count the data. Items beyond a smaller catalogue are renumbered
	Items int `yaml:"items"`
	// Differ says how the sides differ: value (another item in one cell), order (two items exchanged), padding (an
	// item and an empty cell exchanged) or row (other items in all cells).
	Differ string `yaml:"differ" limit:"value|order|padding|row"`
}

// Values of AuditMechanism.Differ.
const (
	differValue   = "value"
	differOrder   = "order"
	differPadding = "padding"
	differRow     = "row"
)

// offEpsilon leaves almost no noise on a draw: a cell gets each other item with probability e^-60.
const offEpsilon = 60

// off returns a mechanism with its noise switched off.
func off(m sequence.Mechanism) sequence.Mechanism {
	if m.Epsilon = offEpsilon; m.Variant == sequence.SDPUser {
		m.Epsilon *= float64(m.Length)
	}
	return m
}

// DefaultAudit returns the audit of the paper's claim for one cell.
func DefaultAudit() AuditConfig {
	c := AuditConfig{Profile: "default", Mechanism: AuditMechanism{Name: string(sequence.SDPPaper), Epsilon: 2,
		Length: 20, Items: 100, Differ: differValue}, Audit: auditing.DefaultRelease()}
	c.Data.Name, c.Data.Recipe = "ml-100k", "dipsgnn"
	return c
}

// AuditTask returns the audit of the perturbation of rows.
func AuditTask() run.Task {
	return auditing.Releases[AuditConfig]{
		Name: "pricdsr", Summary: "lower bounds on epsilon of PriCDSR's perturbed rows, by what they tell of canary " +
			"rows", Cite: cite,
		Flags: []run.Flag{
			{Name: "mechanism", Key: "mechanism.name", Usage: "sdp-fixed, sdp-lengths, sdp-user, set, sdp-paper or rr"},
			{Name: "epsilon", Key: "mechanism.epsilon", Number: true,
				Usage: "epsilon of one draw; of a user for sdp-user, of an interaction for set"},
			{Name: "differ", Key: "mechanism.differ",
				Usage: "how the two rows of a canary differ: value, order, padding or row"},
			{Name: "canaries", Key: "audit.canaries", Number: true, Usage: "rows, each one of two by a coin"},
		},
		Default: DefaultAudit, Check: checkAudit,
		Profile: func(c AuditConfig) (string, auditing.ReleaseConfig) { return c.Profile, c.Audit },
		Open: func(ctx context.Context, env *run.Env, c AuditConfig) (*auditing.Channel, error) {
			return openAudit(ctx, env, c)
		},
	}.Task()
}

// Suit implements run.Suited.
func (c *AuditConfig) Suit(doc *config.Document) (err error) {
	c.Data.Recipe, err = registry.Suit(doc, c.Data.Name, c.Data.Recipe, registry.Need{})
	return err
}

// checkAudit reports every setting that cannot be run.
func checkAudit(v *config.Checker, c AuditConfig) {
	var names []string
	for _, x := range sequence.Variants() {
		names = append(names, string(x))
	}
	m := c.Mechanism
	v.OneOf("mechanism.name", m.Name, names...)
	v.Check(m.Items == 0 || m.Items > 2*m.Length, "mechanism.items",
		"must be 0 or above twice mechanism.length, got %d", m.Items)
	v.Check(m.Differ != differPadding || m.Name != string(sequence.SDPLengths), "mechanism.differ",
		"must not be %s for %s, which shows where padding is", differPadding, sequence.SDPLengths)
	c.Audit.Check(v)
}

// sides holds the canary rows, Length cells each, and the cells in which both sides differ.
type sides struct {
	in, out []int32
	cells   [][]int
}

// openAudit returns the channel with its canaries and the guarantee for them.
func openAudit(ctx context.Context, env *run.Env, c AuditConfig) (*auditing.Channel, error) {
	seed := env.Seed
	d, err := registry.Load(ctx, c.Data.Name, c.Data.Recipe, env.View(), registry.Options{})
	if err != nil {
		return nil, err
	}
	if err := env.Private(d.Rows()); err != nil {
		return nil, err
	}
	m := sequence.Mechanism{Purpose: "canary rows", Variant: sequence.Variant(c.Mechanism.Name),
		Epsilon: c.Mechanism.Epsilon, Items: c.Mechanism.Items, Length: c.Mechanism.Length}
	if m.Items == 0 {
		m.Items = d.Items
	}
	if m.Items <= 2*m.Length {
		return nil, &run.UsageError{Message: fmt.Sprintf(
			"mechanism.items: the data have %d items, which must be above twice mechanism.length", m.Items),
			Fix: "take shorter rows"}
	}
	if err := m.Validate(); err != nil {
		return nil, err
	}
	rows, err := c.canaries(d, m, seed.Stream("canary rows"))
	if err != nil {
		return nil, err
	}
	differ := c.Mechanism.Differ
	if differ == differPadding { // definition 2 has one epsilon for every two cells that change places
		differ = differOrder
	}
	epsilon, err := worst(m, differ, 0)
	if err != nil {
		return nil, err
	}
	claim := promiseOf(m).claim
	claimed := map[string][]string{differValue: {unitOrder, unitInteraction}, differOrder: {unitOrder, unitInteraction},
		differRow: {unitUser}}[differ]
	return &auditing.Channel{
		Method: "PriCDSR, " + c.Mechanism.Name, Setting: fmt.Sprintf("epsilon %g, %d items, %d cells a row", m.Epsilon,
			m.Items, m.Length),
		Data: experiment.DataOf(d.Name, d.Recipe, d.Source, d.Ladder, dataset.TestRows),
		Unit: differs[c.Mechanism.Differ].unit, Differ: differs[c.Mechanism.Differ].text,
		Sees: "the released rows: how many of the cells in which both sides differ have what the one has there, " +
			"less those that have what the other has",
		Epsilon: epsilon, Claimed: &claim, Claims: slices.Contains(claimed, claim.Unit),
		Off: fmt.Sprintf("mechanism.epsilon=%g", off(m).Epsilon),
		Release: func(_ context.Context, name string, in func(int) bool, silent bool,
			l *privacy.Ledger) ([]float64, error) {
			m := m
			if m.Purpose += ", " + name; silent {
				m = off(m)
			}
			noise, err := env.Noise("audit pricdsr", name)
			if err != nil {
				return nil, err
			}
			return rows.release(m, in, l, noise)
		},
	}, nil
}

// differs describes the difference between the two sides of a canary, in short and as a sentence.
var differs = map[string]struct{ unit, text string }{
	differValue: {"value of a cell", "a user's row, and that with another item in one cell"},
	differOrder: {"order of two items", "a user's row, and that with two items exchanged"},
	differPadding: {"order of an item and an empty cell",
		"a user's row, and that with an item and an empty cell exchanged"},
	differRow: {"row", "a user's row, and one of as many other items"},
}

// canaries returns both sides of every canary, made from the rows of users in turn.
func (c AuditConfig) canaries(d *dataset.Sequential, m sequence.Mechanism, s rng.Stream) (*sides, error) {
	room := m.Length
	if c.Mechanism.Differ == differPadding {
		room--
	}
	var users [][]int32
	for _, row := range d.Train {
		if len(row) > 1 {
			users = append(users, lastDistinct(row, m, room))
		}
	}
	users = slices.DeleteFunc(users, func(row []int32) bool { return len(row) < min(2, room) })
	if len(users) == 0 {
		return nil, &dataset.Error{File: d.Name, Msg: "no user has two items"}
	}
	r := &sides{}
	for k := range c.Audit.Canaries {
		items := users[k%len(users)]
		in := make([]int32, m.Length)
		first := m.Length - len(items) // padding is in front
		copy(in[first:], items)
		out := slices.Clone(in)
		var cells []int
		switch c.Mechanism.Differ {
		case differOrder:
			a := s.IntN(len(items))
			b := (a + 1 + s.IntN(len(items)-1)) % len(items)
			cells = []int{first + a, first + b}
			out[first+a], out[first+b] = in[first+b], in[first+a]
		case differPadding:
			a, b := first+s.IntN(len(items)), s.IntN(first)
			cells = []int{a, b}
			out[a], out[b] = in[b], in[a]
		case differValue:
			cells = []int{first + s.IntN(len(items))}
		default:
			for i := range items {
				cells = append(cells, first+i)
			}
		}
		if c.Mechanism.Differ == differValue || c.Mechanism.Differ == differRow {
			taken := slices.Clone(items)
			for _, at := range cells {
				out[at] = another(taken, m.Items, &s)
				taken = append(taken, out[at])
			}
		}
		r.in, r.out, r.cells = append(r.in, in...), append(r.out, out...), append(r.cells, cells)
	}
	return r, nil
}

// another returns a random item of a catalogue that is not in some.
func another(some []int32, items int, s *rng.Stream) int32 {
	for {
		if x := 1 + int32(s.IntN(items)); !slices.Contains(some, x) {
			return x
		}
	}
}

// lastDistinct returns the last distinct items of a row, as many as room allows. Items beyond the catalogue are taken
// modulo its size.
func lastDistinct(row []int32, m sequence.Mechanism, room int) (out []int32) {
	for i := len(row) - 1; i >= 0 && len(out) < room; i-- {
		if x := 1 + (row[i]-1)%int32(m.Items); !slices.Contains(out, x) {
			out = append(out, x)
		}
	}
	slices.Reverse(out)
	return out
}

// release perturbs one side of every canary, the one that in names, and returns the evidence of the rows about the
// coins.
func (r *sides) release(m sequence.Mechanism, in func(int) bool, l *privacy.Ledger, s rng.Stream) ([]float64, error) {
	rows := slices.Clone(r.out)
	for k := range r.cells {
		if in(k) {
			copy(rows[k*m.Length:(k+1)*m.Length], r.in[k*m.Length:])
		}
	}
	if err := sequence.Perturb(m, l, mechanism.Keyed(s), nil, rows, 1); err != nil {
		return nil, err
	}
	out := make([]float64, len(r.cells))
	for k, cells := range r.cells {
		from := k * m.Length
		row := rows[from : from+m.Length]
		for _, c := range cells {
			a, b := r.in[from+c], r.out[from+c]
			if m.Variant == sequence.Set { // a row is a set: places say nothing
				out[k] += one(a > 0 && slices.Contains(row, a)) - one(b > 0 && slices.Contains(row, b))
				continue
			}
			out[k] += one(row[c] == a) - one(row[c] == b)
		}
	}
	return out, nil
}

func one(is bool) float64 {
	if is {
		return 1
	}
	return 0
}
