package epsilons

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"privrec/internal/experiment"
	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant"
	"privrec/internal/privacy/accountant/pld"
)

// Setting holds the parts of a row that a source needs.
type Setting struct {
	Claimed float64 // 0: nothing is claimed
	Delta   float64
	privacy.Subject
}

// Source computes the releases of one reading of a setting.
type Source interface {
	Releases(s Setting) (Releases, error)
}

// Releases holds the releases of one reading of a setting about its unit, and what it leaves open.
type Releases struct {
	Charges []Charge          // what noise covers; none with Pure, or where nothing is covered
	Pure    float64           // epsilon at delta 0 that two neighbours attain; 0: none
	Stated  float64           // epsilon by the paper's own formula; 0: it has none
	Open    []experiment.Open // what no noise covers
	Noise   string            // the noise, in words
}

// Charge holds an event and its number of repetitions.
type Charge struct {
	Event privacy.Event
	Count int64
}

// Reading holds the epsilon of one reading of a setting.
type Reading struct {
	Stated *privacy.Number `json:"epsilon_stated,omitempty"` // by the paper's own formula
	// Exact is the epsilon of the releases with noise; nil: nothing has noise. It lies between Lower and Upper, which
	// are proved if the reading is the first of its row. Without a Lower, Upper is the Rényi bound.
	Exact  *privacy.Number   `json:"epsilon_exact,omitempty"`
	Lower  *privacy.Number   `json:"epsilon_lower,omitempty"`
	Upper  *privacy.Number   `json:"epsilon_upper,omitempty"`
	Method string            `json:"method,omitempty"`
	Whole  privacy.Number    `json:"epsilon_whole"` // with what is open
	Noise  string            `json:"noise,omitempty"`
	Open   []experiment.Open `json:"unprotected"`
}

// Shown returns the epsilon to show in a table: by the paper's own formula if there is one, else the exact one.
func (r *Reading) Shown() privacy.Number {
	if n := cmp.Or(r.Stated, r.Exact); n != nil {
		return *n
	}
	return privacy.Number(math.Inf(1))
}

// pricer computes the epsilon of releases. It computes equal questions once.
type pricer struct {
	mu    sync.Mutex
	known map[string]accountant.Result
}

// read returns the epsilon of a reading of a setting. certify asks for a certified bracket, which takes longer than the
// exact number.
func (p *pricer) read(from Source, s Setting, certify bool) (*Reading, error) {
	of, err := from.Releases(s)
	if err != nil {
		return nil, err
	}
	r := &Reading{Noise: of.Noise, Open: of.Open, Whole: privacy.Number(math.Inf(1))}
	if r.Open == nil {
		r.Open = []experiment.Open{}
	}
	if of.Stated != 0 {
		r.Stated = number(of.Stated)
	}
	switch {
	case of.Pure != 0 && len(of.Charges) > 0:
		return nil, fmt.Errorf("a pure epsilon of %v beside %d other releases", of.Pure, len(of.Charges))
	case of.Pure != 0:
		r.Method = "pure, attained"
		r.Exact, r.Lower, r.Upper = number(of.Pure), number(of.Pure), number(of.Pure)
	case len(of.Charges) > 0:
		exact, err := p.spent(exactMethod(of.Charges), of.Charges, s)
		if err != nil {
			return nil, err
		}
		if r.Method, r.Exact = exact.Method, number(exact.Epsilon); certify {
			if err := p.bracket(r, exact, of.Charges, s); err != nil {
				return nil, err
			}
		}
	case len(of.Open) == 0:
		return nil, fmt.Errorf("nothing is released and nothing is open")
	}
	if len(of.Open) == 0 {
		r.Whole = *r.Exact
	}
	return r, nil
}

// bracket adds what is proved about the exact epsilon: a certified bracket or, if a release is too large for one, the
// Rényi bound alone.
func (p *pricer) bracket(r *Reading, exact accountant.Result, all []Charge, s Setting) error {
	proved, err := p.spent(accountant.PLD, all, s)
	if errors.Is(err, pld.ErrNotCovered) {
		proved, err = p.spent(accountant.RDP, all, s)
	} else if err == nil {
		r.Lower = number(proved.Lower)
	}
	if err != nil {
		return err
	}
	// Both ends are rounded in the last digits.
	const slack = 1e-9
	if exact.Epsilon < proved.Lower*(1-slack) || exact.Epsilon > proved.Epsilon*(1+slack) {
		return fmt.Errorf("the exact epsilon %v is outside the certified bracket [%v, %v]", exact.Epsilon, proved.Lower,
			proved.Epsilon)
	}
	r.Upper = number(max(proved.Epsilon, exact.Epsilon))
	return nil
}

// exactMethod returns the method for the exact epsilon: the closed form of normal noise without sampling, else the
// integral.
func exactMethod(all []Charge) accountant.Method {
	if slices.ContainsFunc(all,
		func(c Charge) bool { _, normal := privacy.LawOf(c.Event).(privacy.Gaussian); return !normal }) {
		return accountant.Contour
	}
	return accountant.Analytic
}

// spent returns the composition of charges by one method.
func (p *pricer) spent(m accountant.Method, all []Charge, s Setting) (accountant.Result, error) {
	key := fmt.Sprintf("%s %v %+v", m, s.Delta, s.Subject)
	for _, c := range all {
		b, err := json.Marshal(c.Event)
		if err != nil {
			return accountant.Result{}, fmt.Errorf("%s: %w", c.Event.Kind(), err)
		}
		key += fmt.Sprintf(" %d %s %s", c.Count, c.Event.Kind(), b)
	}
	p.mu.Lock()
	known, ok := p.known[key]
	p.mu.Unlock()
	if ok {
		return known, nil
	}
	books, err := accountant.New(m, s.Unit, s.Neighbouring)
	if err != nil {
		return accountant.Result{}, err
	}
	for _, c := range all {
		if err := books.Charge(c.Event, c.Count); err != nil {
			return accountant.Result{}, err
		}
	}
	r, err := books.Spent(s.Delta)
	if err != nil {
		return r, err
	}
	if math.IsInf(r.Epsilon, 1) || math.IsNaN(r.Epsilon) {
		return r, fmt.Errorf("the accountant %s answers %v", m, r.Epsilon)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.known[key] = r
	return r, nil
}

func number(v float64) *privacy.Number {
	n := privacy.Number(v)
	return &n
}
