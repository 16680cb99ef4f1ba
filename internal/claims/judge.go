package claims

import (
	"fmt"
	"math"
	"strings"

	"privrec/internal/stats"
)

// test is a difference with its measurement on the way to a verdict.
type test struct {
	contrast
	measured
	alpha        float64 // that its p must reach
	above, below float64 // p corrected for the family
}

// sheet is a claim on its way: a part on a data set, with its tests.
type sheet struct {
	part  *Part
	on    *On
	tests []*test
}

// Judge returns the verdicts on claims, from the results of the grids that they are about. The
// correction is for all differences that the claims state.
func Judge(paper string, list []Claim, grids []*Grid) (*Result, error) {
	out := &Result{Paper: paper, Claims: make([]Judged, len(list))}
	var family []*test
	sheets := make([][]*sheet, len(list))
	for i := range list {
		c, j := &list[i], &out.Claims[i]
		j.ID, j.Text, j.Where = c.ID, c.Text, c.Where
		for k := range c.Parts {
			p := &c.Parts[k]
			for l := range p.Lines {
				g := p.grid(l, c, grids)
				if g == nil {
					return nil, fmt.Errorf("claim %s of %s: its grid is not there", c.ID, paper)
				}
				j.Grids = appendNew(j.Grids, g.Name)
			}
			if p.Says == "epsilon" {
				for _, on := range p.privacy(p.grid(0, c, grids), &j.Runs) {
					sheets[i] = append(sheets[i], &sheet{part: p, on: &on})
				}
				continue
			}
			for _, s := range p.statements(c, grids) {
				one, err := p.take(s)
				if err != nil {
					return nil, fmt.Errorf("claim %s of %s: %w", c.ID, paper, err)
				}
				sheets[i] = append(sheets[i], one)
				family = append(family, one.tests...)
			}
		}
	}
	if err := correct(family); err != nil {
		return nil, err
	}
	for _, t := range family {
		if t.basis != "" {
			out.Tested++
		}
	}
	out.Family = len(family)
	for i := range sheets {
		j := &out.Claims[i]
		for _, s := range sheets[i] {
			s.close(len(family), &j.Runs)
			j.Parts = append(j.Parts, *s.on)
		}
		j.close(list[i].Lacks)
		out.Count.add(j.Verdict)
	}
	return out, nil
}

// take measures what a part states on one data set.
func (p *Part) take(s stated) (*sheet, error) {
	out := &sheet{part: p, on: &On{Says: p.words(s.metric), Data: s.printed, decides: -1}}
	if s.why != nil {
		out.on.Verdict, out.on.Why = Untested, s.why.Error()
	}
	for _, c := range s.list {
		m, err := c.measure()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.name, err)
		}
		alpha := 1 - confidence
		if p.P > 0 {
			alpha = min(alpha, p.P)
		}
		out.tests = append(out.tests, &test{contrast: c, measured: m, alpha: alpha})
	}
	return out, nil
}

// correct corrects the p of a family by Holm's method, over both directions of every difference
// and the lower one of those that are not strict.
func correct(family []*test) error {
	var p []float64
	for _, t := range family {
		if t.strict {
			p = append(p, t.measured.above)
		}
		p = append(p, t.measured.below)
	}
	holm, err := stats.Holm(p)
	if err != nil {
		return err
	}
	for _, t := range family {
		if t.above = 1; t.strict {
			t.above, holm = holm[0], holm[1:]
		}
		t.below, holm = holm[0], holm[1:]
	}
	return nil
}

// judge returns the verdict on a difference of a family.
func (t *test) judge(family int) Comparison {
	c := Comparison{Name: t.name, Difference: number(t.mean), Users: pair(t.users), Seeds: pair(t.seeds),
		Trainings: t.trainings, Basis: t.basis}
	raw := min(1, 2*min(t.measured.above, t.measured.below))
	if t.basis != "" {
		c.P, c.Holm = number(raw), number(min(t.above, t.below))
	}
	switch {
	case t.lacks != "":
		c.Verdict, c.Why = Untested, t.lacks
	case t.below <= t.alpha && t.agrees(-1):
		c.Verdict = Fails
	case !t.strict:
		c.Verdict = Holds
	case t.above <= t.alpha && t.agrees(1):
		c.Verdict = Holds
	case 2*t.least > t.alpha:
		c.Verdict, c.Why = Undecided, fmt.Sprintf("too few seeds: no two-sided p of the exact test is below %.3g",
			2*t.least)
	case raw > t.alpha:
		c.Verdict, c.Why = Undecided, fmt.Sprintf("p %.2g", raw)
		if !math.IsNaN(t.users.Lo) && t.users.Lo <= 0 && t.users.Hi >= 0 {
			c.Why = "the interval contains 0"
		}
	case min(t.above, t.below) > t.alpha && t.least > 0 && float64(family)*t.least > t.alpha:
		c.Verdict, c.Why = Undecided, fmt.Sprintf("too few seeds for %d comparisons", family)
	case min(t.above, t.below) > t.alpha:
		c.Verdict, c.Why = Undecided, fmt.Sprintf("p %.2g, and %.2g when corrected for %d comparisons", raw,
			min(t.above, t.below), family)
	default:
		c.Verdict, c.Why = Undecided, "another seed may turn it: the interval over seeds contains 0"
	}
	return c
}

