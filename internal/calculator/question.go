package calculator

import (
	"context"
	"fmt"
	"math"
	"slices"

	"privrec/internal/calculator/eventlog"
	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant"
	"privrec/internal/run"
)

// Question is one calculation: numbers and choices about a mechanism, under the names of command line flags. Fill them
// in, see that none is Missing, and Check the question; then it can be answered.
type Question struct {
	// The choices as given. An empty one means the default, except for Sampling, which has its default already.
	Accountant, Sampling, Neighbouring, Strategy string
	// Find names the number to calibrate; empty: the noise.
	Find string

	optional []string // names of numbers that may be left out

	of       *Mechanism
	find     string // the number that a calibration looks for; empty: none
	numbers  map[string]*Number
	order    []string // of numbers, in which the answer repeats them
	method   accountant.Method
	sampling privacy.Sampling
	relation privacy.Neighbouring
	unit     privacy.Unit
	ctx      context.Context // nil: nothing ends the answer early

	sums sumsOf
}

// During returns the question bound to ctx: its answer stops when ctx ends, with the error of ctx.
func (q *Question) During(ctx context.Context) *Question {
	q.ctx = ctx
	return q
}

// stopped returns the error of the question's context, if it has ended.
func (q *Question) stopped() error {
	if q.ctx == nil {
		return nil
	}
	return q.ctx.Err()
}

// account opens an account for an answer to the question.
func (q *Question) account(m accountant.Method, about privacy.Subject) (*accountant.Account, error) {
	books, err := accountant.New(m, about.Unit, about.Neighbouring)
	if err != nil || q.ctx == nil {
		return books, err
	}
	return books.During(q.ctx), nil
}

// newQuestion returns a question with required numbers, none given yet.
func newQuestion(m *Mechanism, names ...string) *Question {
	q := &Question{of: m, numbers: map[string]*Number{}, order: names, unit: m.unit}
	if m.Sampled {
		q.Sampling = string(privacy.Poisson)
	}
	for _, name := range names {
		n := newNumber(name)
		if name == "epsilon" && m.Noise != "" {
			n.usage = "largest epsilon allowed"
		}
		q.numbers[name] = n
	}
	return q
}

// AskAccount returns the question about the epsilon of releases.
func AskAccount(m *Mechanism) *Question {
	var noise []string
	if m.Noise != "" {
		noise = []string{m.Noise}
	}
	q := newQuestion(m, slices.Concat(noise, m.numbers, m.counts(), []string{"delta"})...)
	q.allow(m.optional...)
	if !m.closed {
		q.allow("at-epsilon", "prior")
		q.allowGroup()
	}
	return q
}

// allow adds optional numbers.
func (q *Question) allow(names ...string) {
	for _, name := range names {
		q.numbers[name] = newNumber(name)
	}
	q.optional = append(q.optional, names...)
}

// allowGroup adds the number of records of one user, unless the releases are about users already.
func (q *Question) allowGroup() {
	if q.unit != privacy.User {
		q.allow("group")
	}
}

// Optional returns the optional numbers.
func (q *Question) Optional() []*Number {
	var all []*Number
	for _, name := range q.optional {
		all = append(all, q.numbers[name])
	}
	return all
}

// given reports whether a number was given.
func (q *Question) given(name string) bool { n := q.numbers[name]; return n != nil && n.set }

// best reports whether a number is to be found.
func (q *Question) best(name string) bool { return q.given(name) && q.numbers[name].text == best }

// or returns the value of a number, or another one if it was not given.
func (q *Question) or(name string, v float64) float64 {
	if q.given(name) {
		return q.get(name)
	}
	return v
}

// AskCalibration returns the question of the least noise for a guarantee.
func AskCalibration(m *Mechanism) *Question {
	var noise []string
	if len(m.finds) > 0 {
		noise = []string{m.Noise}
	}
	q := newQuestion(m, slices.Concat(noise, m.numbers, m.counts(), []string{"delta", "epsilon"})...)
	q.find = m.Noise
	q.allow(m.optional...)
	if !m.closed {
		q.allow("advantage", "tpr", "fpr", "prior")
		q.allowGroup()
	}
	return q
}

