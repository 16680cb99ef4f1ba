package compare

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"privrec/internal/experiment"
	"privrec/internal/metrics"
	"privrec/internal/report"
	"privrec/internal/stats"
)

// Confidence is the level of the intervals.
const Confidence = 0.95

// Group holds the runs of one method, which differ in the seed.
type Group struct {
	Name string
	Runs []*Scores
}

// Mean holds the mean of a metric over a group.
type Mean struct {
	Group  string
	Metric string
	Mean   float64  // over users, or over samples where the runs report that
	SD     *float64 // of the runs' means; nil for one run
	Runs   int
	Users  int
}

// Difference holds the difference in a metric between a group and the first one.
type Difference struct {
	Group    string
	Metric   string
	Mean     float64
	Interval *[2]float64 // at level Confidence, over users; nil where nothing varies from user to user
	// two-sided, of no difference: Student's, or the exact sign test's where nothing varies; nil for one user
	P    *float64
	Holm *float64 // adjusted for all differences of the result that have a P
}

// Result holds a comparison of groups.
type Result struct {
	Means       []Mean
	Differences []Difference
	Notes       []string
}

// Compare compares every group with the first one, in the metrics that all runs have. All runs must have scored the
// same users.
func Compare(groups []Group) (*Result, error) {
	if len(groups) < 2 {
		return nil, errors.New("compare: at least two groups are needed")
	}
	first := groups[0].Runs[0]
	metrics := slices.Clone(first.Metrics)
	for _, g := range groups {
		for _, s := range g.Runs {
			if err := same(first, s); err != nil {
				return nil, err
			}
			metrics = slices.DeleteFunc(metrics, func(m string) bool { return s.Values[m] == nil })
		}
	}
	if len(metrics) == 0 {
		return nil, fmt.Errorf("compare: the runs have no metric in common; the first has %s",
			strings.Join(first.Metrics, ", "))
	}
	weights := first.Weights
	if weights == nil {
		weights = slices.Repeat([]float64{1}, len(first.Users))
	}
	r := &Result{Notes: append(notes(groups), imported(groups)...)}
	var ps []float64
	for _, m := range metrics {
		base, err := r.mean(groups[0], m, first.Users, weights)
		if err != nil {
			return nil, err
		}
		for _, g := range groups[1:] {
			own, err := r.mean(g, m, first.Users, weights)
			if err != nil {
				return nil, err
			}
			d, err := difference(own, base, weights)
			if err != nil {
				return nil, fmt.Errorf("compare: %s of %s: %w", m, g.Name, err)
			}
			d.Group, d.Metric = g.Name, m
			r.Differences = append(r.Differences, d)
			if d.P != nil {
				ps = append(ps, *d.P)
			}
		}
	}
	holm, err := stats.Holm(ps)
	if err != nil {
		return nil, err
	}
	for i := range r.Differences {
		if r.Differences[i].P != nil {
			r.Differences[i].Holm, holm = &holm[0], holm[1:]
		}
	}
	r.Notes = append(r.Notes, r.without(len(first.Users))...)
	return r, nil
}

// without returns notes on why differences have no interval, or no p.
func (r *Result) without(users int) []string {
	if users == 1 {
		return []string{"there is one user: what others would change cannot be said, so that there is neither an " +
			"interval nor a p value"}
	}
	if slices.ContainsFunc(r.Differences, func(d Difference) bool { return d.Interval == nil }) {
		return []string{"where all users differ by the same, or none does, nothing says how far users spread: there " +
			"is no interval, and p is that of the exact sign test"}
	}
	return nil
}

// imported returns notes on runs of imported models: only their users can be compared with those of other runs.
func imported(groups []Group) (notes []string) {
	for _, g := range groups {
		for _, s := range g.Runs {
			if experiment.IsImported(s.Manifest.Task) {
				notes = append(notes, fmt.Sprintf("%s was imported: its users are those of the others, with as many "+
					"test rows each; that they are the same rows, is for you to know", s.Ref))
			}
		}
	}
	return notes
}

