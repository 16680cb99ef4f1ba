package experiment

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"privrec/internal/dataset"
	"privrec/internal/dataset/registry"
	"privrec/internal/privacy"
	"privrec/internal/run"
)

// RecordSource writes to the manifest what data a run has: their files, and the lists that were stated for them.
func RecordSource(env *run.Env, s dataset.Source) error {
	if err := env.RecordData(s.Title, s.Hash); err != nil {
		return err
	}
	for _, x := range []struct {
		what string
		list *dataset.Stated
	}{{"stated items", s.Items}, {"stated users", s.Users}} {
		if x.list == nil {
			continue
		}
		if err := env.RecordData(x.what+" of "+s.Title, x.list.SHA256); err != nil {
			return err
		}
	}
	return nil
}

// Taken says what a method takes of its data beside the rows of the unit that its guarantee is for.
type Taken struct {
	Items, Users bool // which there are: the model has a row for each
	// HowMany names the numbers that set rates, numbers of steps or divisors, such as "users"; stated ones have a
	// number above 0.
	HowMany []Number
}

// Number is a number of users or rows that a method takes.
type Number struct {
	Of     string // users, training rows
	Sets   string // what it sets
	Key    string // that states it
	Stated int    // 0: it is counted in the data
}

// HowManyUsers is the number of users, which sets something of a method.
func HowManyUsers(p registry.Public, sets string) Number {
	return Number{Of: "users", Sets: sets, Key: "data.sizes.users", Stated: p.Sizes.Users}
}

// HowManyRows is a number of training rows, or of samples, which sets something of a method.
func HowManyRows(p registry.Public, of, sets string) Number {
	return Number{Of: of, Sets: sets, Key: "data.sizes.rows", Stated: p.Sizes.Rows}
}

// Names of what rows of many users decide.
const (
	OpenCatalogue = "catalogue"
	OpenUsers     = "users"
	OpenFilter    = "filter"
	OpenNumber    = "number of " // users, training rows
)

// Decide enters into an account what the data decide of a method beside the rows of one unit. What was stated, was
// published with the split, or is of generated rows, is taken as public, by its file. Anything else is open: one user
// or one row can decide it, no noise covers that, and epsilon is infinite.
//
// It fails for a run whose noise is secure where anything is open so: what such a run releases is for others to see.
func (a *Account) Decide(env *run.Env, s dataset.Source, t Taken) error {
	before := len(a.Unbounded)
	a.decide(s, t)
	if open := a.Unbounded[before:]; env.Secure() && len(open) > 0 {
		return &run.UsageError{Message: fmt.Sprintf("run.secure: the rows decide the %s, which no noise covers: epsilon would be infinite", open[0].What), Fix: open[0].Why}
	}
	return nil
}

func (a *Account) decide(s dataset.Source, t Taken) {
	a.Public = append(a.Public[:len(a.Public):len(a.Public)], privacy.Assumption{What: "how rows were split", Why: "each by the ids of user and item, and by the rows of the same user"})
	switch {
	case s.StandIn:
		a.public("which users and items there are, how many, and how rows were filtered", "the rows are generated: no person is in them")
		return
	case s.Decided.Published:
		a.public("which users and items there are, how many, and how rows were filtered", fmt.Sprintf("as the split was published (SHA-256 of the files %.12s)", s.Hash))
		return
	}
	if t.Items {
		if s.Items != nil {
			a.public("which items there are", s.Items.String()+", stated beforehand")
		} else {
			a.Leave(OpenCatalogue, "which items there are is taken from the rows, so an item that nobody else has shows its user; data.items=FILE states the ids of all items")
		}
	}
	if t.Users {
		if s.Users != nil {
			a.public("which users there are", s.Users.String()+", stated beforehand")
		} else {
			a.Leave(OpenUsers, "which users there are is taken from the rows, so a user's only row shows that user; data.users=FILE states the ids of all users")
		}
	}
	if f := s.Decided.Filters; len(f) > 0 {
		a.Leave(OpenFilter, fmt.Sprintf("%s counts rows of many users, so one row decides whether rows of others stay; take a recipe without it, and state the items by data.items=FILE", strings.Join(f, " and ")))
	}
	for _, n := range t.HowMany {
		switch {
		case n.Stated > 0:
			a.public(fmt.Sprintf("that there are %d %s", n.Stated, n.Of), "stated beforehand; it sets "+n.Sets)
		case n.Of == "users" && t.Users && s.Users != nil:
			// as many as the list has
		default:
			a.Leave(OpenNumber+n.Of, fmt.Sprintf("it is counted in the rows and sets %s; %s states a public number", n.Sets, n.Key))
		}
	}
}

func (a *Account) public(what, why string) {
	a.Public = append(a.Public, privacy.Assumption{What: what, Why: why})
}

// Adopt enters what another account of the same run leaves open and takes as public. All units then have it too.
func (a *Account) Adopt(of Account) {
	for _, p := range of.Public {
		if !slices.Contains(a.Public, p) {
			a.Public = append(a.Public, p)
		}
	}
	if len(of.Unbounded) == 0 {
		return
	}
	a.Unbounded = append(a.Unbounded, of.Unbounded...)
	for i := range a.Units {
		a.Units[i].Unbounded, a.Units[i].Total = Names(a.Unbounded), privacy.Number(math.Inf(1))
	}
	a.Total = privacy.Number(math.Inf(1))
}

// Noised returns the largest epsilon of what noise covers, of all units. It is the total of an account that leaves
// nothing open.
func (a *Account) Noised() privacy.Number {
	most := 0.0
	for _, u := range a.Units {
		most = math.Max(most, float64(u.Accounted.Eps))
	}
	return privacy.Number(most)
}