// AskDivergence returns the question of the Rényi divergence of one release.
func AskDivergence(m *Mechanism) *Question {
	return newQuestion(m, slices.Concat([]string{m.Noise}, m.numbers, []string{"alpha"})...)
}

// Of returns the mechanism of the question.
func (q *Question) Of() *Mechanism { return q.of }

// Numbers returns the required numbers, in order.
func (q *Question) Numbers() []*Number {
	var all []*Number
	for _, name := range q.order {
		all = append(all, q.numbers[name])
	}
	return all
}

// Missing returns the names of required numbers that are not given.
func (q *Question) Missing() (names []string) {
	risk := q.given("advantage") || q.given("tpr") || q.given("fpr")
	for _, n := range q.Numbers() {
		switch {
		case n.set, q.find != "" && n.name == q.wanted():
		case n.name == "delta" && (q.given("at-epsilon") || risk), n.name == "epsilon" && q.find != "" && risk:
		default:
			names = append(names, n.name)
		}
	}
	switch {
	case q.given("tpr") && !q.given("fpr"):
		names = append(names, "fpr")
	case q.given("fpr") && !q.given("tpr"):
		names = append(names, "tpr")
	}
	return names
}

// wanted returns the name of the number to calibrate.
func (q *Question) wanted() string {
	if q.Find != "" {
		return q.Find
	}
	return q.find
}

// Check fails on choices that are unknown or exclude each other. A question can be answered only after it.
func (q *Question) Check() error {
	if err := q.checkGoal(); err != nil {
		return err
	}
	if err := q.checkRelation(); err != nil {
		return err
	}
	if err := q.checkMethod(); err != nil {
		return err
	}
	return q.derive()
}

// checkGoal fails on numbers that exclude each other.
func (q *Question) checkGoal() error {
	for _, pair := range [][2]string{{"at-epsilon", "delta"}, {"advantage", "tpr"}, {"advantage", "epsilon"},
		{"tpr", "epsilon"}} {
		if q.given(pair[0]) && q.given(pair[1]) && (pair[1] != "epsilon" || q.find != "") {
			return run.Usagef("leave out one of them", "--%s and --%s are given, want one", pair[0], pair[1])
		}
	}
	if q.given("tpr") && q.get("tpr") <= q.get("fpr") {
		return run.Usagef("an attacker who guesses has a true positive rate of --fpr",
			"--tpr is %s and --fpr %s, want a larger --tpr", short(q.get("tpr")), short(q.get("fpr")))
	}
	if q.Find == "" {
		return nil
	}
	if finds := append([]string{q.of.Noise}, q.of.finds...); !slices.Contains(finds, q.Find) {
		return run.Usagef(didYouMean(q.Find, finds), "--find is %q, want %s", clip(q.Find), list(finds))
	}
	if q.numbers[q.Find].set {
		return run.Usagef("leave it out", "--%s is what --find looks for", q.Find)
	}
	return nil
}

// derive computes the numbers that follow from others.
func (q *Question) derive() error {
	if q.of.derive == nil {
		return nil
	}
	return q.of.derive(q)
}

// deriveBatches computes the rate and the number of releases from records, batch and epochs.
func deriveBatches(q *Question) error {
	records, batch, epochs := q.get("records"), q.get("batch"), q.get("epochs")
	if batch > records {
		return run.Usagef("", "--batch is %s, more than the %s --records", short(batch), short(records))
	}
	rate := batch / records
	if math.FMA(rate, records, -batch) < 0 { // rounded down
		rate = math.Nextafter(rate, 2)
	}
	switch {
	case q.given("times") && q.sampling != privacy.Allocation:
		return run.Usagef("", "--times goes with --sampling allocation alone")
	case q.given("most") != (q.sampling == privacy.Truncated):
		return run.Usagef("", "--most and --sampling %s go together", privacy.Truncated)
	}
	q.put("sampling-rate", math.Min(rate, 1))
	q.put("steps", epochs*q.perEpoch())
	if eventlog.ByEpoch(q.sampling) {
		q.put("steps", epochs)
	}
	return nil
}

// perEpoch returns the number of steps of an epoch.
func (q *Question) perEpoch() float64 {
	return math.Ceil(q.get("records") * q.or("times", 1) / q.get("batch"))
}