// same returns an error for runs whose users cannot be paired.
func same(a, b *Scores) error {
	if x, y := a.Data.Name, b.Data.Name; x != "" && y != "" && x != y {
		return &Error{b.Ref, fmt.Sprintf("it ran on %s, but %s on %s", y, a.Ref, x), "compare runs on the same data"}
	}
	if x, y := a.Data.Recipe, b.Data.Recipe; x != "" && y != "" && x != y {
		return &Error{b.Ref, fmt.Sprintf("its test rows are those of recipe %s, but %s has those of %s", y, a.Ref, x),
			"users are compared one by one: split and filters must be the same"}
	}
	if x, y := a.Data.Candidates, b.Data.Candidates; x != y && a.sampled() && b.sampled() {
		return &Error{b.Ref, fmt.Sprintf("its rows stand among %d sampled items, but those of %s among %d", y, a.Ref,
			x), "scores among sampled items are comparable at one number of items alone"}
	}
	brought := experiment.IsImported(a.Manifest.Task) && experiment.IsImported(b.Manifest.Task)
	for _, d := range a.Manifest.Data {
		for _, e := range b.Manifest.Data {
			if d.Name == e.Name && d.SHA256 != e.SHA256 {
				if brought && d.Name == experiment.ImportedRows { // its non-members and its order do not matter
					if err := sameCut(a, b); err != nil {
						return err
					}
					continue
				}
				return &Error{b.Ref, fmt.Sprintf("its input %s differs from that of %s", d.Name, a.Ref),
					"compare runs on the same files"}
			}
		}
	}
	if len(a.Users) != len(b.Users) {
		return &Error{b.Ref, fmt.Sprintf("it scored %d users, but %s scored %d", len(b.Users), a.Ref, len(a.Users)),
			"users are compared one by one: split and filters must be the same"}
	}
	known := make(map[string]bool, len(a.Users))
	for _, u := range a.Users {
		known[u] = true
	}
	for _, u := range b.Users {
		if !known[u] {
			return &Error{b.Ref, fmt.Sprintf("it scored user %q, but %s did not", u, a.Ref),
				"users are compared one by one: split and filters must be the same"}
		}
	}
	if (a.Weights == nil) != (b.Weights == nil) {
		return &Error{b.Ref, "one run counts users and the other samples", ""}
	}
	at := place(b.Users)
	for i, u := range a.Users {
		if a.Rows != nil && b.Rows != nil && a.Rows[i] != b.Rows[at[u]] {
			return &Error{b.Ref, fmt.Sprintf("user %q has %v test rows, but in %s %v", u, b.Rows[at[u]], a.Ref,
				a.Rows[i]), "users are compared one by one, by the same rows"}
		}
		if a.Weights != nil && a.Weights[i] != b.Weights[at[u]] {
			return &Error{b.Ref, fmt.Sprintf("user %q has %v samples, but in %s %v", u, b.Weights[at[u]], a.Ref,
				a.Weights[i]), "split and filters must be the same"}
		}
	}
	return nil
}

// sameCut returns an error for imported runs whose models were trained on different rows, or are measured by different
// rows.
func sameCut(a, b *Scores) error {
	for _, part := range []struct{ file, what string }{{"train", "was trained on other rows than"},
		{"truth", "is measured by other rows than"}} {
		var sums [2][sha256.Size]byte
		for k, s := range []*Scores{a, b} {
			text, err := experiment.ImportedPart(s.dir, part.file)
			if err != nil {
				return &Error{s.Ref, fmt.Sprintf("its imported rows cannot be read: %v", err), "import the model again"}
			}
			lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
			slices.Sort(lines)
			sums[k] = sha256.Sum256([]byte(strings.Join(lines, "\n")))
		}
		if sums[0] != sums[1] {
			return &Error{b.Ref, fmt.Sprintf("it %s %s", part.what, a.Ref), "compare runs on the same rows"}
		}
	}
	return nil
}

// sampled reports whether the scores are among sampled items.
func (s *Scores) sampled() bool {
	return slices.ContainsFunc(s.Metrics, func(name string) bool {
		m, err := metrics.Parse(name)
		return err == nil && m.Sampled()
	})
}

func place(users []string) map[string]int {
	at := make(map[string]int, len(users))
	for i, u := range users {
		at[u] = i
	}
	return at
}

// notes returns remarks on what the numbers do not show.
func notes(groups []Group) []string {
	var out []string
	seeds := func(g Group) string {
		var s []uint64
		for _, r := range g.Runs {
			s = append(s, r.Manifest.Seed)
		}
		slices.Sort(s)
		return fmt.Sprint(s)
	}
	for _, g := range groups[1:] {
		if seeds(g) != seeds(groups[0]) {
			out = append(out, fmt.Sprintf(
				"seeds of %s are %s, of %s %s: where the split is drawn from the seed, test rows differ too", g.Name,
				seeds(g), groups[0].Name, seeds(groups[0])))
		}
	}
	return append(out, "intervals and p values are over users, for these trainings; sd over runs shows what another "+
		"seed changes")
}