// close gives a part its verdict. runs gets the runs behind it.
func (s *sheet) close(family int, runs *[]string) {
	on := s.on
	count := map[Verdict]int{}
	for i, t := range s.tests {
		c := t.judge(family)
		on.Comparisons = append(on.Comparisons, c)
		on.Level = max(on.Level, t.level)
		for _, r := range t.runs {
			*runs = appendNew(*runs, r)
		}
		count[c.Verdict]++
		if d := on.decides; d < 0 || rank(c.Verdict) > rank(on.Comparisons[d].Verdict) ||
			c.Verdict == on.Comparisons[d].Verdict && t.strict && t.mean < s.tests[d].mean {
			on.decides = i
		}
	}
	n := len(s.tests)
	switch {
	case on.Verdict != "":
		return
	case s.part.Most && 2*count[Holds] > n:
		on.Verdict = Holds
	case s.part.Most && 2*count[Fails] >= n, !s.part.Most && count[Fails] > 0:
		on.Verdict = Fails
	case count[Untested] > 0:
		on.Verdict = Untested
	case count[Undecided] > 0 || s.part.Most:
		on.Verdict = Undecided
	default:
		on.Verdict = Holds
	}
	if s.part.Most {
		on.Why = fmt.Sprintf("%d of %d hold, %d do not", count[Holds], n, count[Fails])
	}
	if on.decides >= 0 && on.Why == "" {
		on.Why = on.Comparisons[on.decides].sentence()
	}
}

// sentence writes the difference with its interval and p.
func (c *Comparison) sentence() string {
	if c.Verdict == Untested {
		return c.Why
	}
	text := c.Name + ": "
	if c.Difference != nil {
		text += signed(*c.Difference)
	}
	if c.Users != nil {
		text += fmt.Sprintf(" (%s to %s over users, %s)", signed(c.Users[0]), signed(c.Users[1]), c.trainings())
	} else if c.Seeds != nil {
		text += fmt.Sprintf(" (%s to %s over seeds)", signed(c.Seeds[0]), signed(c.Seeds[1]))
	}
	if c.Why != "" {
		return text + ", " + c.Why
	}
	if c.Holm != nil {
		text += ", corrected p " + small(*c.Holm)
	}
	return text
}

// trainings writes how many seeds a difference is of.
func (c *Comparison) trainings() string {
	if c.Trainings == 1 {
		return "1 seed"
	}
	return fmt.Sprintf("%d seeds", c.Trainings)
}

// small writes a p. The tail of Student's law is not exact to more than this.
func small(p float64) string {
	if p < 1e-12 {
		return "< 1e-12"
	}
	return fmt.Sprintf("%.2g", p)
}

// close gives a claim its verdict: it fails with one part, and holds with all.
func (j *Judged) close(lacks string) {
	if len(j.Parts) == 0 {
		j.Verdict, j.Why = Untested, lacks
		return
	}
	count := map[Verdict]int{}
	of := map[Verdict][]string{} // data sets
	for _, p := range j.Parts {
		count[p.Verdict]++
		j.Level = max(j.Level, p.Level)
		of[p.Verdict] = appendNew(of[p.Verdict], p.Data)
	}
	j.Verdict = Undecided
	switch {
	case count[Fails] > 0:
		j.Verdict = Fails
	case count[Untested] == len(j.Parts):
		j.Verdict = Untested
	case count[Holds] == len(j.Parts):
		j.Verdict = Holds
	}
	var shown *On
	for k := range j.Parts {
		p := &j.Parts[k]
		want := j.Verdict
		if want == Undecided && count[Undecided] == 0 {
			want = Untested
		}
		if p.Verdict == want && (shown == nil || want == Holds && p.margin() < shown.margin()) {
			shown = p
		}
	}
	j.Why = shown.Data + ": " + shown.Why
	if j.Verdict != Untested && count[Untested] > 0 {
		j.Why += fmt.Sprintf("; %d of %d parts are not tested", count[Untested], len(j.Parts))
	}
	if j.Verdict == Undecided && count[Undecided] == 0 {
		j.Why = fmt.Sprintf("%d of %d parts are tested and hold, on %s; of the others: %s", count[Holds], len(j.Parts),
			strings.Join(of[Holds], ", "), shown.Why)
	}
}

// margin returns the deciding difference of a part, infinity where none decides.
func (o *On) margin() float64 {
	if o.decides < 0 || o.Comparisons[o.decides].Difference == nil {
		return math.Inf(1)
	}
	return *o.Comparisons[o.decides].Difference
}

// add counts a verdict.
func (c *Count) add(v Verdict) {
	c.Claims++
	switch v {
	case Holds:
		c.Hold++
	case Fails:
		c.Fail++
	case Undecided:
		c.Undecided++
	default:
		c.Untested++
	}
}

func pair(i stats.Interval) *[2]float64 {
	if math.IsNaN(i.Lo) {
		return nil
	}
	return &[2]float64{i.Lo, i.Hi}
}

// signed writes a difference with two decimals and its sign.
func signed(x float64) string {
	text := fmt.Sprintf("%+.2f", x)
	if strings.Trim(text, "+-0.") == "" {
		return "0.00"
	}
	return text
}
