package review

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"privrec/internal/calculator"
	"privrec/internal/calculator/eventlog"
	"privrec/internal/dataset"
	"privrec/internal/experiment"
	"privrec/internal/privacy"
	"privrec/internal/report"
	"privrec/internal/run"
)

// Settings holds the input of a review besides its source.
type Settings struct {
	Delta float64      // of ledgers, and in place of that of a file of events; 0: not given
	Key   *privacy.Key // of the ledger; nil: it has none
}

// Of returns the review of a file of events, a ledger, or a run directory.
func Of(path string, s Settings) (*Review, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, &dataset.Error{File: path, Msg: "no such file or folder",
			Hint: "name a file of events, a ledger or the directory of a run"}
	case err != nil:
		return nil, &dataset.Error{File: path, Msg: "cannot be read", Err: err}
	case info.IsDir():
		r, err := ofRun(path, s)
		if err == nil {
			r.visible()
		}
		return r, err
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, &dataset.Error{File: path, Msg: "cannot be read", Err: err}
	}
	sum := sha256.Sum256(text)
	var r *Review
	if eventlog.IsLedger(text) {
		r, err = ofLedger(path, s)
	} else {
		r, err = ofEvents(path, text, s)
	}
	if err != nil {
		return nil, err
	}
	r.Hash = hex.EncodeToString(sum[:])
	r.visible()
	return r, nil
}

// visible makes invisible characters in the texts of a source visible, so that none can hide or reverse the text beside
// it.
func (r *Review) visible() {
	for _, s := range []*string{&r.Subject, &r.Source, &r.Kind, &r.Nothing, &r.NotKnown} {
		*s = report.Visible(*s)
	}
	for _, list := range [][]string{r.Public, r.Released, r.Rests, r.Ask} {
		for i := range list {
			list[i] = report.Visible(list[i])
		}
	}
	for i, c := range r.Claims {
		r.Claims[i].By, r.Claims[i].Unit = report.Visible(c.By), report.Visible(c.Unit)
	}
	for i, o := range r.Open {
		r.Open[i] = Open{report.Visible(o.What), report.Visible(o.Why)}
	}
	for i, w := range r.Warnings {
		r.Warnings[i].Message = report.Visible(w.Message)
	}
	for i, g := range r.Guarantees {
		r.Guarantees[i].Unit = report.Visible(g.Unit)
	}
}

// setDelta sets the delta of a question.
func setDelta(q *calculator.Question, delta float64) error {
	for _, n := range append(q.Numbers(), q.Optional()...) {
		if n.Name() == "delta" && delta > 0 {
			if err := n.Set(strconv.FormatFloat(delta, 'g', -1, 64)); err != nil {
				return err
			}
		}
	}
	return q.Check()
}

// ofEvents returns the review of a file of events.
func ofEvents(path string, text []byte, s Settings) (*Review, error) {
	f, err := eventlog.Parse(path, text)
	if err != nil {
		return nil, err
	}
	q := calculator.AskEvents()
	if err := setDelta(q, s.Delta); err != nil {
		return nil, err
	}
	a, err := q.EventsOf(f)
	if err != nil {
		return nil, err
	}
	r := &Review{Subject: cmp.Or(f.Title, filepath.Base(path)), Source: path,
		Kind: fmt.Sprintf("file of events of another program, %s", counted(a.Entries, "event")), Records: f.Units(),
		Released: f.Released}
	g := guaranteeOf(a.UnitGuarantee)
	g.Lower, g.Otherwise = a.Lower, a.Otherwise
	if a.Stated != nil {
		g.Stated = a.Stated.Epsilon
	}
	r.Guarantees = []Guarantee{g}
	if c := f.Claim; c != nil {
		r.Claims = []Claim{{c.Epsilon, c.Delta, cmp.Or(string(c.Unit), string(f.Unit)), c.By}}
	}
	for _, u := range a.Unprotected {
		r.addOpen(u.What, u.Why)
	}
	if n := f.Noise; n != nil {
		r.Noise = map[string]string{"exact": "on a grid, exactly", "float": "in floating point", "": ""}[n.Numbers]
	}
	r.public(a.Public)
	for _, x := range a.Faults {
		r.Warnings = append(r.Warnings, Warning{x.Name, x.Message})
		r.Ask = appendNew(r.Ask, x.Ask)
		r.Guarantees[0].AtLeast = r.Guarantees[0].AtLeast || x.Name == "missing-events"
	}
	for _, x := range a.Assumed {
		r.Rests = append(r.Rests, "assumed: "+x)
	}
	r.Rests = append(r.Rests, slices.Concat(a.Remarks, a.Notes)...)
	var stated []Open
	for _, o := range f.Open {
		stated = append(stated, Open{o.What, o.Why})
	}
	if len(stated) > 0 {
		r.Ask = append(r.Ask, askOpen(stated))
	}
	for _, x := range a.Questions {
		r.Ask = appendNew(r.Ask, x)
	}
	r.Unsaid = len(a.Questions)
	return r, nil
}