// mean returns the mean of a group's runs for each user, in the order of users.
func (r *Result) mean(g Group, metric string, users []string, weights []float64) ([]float64, error) {
	out := make([]float64, len(users))
	var totals []float64
	for _, s := range g.Runs {
		at := place(s.Users)
		sum, n := 0.0, 0.0
		for i, u := range users {
			x := s.Values[metric][at[u]]
			if math.IsNaN(x) || math.IsInf(x, 0) {
				return nil, fmt.Errorf("compare: %s: %s of user %q is %v", s.Ref, metric, u, x)
			}
			out[i] += x / float64(len(g.Runs))
			sum += weights[i] * x
			n += weights[i]
		}
		totals = append(totals, sum/n)
	}
	m := Mean{Group: g.Name, Metric: metric, Mean: stats.Mean(totals), Runs: len(totals), Users: len(users)}
	if len(totals) > 1 {
		sd := stats.SD(totals)
		m.SD = &sd
	}
	r.Means = append(r.Means, m)
	return out, nil
}

// difference returns the weighted mean of a-b with Student's interval and test. With weights, a user is a cluster of
// samples, and the variance is that of the ratio estimator (Cochran, Sampling Techniques, 3rd ed. 1977, section 2.11).
// With all weights 1 it is that of the paired t test. If all users differ by the same amount there is no variance to
// estimate, and it uses the sign test.
func difference(a, b, weights []float64) (Difference, error) {
	n := float64(len(a))
	total, mean := 0.0, 0.0
	for i := range a {
		total += weights[i]
		mean += weights[i] * (a[i] - b[i])
	}
	mean /= total
	e := make([]float64, len(a)) // their mean is mean, their spread that of the ratio
	for i := range a {
		e[i] = mean + weights[i]*(a[i]-b[i]-mean)*n/total
	}
	d := Difference{Mean: mean}
	none := make([]float64, len(e))
	test, err := stats.PairedT(e, none)
	switch {
	case len(e) < 2:
		return d, nil
	case errors.Is(err, stats.ErrNoDifference):
		test.P, err = 1, nil
	case errors.Is(err, stats.ErrNoSpread):
		test, err = stats.Sign(e, none)
	case err == nil:
		var i stats.Interval
		if i, err = stats.TInterval(e, Confidence); err == nil {
			d.Interval = &[2]float64{i.Lo, i.Hi}
		}
	}
	d.P = &test.P
	return d, err
}

// Document returns the result as tables, in percent.
func (r *Result) Document() *report.Document {
	means := &report.Table{Name: "means", Title: "Means, in percent",
		Columns: report.Columns("%.2f", "method", "metric", "mean", "sd over runs", "runs", "users")}
	for _, m := range r.Means {
		var sd any
		if m.SD != nil {
			sd = 100 * *m.SD
		}
		means.Add(m.Group, m.Metric, 100*m.Mean, sd, m.Runs, m.Users)
	}
	diffs := &report.Table{Name: "differences",
		Title:   "Differences from the first method, user by user, in percentage points",
		Columns: report.Columns("%+.2f", "method", "metric", "difference", "95 % from", "to", "p", "p, Holm")}
	diffs.Columns[5].Format, diffs.Columns[6].Format = "%.2g", "%.2g"
	for _, d := range r.Differences {
		var from, to, p, holm any
		if d.Interval != nil {
			from, to = 100*d.Interval[0], 100*d.Interval[1]
		}
		if d.P != nil {
			p, holm = *d.P, *d.Holm
		}
		diffs.Add(d.Group, d.Metric, 100*d.Mean, from, to, p, holm)
	}
	return &report.Document{Title: "Runs compared", Tables: []*report.Table{means, diffs}, Notes: r.Notes}
}

// Text writes the result as text.
func (r *Result) Text(w io.Writer) error { return r.Document().Text(w) }

// MarshalJSON writes the document, as every result does.
func (r *Result) MarshalJSON() ([]byte, error) { return r.Document().MarshalJSON() }

// JSONForms returns the types that MarshalJSON writes.
func (*Result) JSONForms() []any { return []any{&report.Document{}} }
