package features

import (
	"context"
	"fmt"
	"slices"

	"privrec/internal/config"
	"privrec/internal/dataset"
	"privrec/internal/dataset/registry"
	"privrec/internal/experiment"
	"privrec/internal/privacy"
	"privrec/internal/protocol/auditing"
	"privrec/internal/rng"
	"privrec/internal/run"
	"privrec/internal/tensor"
)

// AuditConfig configures one audit of released features. The users of a data set serve as canaries, in turn: one side
// is the user's true row, the other differs from it.
type AuditConfig struct {
	// name of the set of choices, for reports: default or your own
	Profile   string                 `yaml:"profile" limit:"filled"`
	Data      AuditData              `yaml:"data"`
	Mechanism AuditMechanism         `yaml:"mechanism"`
	Audit     auditing.ReleaseConfig `yaml:"audit"`
}

// AuditData names the rows that canaries are made from.
type AuditData struct {
	Name   string `yaml:"name" limit:"filled"`   // a registered data set with user features
	Recipe string `yaml:"recipe" limit:"filled"` // recipe of filters
}

// AuditMechanism sets how users send their features and how the two sides of a canary differ.
type AuditMechanism struct {
	Features Config `yaml:"features"`
	// Differ says how the sides differ: attribute (another level of one attribute) or row (the features of another
	// user).
	Differ string `yaml:"differ" limit:"attribute|row"`
	// for differ: attribute. Which one: gender, occupation or age
	Attribute string `yaml:"attribute" limit:"gender|occupation|age"`
}

// Values of AuditMechanism.Differ.
const (
	differAttribute = "attribute"
	differRow       = "row"
)

// DefaultAudit returns the audit of one attribute at the paper's budget.
func DefaultAudit() AuditConfig {
	c := AuditConfig{Profile: "default", Mechanism: AuditMechanism{Features: Default(), Differ: differAttribute,
		Attribute: Gender}, Audit: auditing.DefaultRelease()}
	c.Data.Name, c.Data.Recipe = "ml-100k", "gerai"
	return c
}

// Suit implements run.Suited.
func (c *AuditConfig) Suit(doc *config.Document) (err error) {
	c.Data.Recipe, err = registry.Suit(doc, c.Data.Name, c.Data.Recipe,
		registry.Need{Cut: registry.Pairs, Features: []string{Gender, Age, Occupation}})
	return err
}

// AuditTask returns the audit of the release of features.
func AuditTask(cite string) run.Task {
	return auditing.Releases[AuditConfig]{
		Name: "gerai", Summary: "lower bounds on epsilon of GERAI's perturbed user features, by what they tell of " +
			"canary users", Cite: cite,
		Flags: []run.Flag{
			{Name: "epsilon", Key: "mechanism.features.epsilon", Number: true,
				Usage: "of a user's whole row; in form attributes of each attribute"},
			{Name: "differ", Key: "mechanism.differ", Usage: "how the two users of a canary differ: attribute or row"},
			{Name: "canaries", Key: "audit.canaries", Number: true, Usage: "users, each one of two by a coin"},
		},
		Default: DefaultAudit, Check: checkAudit,
		Profile: func(c AuditConfig) (string, auditing.ReleaseConfig) { return c.Profile, c.Audit },
		Open: func(ctx context.Context, env *run.Env, c AuditConfig) (*auditing.Channel, error) {
			return openAudit(ctx, env, c)
		},
	}.Task()
}

// checkAudit reports every setting that cannot be run.
func checkAudit(v *config.Checker, c AuditConfig) {
	m := c.Mechanism
	m.Features.Check(v, "mechanism.features")
	v.Check(m.Features.Noise == NoiseLocal, "mechanism.features.noise", "must be %s: without it there is no promise",
		NoiseLocal)
	v.Check(m.Features.Range != RangeMinMax, "mechanism.features.range",
		"must not be %s: the range of canaries is no user's", RangeMinMax)
	c.Audit.Check(v)
}

