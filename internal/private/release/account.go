package release

import (
	"fmt"
	"math"

	"privrec/internal/experiment"
	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant"
	"privrec/internal/report"
)

// Threat names the reader whom the guarantee is against.
const Threat = "joint: what all others see of a user; a user's own list shows that user's row to its reader"

// Account is the account of a private recommender: one finite epsilon for a user.
type Account struct {
	experiment.Account
	Threat string   `json:"threat"`
	Beside []Beside `json:"beside"` // the same ledger by other accountants
	// Published names the files that the guarantee covers. The other files have measurements on users' rows in the
	// clear.
	Published []string `json:"published,omitempty"`

	privacy Privacy
}

// Beside holds the epsilon of the whole ledger for one user by one accountant.
type Beside struct {
	Method string         `json:"method"`
	Lower  privacy.Number `json:"eps_lower,omitempty"` // certified; 0: the method has none
	Eps    privacy.Number `json:"eps"`
}

// public lists the assumptions of a finite total that every private recommender has.
var public = []privacy.Assumption{
	{What: "users' own lists",
		Why: "they are computed from the user's own row in the clear: the guarantee is for what all others see " +
			"(joint differential privacy)"},
	{What: "the settings", Why: "choosing them by results on these rows is not accounted for"},
	{What: "what is measured here", Why: "numbers of users and rows, floors, and ranks of held-out rows"},
}

// NewAccount returns the account of a setting before anything is released. theorem names the results that the guarantee
// rests on, and published the files that it covers. Decide adds what the data determine.
func NewAccount(p Privacy, theorem string, published []string) *Account {
	a := &Account{Account: experiment.Protected(public...), Threat: Threat, privacy: p, Published: published}
	if p.Secure {
		a.Noise = string(privacy.Secure)
	}
	a.Claimed = &experiment.Claim{Eps: privacy.Number(p.Epsilon), Delta: p.Delta, Unit: string(About.Unit),
		Theorem: theorem}
	return a
}

// Declares returns the declaration that the ledger of a run begins with, and the plan of its releases: the sums, and
// the entries of also.
func (a *Account) Declares(sums []Sum, also ...privacy.Entry) (privacy.Declaration, error) {
	d := a.Declaration()
	plan, err := a.privacy.Plan(sums...)
	if err != nil {
		return d, err
	}
	plan.Releases = append(plan.Releases, also...)
	d.Plan = plan
	return d, nil
}

// Planned returns the account of a run before it releases anything. Its noise is calibrated to the setting's epsilon,
// and Compose fails on any other.
func (a *Account) Planned() *Account {
	b := *a
	b.Units = nil
	b.Add(string(About.Unit), string(About.Neighbouring), a.privacy.Delta, privacy.Number(a.privacy.Epsilon))
	return &b
}

// Marks returns the noise that the ledger of the setting promises.
func (p Privacy) Marks() privacy.Noise {
	if p.Secure {
		return privacy.Secure
	}
	return privacy.Research
}

// unused is the largest share of epsilon that may remain unspent.
const unused = 1e-6

// Compose adds the composition of a ledger: its exact epsilon for one user, a certified bracket and the Rényi bound. It
// fails unless the exact value equals the setting's epsilon and is not above it. Discrete noise in several coordinates
// has neither an exact value nor a bracket. Its total is the Rényi bound or, if the releases are stated as over
// samples, the exact value of normal noise that is at most as private.
func (a *Account) Compose(l *privacy.Ledger) error {
	p := a.privacy
	if err := a.Account.Compose(l, About, p.Delta); err != nil {
		return err
	}
	if got := float64(a.Noised()); !(got <= p.Epsilon && got >= p.Epsilon*(1-unused)) {
		return fmt.Errorf("account: the ledger comes to epsilon %.10g for one user, want %v and not above it", got,
			p.Epsilon)
	}
	beside := []accountant.Method{accountant.PLD, accountant.RDP}
	if p.Secure {
		beside = beside[1:]
	}
	for _, m := range beside {
		acc, err := accountant.New(m, About.Unit, About.Neighbouring)
		if err != nil {
			return err
		}
		spent, err := accountant.Covered(acc, l.Entries(), p.Delta)
		if err != nil {
			return err
		}
		if m == accountant.PLD && !(spent.Lower <= float64(a.Noised())*(1+1e-9) &&
			float64(a.Noised()) <= spent.Epsilon*(1+1e-9)) {
			return fmt.Errorf("account: the exact epsilon %.10g is outside the certified bracket %.10g to %.10g",
				float64(a.Noised()), spent.Lower, spent.Epsilon)
		}
		a.Beside = append(a.Beside, Beside{string(m), privacy.Number(spent.Lower), privacy.Number(spent.Epsilon)})
	}
	return nil
}

// Show adds the account to a result.
func (a *Account) Show(d *report.Document) {
	d.Facts = append(d.Facts, report.Fact{Label: "threat model", Value: "joint differential privacy", Note: Threat})
	a.Account.Show(d)
	t := &report.Table{Name: "accountants", Title: "The same ledger by other accountants, for one user more or less",
		Columns: []report.Column{{Name: "method"}, {Name: "at least", Format: "%.6g"},
			{Name: "at most", Format: "%.6g"}}}
	if !a.privacy.Secure {
		t.Add("exact", float64(a.Noised()), float64(a.Noised()))
	} else if len(a.Beside) > 0 && a.Noised() < a.Beside[0].Eps {
		t.Add("exact, of normal noise that is at most as private", math.NaN(), float64(a.Noised()))
	}
	for _, b := range a.Beside {
		name, low := "Rényi bound", math.NaN()
		if b.Method == string(accountant.PLD) {
			name, low = "certified bracket", float64(b.Lower)
		}
		t.Add(name, low, float64(b.Eps))
	}
	d.Tables = append(d.Tables, t)
	d.Notes = append(d.Notes, a.leaves())
}

// leaves names what may be published.
func (a *Account) leaves() string {
	switch {
	case len(a.Published) == 0:
		return "nothing of the run directory is private: the guarantee is for what the method would release"
	case a.privacy.Secure:
		return fmt.Sprintf("what may leave the house: %v; all other files of the run directory depend on users' rows "+
			"in the clear", a.Published)
	}
	return fmt.Sprintf("the guarantee is for %v, as if the noise were exact (privacy.secure makes it so), and its "+
		"key, noise.key or run.noise_seed, unknown; all other files of the run directory depend on users' rows in "+
		"the clear", a.Published)
}
