package experiment

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant"
	"privrec/internal/report"
	"privrec/internal/system"
)

// Account holds the privacy guarantee of a run as privacy.json stores it: the paper's claim, the accounted epsilon, and
// what has no noise. Papers embed it and add fields of their own.
type Account struct {
	// Repeatable is a sentence about who can draw the noise again; empty if nobody can. The run sets it.
	Repeatable string `json:"noise_can_be_repeated,omitempty"`

	Version int    `json:"version"`
	Noise   string `json:"noise"` // "none", or how far the draws can be trusted
	Claimed *Claim `json:"claimed"`
	Units   []Unit `json:"units"` // empty where nothing is protected
	// of the whole run and its worst unit: infinity unless unbounded is empty
	Total     privacy.Number `json:"eps_total"`
	Unbounded []Open         `json:"unbounded"`
	// Public lists the assumptions of a finite total.
	Public []privacy.Assumption `json:"public,omitempty"`
	// Features accounts for the features that users send beside the rows, such as their age. They are other data, so
	// the total leaves them out. Nil: no features are sent.
	Features *Features `json:"features,omitempty"`
}

// Features accounts for the local perturbation of user features.
type Features struct {
	Eps1      privacy.Number `json:"eps1"` // claimed, of a user's whole vector
	K         int            `json:"k"`    // that a user sends
	N         int            `json:"n"`    // that there are
	Zeroed    bool           `json:"all_unselected_zeroed"`
	Total     privacy.Number `json:"eps_total"` // infinite where something of a vector leaves in the clear
	Unbounded []Open         `json:"unbounded"`
}

// Claim holds the guarantee that a paper states.
type Claim struct {
	Eps     privacy.Number `json:"eps"`
	Delta   float64        `json:"delta"` // 0: pure
	Unit    string         `json:"unit"`
	Theorem string         `json:"theorem"`
}

// Unit holds the guarantee for one kind of neighbour.
type Unit struct {
	Unit         string  `json:"unit"`
	Neighbouring string  `json:"neighbouring"`
	Delta        float64 `json:"delta"`
	// that one unit holds, where its epsilon is a sum over them
	Positions int            `json:"positions,omitempty"`
	Accounted Accounted      `json:"accounted"`
	Total     privacy.Number `json:"eps_total"` // infinity where something unbounded is about the unit
	Unbounded []string       `json:"unbounded"` // names of what is
}

// Accounted holds the epsilon of the releases with noise.
type Accounted struct {
	Eps privacy.Number `json:"eps_exact"`
}

// Open names something that no finite epsilon covers, and the reason.
type Open struct {
	What string `json:"what"`
	Why  string `json:"why"`
}

// NotCovered returns an Open with its name and the reason why no noise covers it.
func NotCovered(what, why string) Open { return Open{what, why} }

// Unprotected returns the account of a method without any privacy, which leaves what open for the reason why.
func Unprotected(what, why string) Account {
	return Account{Version: Version, Noise: "none", Units: []Unit{}, Total: privacy.Number(math.Inf(1)),
		Unbounded: []Open{{what, why}}}
}

// Leave adds something that no finite epsilon covers, and why.
func (a *Account) Leave(what, why string) { a.Unbounded = append(a.Unbounded, Open{what, why}) }

// Declaration returns the declaration that the ledger of a run begins with. It lists what is open, of every unit and of
// user features, and what is taken as public.
func (a *Account) Declaration() privacy.Declaration {
	d := declare(a.Unbounded, "")
	if a.Features != nil {
		d.WithoutNoise = append(d.WithoutNoise, declare(a.Features.Unbounded, privacy.Feature).WithoutNoise...)
	}
	d.Public = a.Public
	return d
}

func declare(open []Open, unit privacy.Unit) (d privacy.Declaration) {
	for _, o := range open {
		d.WithoutNoise = append(d.WithoutNoise, privacy.Unprotected{What: o.What, Why: o.Why, Unit: unit})
	}
	return d
}

// Names returns the names of what is open.
func Names(open []Open) []string {
	names := make([]string, len(open))
	for i, o := range open {
		names[i] = o.What
	}
	return names
}

// Add enters the guarantee for one kind of neighbour. epsilon is that of the releases with noise. The account's total
// becomes the largest of all, and infinite if anything is open.
func (a *Account) Add(unit, neighbouring string, delta float64, epsilon privacy.Number) {
	u := Unit{Unit: unit, Neighbouring: neighbouring, Delta: delta, Accounted: Accounted{epsilon}, Total: epsilon,
		Unbounded: Names(a.Unbounded)}
	if len(a.Unbounded) > 0 {
		u.Total = privacy.Number(math.Inf(1))
	}
	a.Units = append(a.Units, u)
	a.Total = max(a.Total, u.Total)
}