// guaranteeOf returns the guarantee of an account.
func guaranteeOf(u calculator.UnitGuarantee) Guarantee {
	g := Guarantee{Unit: string(u.Unit), Neighbours: u.Neighbouring, Delta: u.Delta, Epsilon: u.Epsilon,
		Covered: u.Epsilon, Lower: u.Lower, Risk: u.Risk}
	if u.Protected != nil {
		g.Covered, g.Lower = u.Protected.Epsilon, u.Protected.Lower
	} else if math.IsInf(u.Epsilon, 1) {
		g.Risk = nil
	}
	return g
}

func (r *Review) public(list []privacy.Assumption) {
	for _, p := range list {
		r.Public = append(r.Public, p.String())
	}
}

// ofLedger returns the review of a ledger.
func ofLedger(path string, s Settings) (*Review, error) {
	if s.Delta == 0 {
		return nil, run.Usagef("give --delta well below one over the number of users or records, such as 1e-6",
			"%s is a ledger, which has no delta", path)
	}
	a, err := askLedger(path, s.Delta, s.Key)
	if err != nil {
		return nil, err
	}
	r := &Review{Subject: filepath.Base(path), Source: path, Kind: fmt.Sprintf("ledger of a run, %d entries",
		a.Entries)}
	r.ledger(a)
	for _, g := range a.Guarantees {
		one := guaranteeOf(g)
		one.AtLeast = a.Gap.Why != ""
		r.Guarantees = append(r.Guarantees, one)
	}
	r.askOpen()
	return r, nil
}

func askLedger(path string, delta float64, key *privacy.Key) (*calculator.LedgerAccount, error) {
	q := calculator.AskLedger()
	if err := setDelta(q, delta); err != nil {
		return nil, err
	}
	return q.Ledger(path, "", key)
}

// ledger adds the content of a ledger besides its guarantees.
func (r *Review) ledger(a *calculator.LedgerAccount) {
	for _, g := range a.Guarantees {
		for _, u := range g.Unprotected {
			r.addOpen(u.What, u.Why)
		}
		for _, n := range g.Notes {
			r.Rests = appendNew(r.Rests, n)
		}
	}
	if len(r.Public) == 0 {
		r.public(a.Public)
	}
	r.Rests = append(r.Rests, a.Remarks...)
	if slices.ContainsFunc(a.Guarantees,
		func(g calculator.UnitGuarantee) bool { return !math.IsInf(guaranteeOf(g).Covered, 1) }) {
		r.noise(a.Noise)
	}
	if a.Gap.Why != "" {
		r.Warnings = append(r.Warnings, Warning{"not all", a.Gap.Why})
		r.Ask = append(r.Ask, "When will the run be finished? Only then its account counts every release.")
	}
}

// noise adds how the noise was drawn.
func (r *Review) noise(n privacy.Noise) {
	switch n {
	case privacy.Secure:
		r.Noise = "exactly, on a grid, from cryptographic random bits"
	case privacy.Research:
		r.Noise = "from a seed or in floating point, for research"
		r.Warnings = append(r.Warnings,
			Warning{"research noise",
				"the noise is seeded, or drawn in floating point, whose last digits tell the value beneath: the " +
					"guarantee holds on paper, and the model must not leave the house with it"})
		r.Ask = append(r.Ask, "Is this the run whose model is released? Then train it with exact noise "+
			"(run.secure=true), which cannot be made again.")
	}
}