// openAudit returns the channel with its canaries and the guarantee for them.
func openAudit(ctx context.Context, env *run.Env, c AuditConfig) (*auditing.Channel, error) {
	seed := env.Seed
	d, err := registry.LoadInteractions(ctx, c.Data.Name, c.Data.Recipe, env.View(), registry.Options{})
	if err != nil {
		return nil, err
	}
	if err := env.Private(d.Rows()); err != nil {
		return nil, err
	}
	f := c.Mechanism.Features
	in, err := f.clear(d)
	if err != nil {
		return nil, err
	}
	first, width, err := c.Mechanism.block(in)
	if err != nil {
		return nil, err
	}
	// of the row; other user, or other level
	users, other := make([]int, c.Audit.Canaries), make([]int, c.Audit.Canaries)
	s := seed.Stream("canary features")
	for k := range users {
		users[k] = k % d.Users
		if c.Mechanism.Differ == differRow {
			other[k] = s.IntN(d.Users)
			continue
		}
		row := tensor.Row(in.X, users[k])[first : first+width]
		other[k] = (slices.Index(row, 1) + 1 + s.IntN(width-1)) % width
	}
	side := func(k int, isIn bool, row []tensor.Float) {
		copy(row, tensor.Row(in.X, users[k]))
		switch {
		case isIn:
		case c.Mechanism.Differ == differRow:
			copy(row, tensor.Row(in.X, other[k]))
		default:
			clear(row[first : first+width])
			row[first+other[k]] = 1
		}
	}
	costs := f.Costs()
	promised, unit, differ := costs.One, c.Mechanism.Attribute,
		fmt.Sprintf("a user's features, and those with another %s", c.Mechanism.Attribute)
	if c.Mechanism.Differ == differRow {
		promised, unit, differ = costs.Row, "row of features", "a user's features, and those of another user"
	}
	claim := experiment.Claim{Eps: f.Account().Eps1, Unit: "row of features", Theorem: "theorem 4.1"}
	if f.Form == FormAttributes {
		claim.Theorem = "composition over the attributes of a user"
	}
	return &auditing.Channel{
		Method: "GERAI, features", Setting: fmt.Sprintf("form %s, epsilon %g", f.Form, f.Epsilon),
		Data: experiment.DataOf(d.Name, d.Recipe, d.Source, d.Ladder, dataset.TestRows),
		Unit: unit, Differ: differ,
		Sees:    "the released rows: their product with the row that is in, less that with the other",
		Epsilon: float64(promised), Claimed: &claim, Claims: true, Off: fmt.Sprintf("mechanism.features.epsilon=%d",
			offEpsilon),
		Release: func(_ context.Context, name string, isIn func(int) bool, silent bool,
			l *privacy.Ledger) ([]float64, error) {
			f := f
			if silent {
				f.Epsilon = offEpsilon
			}
			t := newTable(len(users), in.Kinds)
			defer tensor.Free(t.X)
			for k := range users {
				side(k, isIn(k), tensor.Row(t.X, k))
			}
			if err := f.perturb(t, l,
				func(purpose string) (rng.Stream, error) {
					return env.Noise("audit gerai", name+", "+
						purpose)
				}); err != nil {
				return nil, err
			}
			out := make([]float64, len(users))
			a, b := make([]tensor.Float, t.X.Cols), make([]tensor.Float, t.X.Cols)
			for k := range out {
				side(k, true, a)
				side(k, false, b)
				for i, y := range tensor.Row(t.X, k) {
					out[k] += float64(y) * float64(a[i]-b[i])
				}
			}
			return out, nil
		},
	}, nil
}

// offEpsilon leaves almost no noise on any feature.
const offEpsilon = 1000

// block returns the first column and the width of the audited attribute's values in a row.
func (m AuditMechanism) block(t *Table) (first, width int, err error) {
	for _, k := range t.Kinds {
		if k.Name == m.Attribute {
			return first, k.Categories, nil
		}
		first += k.Width()
	}
	return 0, 0, &dataset.Error{Field: m.Attribute, Msg: "is no feature of a row"}
}
