package calculator

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"privrec/internal/calculator/eventlog"
	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant"
	"privrec/internal/privacy/accountant/rdp"
	"privrec/internal/privacy/accountant/terms"
)

// Asked holds the numbers of a question, to show beside its answer.
type Asked struct {
	Releases string // the releases, in words
	Method   accountant.Method
	Sampling privacy.Sampling // empty: without batches
	Numbers  []Given
}

// Given holds a number of a question, with its key in JSON.
type Given struct {
	Key   string
	Value any    // float64, int64 of a whole number, string or []float64
	Label string // for a person; empty: in JSON alone
}

// asked returns the numbers of a question, except those that its answer has.
func (q *Question) asked(less ...string) Asked {
	a := Asked{Releases: q.of.describe(q), Method: q.method, Sampling: q.sampling}
	for _, name := range q.order {
		if slices.Contains(less, name) {
			continue
		}
		key := strings.ReplaceAll(name, "-", "_")
		if !q.numbers[name].set {
			continue
		}
		if name == "epsilon" { // the guarantee has this key in JSON
			key = "release_epsilon"
		}
		a.Numbers = append(a.Numbers, Given{Key: key, Value: q.numbers[name].json()})
	}
	for _, name := range slices.Concat(q.of.optional, q.of.derived) {
		if q.given(name) {
			a.Numbers = append(a.Numbers,
				Given{strings.ReplaceAll(name, "-", "_"), q.numbers[name].json(), q.of.labels[name]})
		}
	}
	if q.Strategy != "" {
		a.Numbers = append(a.Numbers, Given{Key: "strategy", Value: q.Strategy})
	}
	if d := q.sums.design; d.Weights != "" {
		a.Numbers = append(a.Numbers, Given{"weights", d.Weights.Floats(), "weights of the buffers"},
			Given{"decays", d.Decays.Floats(), "decays of the buffers"})
	} else if d.Column != "" {
		a.Numbers = append(a.Numbers, Given{Key: "column", Value: d.Column.Floats()}) // of many entries: for JSON
	}
	if q.given("group") {
		a.Numbers = append(a.Numbers, Given{Key: "group", Value: q.numbers["group"].json()})
		a.Releases += fmt.Sprintf(", for a user with %s records", q.shown("group"))
	}
	return a
}

// echo adds the numbers of a question, and how its batches are drawn, to the page.
func (p *page) echo(a Asked) {
	for _, n := range a.Numbers {
		shown := ""
		switch v := n.Value.(type) {
		case float64:
			shown = near(v, 6)
		case []float64:
			for _, x := range v {
				shown += near(x, 6) + " "
			}
			shown = strings.TrimSpace(shown)
		}
		p.add(n.Key, n.Value, n.Label, shown)
	}
	if a.Sampling != "" {
		p.add("sampling", a.Sampling, "", "")
	}
}

// bound adds the theorem behind a bound for batches of a fixed size.
func (p *page) bound(a Asked, method string) {
	switch {
	case a.Sampling == privacy.WithoutReplacement && method == string(accountant.PLD):
		p.add("theorem", subsets, "theorem", subsets)
	case a.Sampling == privacy.WithoutReplacement:
		p.add("theorem", theorem27, "theorem", theorem27)
	case a.Sampling == privacy.Allocation:
		p.add("theorem", allocations, "theorem", allocations)
	case a.Sampling == privacy.Truncated:
		p.add("theorem", truncations, "theorem", truncations)
	case a.Sampling == eventlog.Shuffled:
		p.add("theorem", shuffledSource, "theorem", shuffledSource)
	}
}

// subsets is the source of the certified bound for batches of a fixed size.
const subsets = "Balle, Barthe, Gaboardi, NeurIPS 2018, theorem 9, as a dominating pair after Zhu, Dong, Wang, " +
	"AISTATS 2022, theorems 10 and 11"

// allocations is the source of the bounds for allocated records.
const allocations = "Chua, Ghazi, Harrison, Kamath, Kumar, Leeman, Manurangsi, Sinha, Zhang, AISTATS 2025, and " +
	"Feldman, Shenfeld, NeurIPS 2025: the dominating pair of random allocation"

// truncations is the source of the bounds for batches that are cut to a size.
const truncations = "Chua, Ghazi, Kamath, Kumar, Manurangsi, Sinha, Zhang, NeurIPS 2024, and arXiv 2508.15089: a " +
	"record in a full batch displaces another"

// theorem27 is the source of the bound for batches of a fixed size.
const theorem27 = "Wang, Balle, Kasiviswanathan, AISTATS 2019, theorem 27 (Gaussian, without replacement), and no " +
	"more than without sampling"

// Guarantee holds the epsilon and delta of releases.
type Guarantee struct {
	accountant.Result
	Asked Asked
	Exact *accountant.Result // of the same releases, if Result is a theorem's closed form; nil: none

	Risk   *Risk // nil: none is known, and NoRisk says why
	NoRisk string
	Views  *accountant.Views // nil: none is known
	CLT    float64           // mu of the central limit theorem, an approximation; 0: none
}