// ofRun returns the review of a run directory.
func ofRun(dir string, s Settings) (*Review, error) {
	m, err := run.ReadManifest(dir)
	if err != nil {
		return nil, &dataset.Error{File: dir, Msg: "is no run directory", Err: err,
			Hint: "name the directory of a run, a ledger or a file of events"}
	}
	r := &Review{Subject: m.Task, Source: dir, Kind: "directory of a run"}
	if m.ConfigHash != "" {
		r.Kind += ", configuration " + m.ConfigHash[:min(12, len(m.ConfigHash))]
	}
	if m.Status != run.StatusDone {
		return ofUnfinished(r, m, s)
	}
	a, err := experiment.ReadAccount(dir)
	if err != nil {
		return nil, err
	}
	if a == nil {
		r.Nothing = "the run wrote no account: its task states nothing about privacy"
		r.askOpen()
		r.Ask = append(r.Ask, "What of the rows that it read can be found again in what it released? privrec attack "+
			"and privrec audit measure that.")
		return r, nil
	}
	if a.Noise == experiment.Unknown {
		for _, o := range a.Unbounded {
			r.NotKnown = o.Why
		}
		r.Ask = append(r.Ask, "How was the model trained: with noise, on which samples, for how many steps? privrec "+
			"account events --example prints a file in which that can be stated, and a review of it.",
			"Which files leave the house, and to whom? Logs and measurements on private rows are releases too.")
		return r, nil
	}
	if c := a.Claimed; c != nil {
		r.Claims = []Claim{{float64(c.Eps), c.Delta, unitName(c.Unit), theorem(c.Theorem)}}
	}
	for _, o := range a.Unbounded {
		r.addOpen(experiment.Thing(o.What), o.Why)
	}
	r.public(a.Public)
	delta := s.Delta
	for _, u := range a.Units {
		g := Guarantee{Unit: unitName(u.Unit), Neighbours: privacy.Neighbouring(u.Neighbouring), Delta: u.Delta,
			Epsilon: float64(u.Total), Covered: float64(u.Accounted.Eps)}
		r.Guarantees = append(r.Guarantees, g)
		delta = cmp.Or(delta, u.Delta)
	}
	if f := a.Features; f != nil {
		for _, o := range f.Unbounded {
			r.addOpen(experiment.Thing(o.What), o.Why)
		}
		r.Guarantees = append(r.Guarantees, Guarantee{Unit: string(privacy.Feature), Neighbours: privacy.Replace,
			Epsilon: float64(f.Total), Covered: float64(f.Eps1)})
	}
	if err := r.runLedger(dir, cmp.Or(delta, 1e-6), s.Key); err != nil {
		return nil, err
	}
	r.askOpen()
	return r, nil
}

// ofUnfinished returns the review of an unfinished run, by its ledger so far.
func ofUnfinished(r *Review, m run.Manifest, s Settings) (*Review, error) {
	if _, err := os.Stat(filepath.Join(r.Source, run.LedgerName)); err != nil {
		return nil, &dataset.Error{File: r.Source,
			Msg: fmt.Sprintf("the run is %s, not done, and has no ledger: its account is written when it ends",
				m.Status), Hint: "finish it first: the command that began it, with --resume"}
	}
	of, err := ofLedger(filepath.Join(r.Source, run.LedgerName), s)
	if err != nil {
		return nil, err
	}
	of.Subject, of.Source, of.Kind = r.Subject, r.Source, r.Kind+", which is "+m.Status
	return of, nil
}

// runLedger adds the content of a run's ledger that its account does not have: risks, the noise, and their assumptions.
func (r *Review) runLedger(dir string, delta float64, key *privacy.Key) error {
	if _, err := os.Stat(filepath.Join(dir, run.LedgerName)); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	a, err := askLedger(dir, delta, key)
	if err != nil {
		return err
	}
	open := r.Open // in the words of the account
	r.ledger(a)
	if len(open) > 0 {
		r.Open = open
	}
	for i := range r.Guarantees {
		g := &r.Guarantees[i]
		for _, x := range a.Guarantees {
			one := guaranteeOf(x)
			// The account of a unit may count other neighbours than the ledger names.
			if one.Unit == g.Unit && one.Neighbours == g.Neighbours && close(one.Covered, g.Covered) {
				g.Risk, g.Lower = one.Risk, one.Lower
			}
		}
	}
	return nil
}

// close reports whether two epsilons are equal up to 0.1 %.
func close(a, b float64) bool { return a == b || math.Abs(a-b) <= 1e-3*math.Max(a, b) }

// askOpen adds questions about open things.
func (r *Review) askOpen() {
	if len(r.Open) > 0 {
		r.Ask = append([]string{askOpen(r.Open)}, r.Ask...)
	}
	if len(r.Public) > 0 {
		r.Ask = append(r.Ask, "Was all that is taken as public (see below) known before the data were seen, or is it "+
			"a secret of single people?")
	}
	r.Ask = append(r.Ask, "Which files leave the house, and to whom? Only what the account lists is covered; logs "+
		"and measurements on private rows are releases too.",
		"Are the same people's data trained on again, or released otherwise? Epsilons add up (privrec account budget "+
			"keeps the sum).")
}

// askOpen returns a question about open things.
func askOpen(open []Open) string {
	return fmt.Sprintf("Must this leave without noise: %s? It can be left out, be fixed or made public beforehand, "+
		"or get noise that is counted.", openNames(open))
}

func appendNew(list []string, s string) []string {
	if s == "" || slices.Contains(list, s) {
		return list
	}
	return append(list, s)
}

// theorem returns the name of a theorem, which some accounts give by its number alone.
func theorem(name string) string {
	if name != "" && name[0] >= '0' && name[0] <= '9' {
		return "theorem " + name
	}
	return name
}