// bounded reports whether the sampling has bounds of epsilon, and no exact value.
func (q *Question) bounded() bool {
	return q.sampling == privacy.WithoutReplacement || q.sampling == privacy.Allocation ||
		q.sampling == privacy.Truncated
}

func (q *Question) checkRelation() error {
	q.relation = privacy.AddRemove
	if q.of.Name == "randomized-response" {
		q.relation = privacy.Replace // a local randomiser hides which value it was
		return nil
	}
	if q.of.Sampled {
		q.sampling = privacy.Sampling(q.Sampling)
		methods := q.of.samplings()
		if !slices.Contains(methods, q.sampling) {
			return run.Usagef(didYouMean(q.Sampling, methods), "--sampling is %q, want %s", clip(q.Sampling),
				list(methods))
		}
		switch q.sampling {
		case privacy.WithoutReplacement:
			q.relation = privacy.Replace
		case eventlog.Shuffled:
			q.relation = privacy.ZeroOut
		}
	}
	if q.Neighbouring == "" {
		return nil
	}
	asked := privacy.Neighbouring(q.Neighbouring)
	if !slices.Contains(q.of.Relations, asked) {
		return run.Usagef(didYouMean(q.Neighbouring, q.of.Relations), "--neighbouring is %q, want %s",
			clip(q.Neighbouring), list(q.of.Relations))
	}
	if q.sampling == privacy.WithoutReplacement && asked != privacy.Replace {
		return run.Usagef("batches of a fixed size keep the number of records: leave out --neighbouring, or take "+
			"--sampling poisson",
			"--neighbouring %s does not go with --sampling without-replacement", asked)
	}
	if q.sampling == privacy.Truncated && asked != privacy.AddRemove {
		return run.Usagef("a record that is blanked or exchanged keeps its place in a batch: no amplification is known",
			"--neighbouring %s does not go with --sampling %s", asked, q.sampling)
	}
	if q.sampling == eventlog.Shuffled && asked == privacy.AddRemove {
		return run.Usagef("one record less moves all others to other batches: take --neighbouring zero-out or replace",
			"--neighbouring %s does not go with --sampling %s", asked, eventlog.Shuffled)
	}
	q.relation = asked
	return nil
}

func (q *Question) checkMethod() error {
	if len(q.of.Accountants) == 0 {
		return nil
	}
	if q.Accountant == "" {
		if q.method = q.of.Accountants[0]; q.bounded() {
			q.method = accountant.PLD
		}
		return nil
	}
	return q.setMethod("accountant", q.Accountant)
}

// setMethod sets the accountant from a flag, and checks its name.
func (q *Question) setMethod(flag, text string) error {
	m := accountant.Method(text)
	switch {
	case !slices.Contains(q.of.Accountants, m):
		return run.Usagef(didYouMean(text, q.of.Accountants), "--%s is %q, want %s", flag, clip(text),
			list(q.of.Accountants))
	case q.bounded() && m != accountant.RDP && m != accountant.PLD:
		batches := "batches of a fixed size"
		switch q.sampling {
		case privacy.Allocation:
			batches = "allocated records"
		case privacy.Truncated:
			batches = "batches that are cut"
		}
		return run.Usagef("take --"+flag+" pld or rdp: "+batches+" have bounds, and no exact value",
			"--%s %s does not go with --sampling %s", flag, m, q.sampling)
	}
	q.method = m
	return nil
}

// get returns the value of a number.
func (q *Question) get(name string) float64 { return q.numbers[name].v }

// shown returns the value of a number in words.
func (q *Question) shown(name string) string {
	n := q.numbers[name]
	if n.text != "" {
		return fmt.Sprintf("%s (%s)", n.text, near(n.v, 6))
	}
	return near(n.v, 6)
}

// put sets a computed number, such as the noise of a calibration.
func (q *Question) put(name string, v float64) {
	n := q.numbers[name]
	if n == nil {
		n = newNumber(name)
		q.numbers[name] = n
	}
	n.v, n.set, n.text = v, true, ""
}

// count returns the number of releases in words.
func (q *Question) count() string {
	n := q.numbers["steps"]
	switch {
	case n == nil:
		return "a release"
	case n.v == 1:
		return "1 release"
	}
	return near(n.v, 13) + " releases"
}