// see adds the other results of an account: the risk and other views of it.
func (g *Guarantee) see(books *accountant.Account, prior float64) {
	if t, err := books.TradeOff(); err != nil {
		g.NoRisk = err.Error()
	} else {
		g.Risk = riskOf(t, prior)
	}
	if v, err := books.Views(); err == nil {
		g.Views = &v
	}
}

// Text shows the guarantee to a person.
func (g *Guarantee) Text(w io.Writer) error { return g.page().Text(w) }

// MarshalJSON writes the content of Text, with every digit.
func (g *Guarantee) MarshalJSON() ([]byte, error) { return g.page().MarshalJSON() }

func (g *Guarantee) page() *page {
	p := &page{title: capitalise(g.Asked.Releases)}
	p.guarantee(g.Result)
	p.views(g)
	p.echo(g.Asked)
	p.bound(g.Asked, g.Method)
	p.statement = statement(g.Asked.Releases, g.Result)
	p.risk(g.Risk)
	if g.NoRisk != "" {
		p.warn("the risk of an attack is not known: %s", g.NoRisk)
	}
	if g.Asked.Sampling == eventlog.Shuffled {
		p.warn("shuffled batches are not Poisson samples, whose epsilon is often quoted for them: the upper bound " +
			"has no amplification by sampling, the lower one is of an attack on known data")
	}
	p.judge(g.Result)
	if m := g.Asked.Method; len(g.Notes) == 0 && m != "" && g.Method != string(m) && g.Method != unamplified {
		p.warn("the accountant %q was asked for; %q answered", m, g.Method)
	}
	if g.Exact != nil {
		p.add("epsilon_exact", g.Exact.Epsilon, "exact epsilon", RoundUp(g.Exact.Epsilon, 6))
		p.statement += fmt.Sprintf(
			" That is the closed form of the theorem; the exact value of the same releases is %s.",
			RoundUp(g.Exact.Epsilon, 4))
		p.warn("the theorem is about one matrix that is released once a step: the paper's training releases two, " +
			"anew for every prefix in every epoch; privacy.json of a run counts them")
	}
	return p
}

// views adds the guarantee in other measures.
func (p *page) views(g *Guarantee) {
	if g.Views == nil {
		return
	}
	note := ""
	if g.Views.Sampled {
		note = " (as without sampling, which no such number shows)"
	}
	if mu := g.Views.Mu; mu > 0 && !math.IsInf(mu, 1) {
		p.add("gdp_mu", mu, "mu of Gaussian DP", RoundUp(mu, 6)+note)
	}
	if g.CLT > 0 && g.Views.Sampled && !math.IsInf(g.CLT, 1) {
		p.add("gdp_mu_clt", g.CLT, "mu by the central limit theorem", near(g.CLT, 4)+" (approximate, no guarantee)")
	}
	if rho := g.Views.Rho; rho > 0 && !math.IsInf(rho, 1) {
		p.add("zcdp_rho", rho, "rho of zCDP", RoundUp(rho, 6)+note)
	}
}

// guarantee adds the computed results.
func (p *page) guarantee(r accountant.Result) {
	p.add("epsilon", r.Epsilon, "epsilon", RoundUp(r.Epsilon, 6))
	lower := func(key string) {
		if r.Lower > 0 || r.Method == string(accountant.PLD) {
			p.add(key, r.Lower, "at least", roundDown(r.Lower, 6))
		}
	}
	if !r.ForDelta {
		lower("epsilon_lower")
	}
	p.add("delta", r.Delta, "delta", shownDelta(r.Delta))
	if r.ForDelta {
		lower("delta_lower")
	}
	p.add("accountant", r.Method, "accountant", r.Method)
	if r.Order > 0 {
		p.add("order", jsonNumber(r.Order), "best order", short(r.Order))
	}
	if r.Direction != "" {
		p.add("direction", r.Direction, "direction", r.Direction)
	}
	p.add("neighbouring", r.Neighbouring, "neighbouring", string(r.Neighbouring))
	p.add("unit", r.Unit, "unit", string(r.Unit))
	if len(r.Unprotected) > 0 {
		p.add("unprotected", r.Unprotected, "", "")
	}
}

// shownDelta returns a delta as it was given, or a computed one rounded up.
func shownDelta(v float64) string {
	if s := short(v); len(s) < 12 {
		return s
	}
	return RoundUp(v, 6)
}

// jsonNumber returns an order in a form that JSON can hold.
func jsonNumber(v float64) any {
	if math.IsInf(v, 1) {
		return "infinity"
	}
	return v
}

