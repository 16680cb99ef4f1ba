package rdpgcf

import (
	"fmt"
	"math"
	"strings"

	"privrec/internal/privacy"
	"privrec/internal/report"
)

// line is one line of an account in words, under a head or under the line before it.
type line struct{ head, text string }

// Lines returns the account in words, never the claim alone.
func (a *Account) Lines() []string {
	var lines []string
	for _, l := range a.lines() {
		head := ""
		if l.head != "" {
			head = l.head + ":"
		}
		lines = append(lines, fmt.Sprintf("%-10s %s", head, l.text))
	}
	if len(a.Public) > 0 {
		lines = append(lines, "public:    "+a.PublicText())
	}
	return lines
}

// lines returns claim and account in words.
func (a *Account) lines() []line {
	var lines []line
	switch c := a.Claimed; {
	case c == nil:
		lines = append(lines, line{"claimed", "nothing"})
	default:
		text := fmt.Sprintf("eps=%.3f delta=%g  (%s", float64(c.Eps), c.Delta, c.Theorem)
		if c.PerStep > 0 {
			per := fmt.Sprintf("L=%d", c.PerStep)
			switch c.Count {
			case CountViews:
				per = fmt.Sprintf("%d releases", c.PerStep)
			case CountStep:
				per = "1 release"
			}
			text += fmt.Sprintf(", %s per step, sensitivity %.4g, %d epochs, sigma=%.4g", per, c.Sensitivity, c.Epochs,
				a.Sigma)
		}
		lines = append(lines, line{"claimed", text + ")"})
	}
	head := "accounted"
	say := func(format string, args ...any) {
		lines = append(lines, line{head, fmt.Sprintf(format, args...)})
		head = ""
	}
	for _, p := range a.Components {
		how := "no sampling amplification, both views"
		switch {
		case p.Rate < 1:
			how = fmt.Sprintf("each edge in a release with probability %.4g", p.Rate)
		case a.Method != MethodLayers:
			how = "all edges"
		}
		mu := ""
		if p.Mu > 0 {
			mu = fmt.Sprintf(" (mu=%.1f)", float64(p.Mu))
			if p.Mu < 10 {
				mu = fmt.Sprintf(" (mu=%.4f)", float64(p.Mu))
			}
		}
		say("%s, %s: eps=%s%s", p.Name, how, short(p.Eps), mu)
	}
	if len(a.Unbounded) > 0 {
		say("%s: eps=infinity  (not noised)", strings.Join(a.names(), " / "))
	}
	say("total: eps=%s", short(a.Total))
	return lines
}

// short returns a number with four significant digits, or infinity.
func short(n privacy.Number) string {
	if math.IsInf(float64(n), 1) {
		return "infinity"
	}
	return fmt.Sprintf("%.4g", float64(n))
}

func (a *Account) names() []string {
	names := make([]string, len(a.Unbounded))
	for i, o := range a.Unbounded {
		names[i] = strings.ReplaceAll(o.What, "_", " ")
	}
	return names
}

// Show adds claim and account to a result.
func (a *Account) Show(d *report.Document) {
	said := a.Account
	if a.Claimed != nil {
		said.Claimed = &a.Claimed.Claim
	}
	d.Conclusion = said.Conclusion()
	if c := a.Claimed; c != nil {
		d.Facts = append(d.Facts, report.Fact{Label: "claimed epsilon", Value: short(c.Eps),
			Note: fmt.Sprintf("%s, at delta %g", c.Theorem, c.Delta)})
	}
	note := "every edge, over all releases of the run"
	if len(a.Unbounded) > 0 {
		note = "without bound: " + strings.Join(a.names(), ", ")
	}
	d.Facts = append(d.Facts, report.Fact{Label: "accounted epsilon", Value: short(a.Total), Note: note})
	words := &report.Table{Name: "account",
		Title:   "What is claimed, and what the run comes to, for one edge more or less",
		Columns: []report.Column{{Name: "which"}, {Name: "epsilon, and of what"}}}
	for _, l := range a.lines() {
		words.Add(l.head, l.text)
	}
	d.Tables = append(d.Tables, words)
	if len(a.Components) > 0 {
		t := &report.Table{Name: "privacy",
			Title: fmt.Sprintf("What noise covers, for one edge more or less (delta %g)", a.Delta),
			Columns: []report.Column{{Name: "component"}, {Name: "releases", Format: "%.0f"},
				{Name: "sensitivity", Format: "%.4g"},
				{Name: "noise std", Format: "%.4g"}, {Name: "sampled", Format: "%.4g"},
				{Name: "epsilon", Format: "%.4g"}}}
		for _, p := range a.Components {
			t.Add(p.Name, float64(p.Releases), p.Sensitivity, p.Std, p.Rate, float64(p.Eps))
		}
		t.Add("all of it", report.Missing, report.Missing, report.Missing, report.Missing, float64(a.Covered))
		d.Tables = append(d.Tables, t)
	}
	if len(a.Readings) > 0 {
		t := &report.Table{Name: "readings",
			Title: "What the noise would be worth by each way of counting the whole training",
			Columns: []report.Column{{Name: "accounting"}, {Name: "count"}, {Name: "releases", Format: "%.0f"},
				{Name: "epsilon", Format: "%.4g"}, {Name: "holds for the forward releases"}}}
		for _, r := range a.Readings {
			t.Add(r.Accounting, r.Count, float64(r.Releases), float64(r.Eps),
				map[bool]string{true: "yes", false: "no"}[r.Sound])
		}
		d.Tables = append(d.Tables, t)
	}
	if len(a.Published) > 0 {
		d.Notes = append(d.Notes,
			fmt.Sprintf("what may leave the house: %v; all other files of the run directory depend on edges in the "+
				"clear", a.Published))
	}
	if len(a.Public) > 0 {
		d.Notes = append(d.Notes, "taken as public: "+a.PublicText())
	}
	for _, o := range a.Unbounded {
		d.Notes = append(d.Notes, strings.ReplaceAll(o.What, "_", " ")+": "+o.Why)
	}
}
