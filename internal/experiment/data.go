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

// RecordSource writes the identity of a run's data to the manifest: their files, and the public lists stated for them.
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

// Taken lists what a method uses of its data beyond the rows of the protected unit.
type Taken struct {
	Items, Users bool // which there are: the model has a row for each
	// HowMany names the numbers that set rates, numbers of steps or divisors, such as "users"; stated ones have a
	// number above 0.
	HowMany []Number
}

// Number is a number of users or rows that a method uses.
type Number struct {
	Of     string // users, training rows
	Sets   string // what it sets
	Key    string // that states it
	Stated int    // 0: it is counted in the data
}

// HowManyUsers returns the number of users as a quantity that a method uses; sets names what it determines.
func HowManyUsers(p registry.Public, sets string) Number {
	return Number{Of: "users", Sets: sets, Key: "data.sizes.users", Stated: p.Sizes.Users}
}

// HowManyRows returns a number of training rows or samples as a quantity that a method uses; sets names what it
// determines.
func HowManyRows(p registry.Public, of, sets string) Number {
	return Number{Of: of, Sets: sets, Key: "data.sizes.rows", Stated: p.Sizes.Rows}
}

// Names of quantities that depend on the rows of many users.
const (
	OpenCatalogue = "catalogue"
	OpenUsers     = "users"
	OpenFilter    = "filter"
	OpenNumber    = "number of " // users, training rows
)

// Decide adds to an account what the data determine of a method beyond the rows of one unit. A quantity that was
// stated, was published with the split or belongs to generated rows is taken as public. Any other quantity is open and
// makes epsilon infinite: one user or row can change it, and no noise covers that.
//
// It fails for a run with secure noise if anything is open in this way, since others may see its releases.
func (a *Account) Decide(env *run.Env, s dataset.Source, t Taken) error {
	before := len(a.Unbounded)
	a.decide(s, t)
	if open := a.Unbounded[before:]; env.Secure() && len(open) > 0 {
		return &run.UsageError{Message: fmt.Sprintf(
			"run.secure: the rows decide the %s, which no noise covers: epsilon would be infinite", open[0].What),
			Fix: open[0].Why}
	}
	return nil
}

func (a *Account) decide(s dataset.Source, t Taken) {
	a.Public = append(a.Public[:len(a.Public):len(a.Public)], privacy.Assumption{What: "how rows were split",
		Why: "each by the ids of user and item, and by the rows of the same user"})
	switch {
	case s.StandIn:
		a.public("which users and items there are, how many, and how rows were filtered",
			"the rows are generated: no person is in them")
		return
	case s.Decided.Published:
		a.public("which users and items there are, how many, and how rows were filtered",
			fmt.Sprintf("as the split was published (SHA-256 of the files %.12s)", s.Hash))
		return
	}
	if t.Items {
		if s.Items != nil {
			a.public("which items there are", s.Items.String()+", stated beforehand")
		} else {
			a.Leave(OpenCatalogue, "which items there are is taken from the rows, so an item that nobody else has "+
				"shows its user; data.items=FILE states the ids of all items")
		}
	}
	if t.Users {
		if s.Users != nil {
			a.public("which users there are", s.Users.String()+", stated beforehand")
		} else {
			a.Leave(OpenUsers, "which users there are is taken from the rows, so a user's only row shows that user; "+
				"data.users=FILE states the ids of all users")
		}
	}
	if f := s.Decided.Filters; len(f) > 0 {
		a.Leave(OpenFilter, fmt.Sprintf("%s counts rows of many users, so one row decides whether rows of others "+
			"stay; take a recipe without it, and state the items by data.items=FILE", strings.Join(f, " and ")))
	}
	for _, n := range t.HowMany {
		switch {
		case n.Stated > 0:
			a.public(fmt.Sprintf("that there are %d %s", n.Stated, n.Of), "stated beforehand; it sets "+n.Sets)
		case n.Of == "users" && t.Users && s.Users != nil:
			// as many as the list has
		default:
			a.Leave(OpenNumber+n.Of, fmt.Sprintf("it is counted in the rows and sets %s; %s states a public number",
				n.Sets, n.Key))
		}
	}
}

func (a *Account) public(what, why string) {
	a.Public = append(a.Public, privacy.Assumption{What: what, Why: why})
}

// Adopt adds the open things and public assumptions of another account of the same run. All units then have them too.
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

// Noised returns the largest epsilon of the releases with noise, over all units. It equals the total if nothing is
// open.
func (a *Account) Noised() privacy.Number {
	most := 0.0
	for _, u := range a.Units {
		most = math.Max(most, float64(u.Accounted.Eps))
	}
	return privacy.Number(most)
}