// judge adds warnings about the numbers.
func (p *page) judge(r accountant.Result) {
	for _, n := range r.Notes {
		p.warn("%s", n)
	}
	for _, u := range r.Unprotected {
		p.warn("unprotected: %s: %s", u.What, u.Why)
	}
	if r.AtEnd {
		p.warn("the best Rényi order, %s, is at an end of the grid: the bound may be loose", short(r.Order))
	}
	if r.Epsilon > 10 && !math.IsInf(r.Epsilon, 1) {
		p.warn("an epsilon above 10 rules out little")
	}
	if math.IsInf(r.Epsilon, 1) {
		return // at any delta
	}
	if r.Epsilon == 0 { // delta is then the advantage of an attacker, which is stated
		return
	}
	if r.Delta > 1e-3 {
		p.warn("delta is the probability with which everything about one %s may leak: %s is too much for any data",
			noun(r.Unit), shownDelta(r.Delta))
		return
	}
	if r.Delta == 0 { // pure, or held against the number of units already
		return
	}
	// The number of units is not known: say for how many this delta is small enough.
	p.warn("delta should be well below one over the number of %s, which is not known here: %s suits far fewer than %s",
		nouns(r.Unit), shownDelta(r.Delta), near(1/r.Delta, 2))
}

// statement returns the guarantee in plain words. It states exactly what (epsilon, delta)-indistinguishability means:
// delta is added to a probability, and is not the probability of a failure.
func statement(releases string, r accountant.Result) string {
	if math.IsInf(r.Epsilon, 1) {
		return fmt.Sprintf("Nothing is guaranteed about one %s: for part of what %s shows no bound is known.",
			noun(r.Unit), releases)
	}
	s := fmt.Sprintf("%s one %s%s changes the probability of anything that an observer of %s, who knows all other "+
		"%s, can conclude by at most a factor of e^%s%s, plus %s.",
		capitalise(change(r.Neighbouring)), noun(r.Unit), exchanged(r.Neighbouring), releases, nouns(r.Unit),
		RoundUp(r.Epsilon, 6), times(r.Epsilon), shownDelta(r.Delta))
	if r.Unit == privacy.Cell {
		s += " The same holds for the order of two cells; a whole sequence is a group of all its cells."
	}
	if r.Unit == privacy.Position {
		s += " Positions that change together add up: a whole slate is a group of all its positions."
	}
	answer, upper := "epsilon", RoundUp(r.Epsilon, 6)
	if r.ForDelta {
		answer, upper = "delta", shownDelta(r.Delta)
	}
	switch {
	case r.Method == string(accountant.RDP), r.Method == unamplified && r.ForDelta: // which has no lower bound
		return s + fmt.Sprintf(" The %s is an upper bound; the exact one may be smaller.", answer)
	case r.Method == string(accountant.PLD), r.Method == unamplified:
		return s + fmt.Sprintf(" The exact %s is proved to lie between %s and %s.", answer, roundDown(r.Lower, 6),
			upper)
	case r.Method == string(accountant.Contour), r.Method == string(accountant.Analytic):
		return s + fmt.Sprintf(" The %s is exact, rounded up.", answer)
	}
	return s
}

// Divergence holds how well one release distinguishes neighbours.
type Divergence struct {
	Nats  float64 // the Rényi divergence of order Alpha, or a bound on it
	Alpha float64 // the order
	privacy.Subject
	Asked Asked
}

// Text shows the divergence to a person.
func (d *Divergence) Text(w io.Writer) error { return d.page().Text(w) }

// MarshalJSON writes the content of Text, with every digit.
func (d *Divergence) MarshalJSON() ([]byte, error) { return d.page().MarshalJSON() }

func (d *Divergence) page() *page {
	p := &page{title: capitalise(d.Asked.Releases)}
	p.add("rdp", d.Nats, "divergence", RoundUp(d.Nats, 6))
	p.add("alpha", d.Alpha, "order", short(d.Alpha))
	p.add("accountant", "rdp", "", "")
	p.add("neighbouring", d.Neighbouring, "neighbouring", string(d.Neighbouring))
	p.add("unit", d.Unit, "unit", string(d.Unit))
	p.echo(d.Asked)
	p.bound(d.Asked, "rdp")
	bound := "is"
	if d.Asked.Sampling == privacy.WithoutReplacement {
		bound = "is at most"
	}
	p.statement = fmt.Sprintf("The Rényi divergence of order %s between what %s shows before and after %s one %s %s "+
		"%s nats; divergences of releases add up, order by order.",
		short(d.Alpha), d.Asked.Releases, change(d.Neighbouring), noun(d.Unit), bound, RoundUp(d.Nats, 6))
	return p
}

// Divergence returns the divergence of one release at the chosen order.
func (q *Question) Divergence() (*Divergence, error) {
	e, err := q.of.release(q)
	if err != nil {
		return nil, err
	}
	alpha := q.get("alpha")
	l, err := terms.Flatten(e, 1, q.unit, q.relation)
	if err != nil {
		return nil, err
	}
	curve, err := rdp.FromList(l)
	if err != nil {
		return nil, q.failed("rdp", err)
	}
	v := curve(alpha)
	if math.IsNaN(v) || v < 0 || math.IsInf(v, 1) {
		return nil, fmt.Errorf("the divergence of order %s is too large for a number: %s", short(alpha),
			q.of.describe(q))
	}
	return &Divergence{Nats: v, Alpha: alpha, Subject: privacy.Subject{Unit: q.unit, Neighbouring: q.relation},
		Asked: q.asked("alpha")}, nil
}