// ShowOpen adds the conclusion to a result of an account with something open: the infinite epsilon of the whole run,
// and a note for everything open.
func (a *Account) ShowOpen(d *report.Document) {
	d.Conclusion = a.Conclusion()
	d.Facts = append(d.Facts, report.Fact{Label: "accounted epsilon", Value: "infinity",
		Note: "of the whole run, without bound: " + strings.Join(Names(a.Unbounded), ", ")})
	for _, o := range a.Unbounded {
		d.Notes = append(d.Notes, o.What+": "+o.Why)
	}
}

// ReadAccount reads the account in privacy.json of any method, of this program or an older one. It returns nil without
// an error if the run wrote no account.
func ReadAccount(dir string) (*Account, error) {
	path := filepath.Join(dir, "privacy.json")
	b, err := system.ReadFile(path, system.MostOfRun)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the account: %w", err)
	}
	var a Account
	if err := json.Unmarshal(b, &a); err != nil {
		return nil, fmt.Errorf("read the account: %s: %w", path, err)
	}
	return &a, nil
}

// PublicText returns the public assumptions in one line; empty if there are none.
func (a *Account) PublicText() string {
	texts := make([]string, len(a.Public))
	for i, p := range a.Public {
		texts[i] = p.String()
	}
	return strings.Join(texts, "; ")
}

// Protected returns the account of a method with noise, before anything is composed. It has no claim and nothing open.
// taken lists the assumptions of a finite total.
func Protected(taken ...privacy.Assumption) Account {
	return Account{Version: Version, Noise: string(privacy.Research), Units: []Unit{}, Unbounded: []Open{},
		Public: taken}
}

// Takes adds the assumptions that the run's ledger states and the account does not, such as that only one copy of a
// stopped run was resumed.
func (a *Account) Takes(l *privacy.Ledger) {
	for _, p := range l.Assumptions() {
		if !slices.Contains(a.Public, p) {
			a.Public = append(slices.Clone(a.Public), p)
		}
	}
}

// Compose adds the guarantee at delta for one kind of neighbour, with the exact epsilon of the releases with noise in
// the ledger. The total is infinite if the account leaves anything open. A ledger without noise adds only what is open.
// Call Leave before it.
func (a *Account) Compose(l *privacy.Ledger, of privacy.Subject, delta float64) error {
	a.Takes(l)
	acc, err := accountant.New(accountant.Contour, of.Unit, of.Neighbouring)
	if err != nil {
		return err
	}
	spent, err := accountant.Covered(acc, l.Entries(), delta)
	if err != nil {
		return err
	}
	if math.IsInf(spent.Epsilon, 1) {
		return fmt.Errorf("account: nothing bounds what the noise in the ledger costs one %s (%s): %v", of.Unit,
			of.Neighbouring, spent.Unprotected)
	}
	if spent.Epsilon == 0 {
		if len(a.Unbounded) == 0 {
			return fmt.Errorf("account: the ledger has no noise for one %s, and nothing is declared open", of.Unit)
		}
		a.Total = privacy.Number(math.Inf(1))
		return nil
	}
	a.Add(string(of.Unit), string(of.Neighbouring), delta, privacy.Number(spent.Epsilon))
	return nil
}

// Show adds the account to a result: the claim, the total, a guarantee for every kind of neighbour, what is open, and
// what is taken as public.
func (a *Account) Show(d *report.Document) {
	d.Conclusion = a.Conclusion()
	if c := a.Claimed; c != nil {
		d.Facts = append(d.Facts, report.Fact{Label: "claimed epsilon", Value: c.Eps.String(),
			Note: fmt.Sprintf("%s, at delta %g, for one %s", c.Theorem, c.Delta, c.Unit)})
	}
	if len(a.Unbounded) > 0 {
		a.ShowOpen(d)
	} else {
		d.Facts = append(d.Facts, report.Fact{Label: "accounted epsilon", Value: a.Total.String(),
			Note: "the worst unit, over all releases of the run"})
	}
	if len(a.Units) > 0 {
		title := "What the noise of the run guarantees"
		if len(a.Unbounded) > 0 {
			title = "What the noise comes to by itself, no guarantee of the run"
		}
		t := &report.Table{Name: "account", Title: title,
			Columns: []report.Column{{Name: "unit"}, {Name: "neighbours"}, {Name: "delta", Format: "%g"},
				{Name: "epsilon", Format: "%.5g"}}}
		for _, u := range a.Units {
			t.Add(u.Unit, u.Neighbouring, u.Delta, float64(u.Accounted.Eps))
		}
		d.Tables = append(d.Tables, t)
	}
	if len(a.Public) > 0 {
		d.Notes = append(d.Notes, "taken as public: "+a.PublicText())
	}
}
