package serve

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"privrec/internal/compare"
	"privrec/internal/experiment"
	"privrec/internal/report"
	"privrec/internal/run"
)

// maxCompared is the largest number of runs side by side.
const maxCompared = 8

// compare returns the page that shows runs side by side.
func (h *handler) compare(v url.Values) (*report.Sheet, error) {
	if err := known(v, "run"); err != nil {
		return nil, asked("%s", err)
	}
	refs := v["run"]
	if len(refs) < 2 || len(refs) > maxCompared {
		return nil, asked("%s to compare: choose 2 to %d in the list", plural(len(refs), "run"), maxCompared)
	}
	all, err := h.scan()
	if err != nil {
		return nil, err
	}
	var runs []*Run
	for _, ref := range refs {
		r, err := all.named(ref)
		if err != nil {
			return nil, err
		}
		if slices.Contains(runs, r) {
			return nil, asked("run %q is chosen twice", r.Name)
		}
		runs = append(runs, r)
	}
	test := h.test(runs)
	p := h.begin("Runs compared", "")
	p.Put("<header><div>\n<h1>%s side by side</h1>\n</div></header>\n<p class=\"conclusion\">%s</p>\n",
		plural(len(runs), "run"), test.sentence())
	h.putColumns(p, runs)
	test.put(p)
	h.putDifferences(p, runs)
	p.Put("<h2>Privacy</h2>\n<div class=\"sides\">\n")
	for i, r := range runs {
		p.Put("<section><h3>%v. <bdi>%s</bdi></h3>\n", i+1, r.Title())
		if r.Account == nil {
			p.Put("<p>It wrote no account.</p>\n")
		} else {
			putPrivacy(p, r.Account)
		}
		p.Put("</section>\n")
	}
	p.Put("</div>\n")
	end(p)
	return p, nil
}

// putColumns writes descriptions and results of runs, one column a run.
func (h *handler) putColumns(p *report.Sheet, runs []*Run) {
	p.Put("<h2>What they are, and results in percent</h2>\n")
	putSides(p, "results", runs)
	row := func(label string, cell func(r *Run)) {
		p.Put("<tr><th scope=\"row\">%s</th>", label)
		for _, r := range runs {
			p.Put("<td>")
			cell(r)
			p.Put("</td>")
		}
		p.Put("</tr>\n")
	}
	for _, c := range columns {
		if c.name != "name" && c.name != "metric" && c.name != "floor" {
			row(c.head, func(r *Run) { c.cell(p, query{}, r) })
		}
	}
	var metrics []string
	for _, r := range runs {
		for _, m := range r.Metrics {
			if !slices.Contains(metrics, m) {
				metrics = append(metrics, m)
			}
		}
	}
	for _, m := range metrics {
		row(m, func(r *Run) {
			if len(r.Scores) == 0 {
				p.Put("–")
				return
			}
			p.Put("<b>")
			putScore(p, experiment.Scores{Values: r.Scores[0].Values}, m)
			p.Put("</b>")
			if i, ok := r.Scores[0].Intervals[m]; ok {
				p.Put("<small>%s to %s</small>", percent(i[0]), percent(i[1]))
			}
			if v := r.value(m); v.Floor == v.Floor {
				p.Put("<small>floor %s, %s</small>", percent(v.Floor), v.FloorName)
			}
		})
	}
	p.Put("</tbody></table></div>\n<p class=\"note\">Of each run its first row of results; a run's own page has " +
		"all.</p>\n")
}

// putSides begins a table with a column for each run.
func putSides(p *report.Sheet, label string, runs []*Run) {
	p.Put("<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"%s\"><table "+
		"class=\"sidebyside\"><thead><tr><td></td>", label)
	for i, r := range runs {
		p.Put("<th scope=\"col\">%v. <a href=\"%s\"><bdi>%s</bdi></a><small class=\"where\"><bdi>%s</bdi></small></th>",
			i+1, runLink(r.Name), r.Title(), r.Name)
	}
	p.Put("</tr></thead>\n<tbody>\n")
}

// notResults lists keys that do not affect results.
var notResults = []string{"run.out", "run.workers", "run.save_seconds", "run.save_steps", "run.ledger_key"}

// putDifferences writes the keys in which configurations differ.
func (h *handler) putDifferences(p *report.Sheet, runs []*Run) {
	var keys []string
	all := make([]map[string]string, len(runs))
	for i, r := range runs {
		all[i] = map[string]string{}
		for _, s := range h.settings(r) {
			all[i][s.Key] = s.Value
			if !slices.Contains(keys, s.Key) && !slices.Contains(notResults, s.Key) {
				keys = append(keys, s.Key)
			}
		}
	}
	keys = slices.DeleteFunc(keys, func(k string) bool {
		return !slices.ContainsFunc(all, func(m map[string]string) bool {
			a, had := all[0][k]
			b, has := m[k]
			return a != b || had != has
		})
	})
	p.Put("<h2>Where the configurations differ</h2>\n")
	if len(keys) == 0 {
		p.Put("<p>In nothing that a result depends on.</p>\n")
		return
	}
	putSides(p, "differences of the configurations", runs)
	for _, k := range keys {
		p.Put("<tr><th scope=\"row\">%s</th>", k)
		for i := range runs {
			if x, ok := all[i][k]; ok {
				p.Put("<td class=\"wrap\">%s</td>", x)
			} else {
				p.Put("<td class=\"absent\">not there</td>")
			}
		}
		p.Put("</tr>\n")
	}
	p.Put("</tbody></table></div>\n")
}

// tested holds the result of a paired test of runs, and the reason why other runs are not tested.
type tested struct {
	result *compare.Result
	tables []string // which scores of a run were taken, where it keeps several
	why    []string
}

// test compares every run with the first, user by user, if they keep scores of the same users.
func (h *handler) test(runs []*Run) *tested {
	t := new(tested)
	var groups []compare.Group
	for i, r := range runs {
		label := fmt.Sprintf("%d. %s", i+1, r.Title())
		s, table, err := h.scores(r)
		if err == nil && len(groups) > 0 {
			_, err = compare.Compare([]compare.Group{groups[0], {Name: label, Runs: []*compare.Scores{s}}})
		}
		if err != nil {
			t.why = append(t.why, label+": "+h.reason(err))
			if i == 0 {
				return t
			}
			continue
		}
		if table != "" {
			t.tables = append(t.tables, fmt.Sprintf("Of %s the scores %q are taken.", label, table))
		}
		groups = append(groups, compare.Group{Name: label, Runs: []*compare.Scores{s}})
	}
	if len(groups) < 2 {
		return t
	}
	var err error
	if t.result, err = compare.Compare(groups); err != nil {
		t.why = append(t.why, h.reason(err))
	}
	return t
}

// reason returns an error as text, with the names that runs have here.
func (h *handler) reason(err error) string {
	text := err.Error()
	if e := (*compare.Error)(nil); errors.As(err, &e) {
		text = e.Why
	}
	return strings.ReplaceAll(text, h.path+string(filepath.Separator), "")
}

// scores reads a run's scores of its users: of its first result, if it keeps several tables. name is that table.
func (h *handler) scores(r *Run) (s *compare.Scores, name string, err error) {
	if r.State != run.StatusDone {
		return nil, "", errors.New("it is " + r.State + ", not done")
	}
	entries, err := fs.ReadDir(h.root.FS(), r.Name)
	if err != nil {
		return nil, "", err
	}
	var tables []string
	for _, e := range entries {
		own, ok := strings.CutPrefix(e.Name(), "scores")
		if own, ends := strings.CutSuffix(own, ".tsv.gz"); ok && ends {
			if !e.Type().IsRegular() {
				return nil, "", fmt.Errorf("%s %w", e.Name(), errLink)
			}
			tables = append(tables, strings.TrimPrefix(own, "-"))
		}
	}
	ref := h.dir(r.Name)
	if len(tables) > 1 {
		name = tables[0]
		for _, t := range tables {
			if release := r.Scores[:min(1, len(r.Scores))]; len(release) > 0 && release[0].Release != "" &&
				strings.HasSuffix("-"+t, "-"+release[0].Release) {
				name = t
			}
		}
		ref += ":" + name
	}
	s, err = compare.ReadScores(ref)
	return s, name, err
}

// sentence returns the result of the test for the first metric.
func (t *tested) sentence() string {
	if t.result == nil {
		if len(t.why) == 0 {
			return "They cannot be tested against each other."
		}
		return "They cannot be tested user by user: " + strings.Join(t.why, "; ") + "."
	}
	var parts []string
	metric := t.result.Differences[0].Metric
	for _, d := range t.result.Differences {
		if d.Metric != metric {
			continue
		}
		switch {
		case d.Holm == nil:
			parts = append(parts, fmt.Sprintf("%s cannot be tested against the first, with one user", d.Group))
		case *d.Holm >= 0.05:
			parts = append(parts, fmt.Sprintf("%s does not differ from the first by more than chance (p %.2g)", d.Group,
				*d.Holm))
		case d.Mean > 0:
			parts = append(parts, fmt.Sprintf("%s is better by %s points (p %.2g)", d.Group, percent(d.Mean), *d.Holm))
		default:
			parts = append(parts, fmt.Sprintf("%s is worse by %s points (p %.2g)", d.Group, percent(-d.Mean), *d.Holm))
		}
	}
	return fmt.Sprintf("In %s, user by user: %s.", metric, strings.Join(parts, "; "))
}

// put writes the test as a table.
func (t *tested) put(p *report.Sheet) {
	p.Put("<h2>Paired test, against the first run</h2>\n")
	if t.result != nil {
		p.Put("<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"paired test\"><table><thead><tr><th " +
			"scope=\"col\">run</th><th scope=\"col\">metric</th><th scope=\"col\" class=\"r\">difference, " +
			"points</th><th scope=\"col\" class=\"r\">95 %% from</th><th scope=\"col\" class=\"r\">to</th><th " +
			"scope=\"col\" class=\"r\">p</th><th scope=\"col\" class=\"r\">p, Holm</th></tr></thead>\n<tbody>\n")
		for _, d := range t.result.Differences {
			from, to, chance, holm := "-", "-", "-", "-"
			if d.Interval != nil {
				from, to = signed(d.Interval[0]), signed(d.Interval[1])
			}
			if d.P != nil {
				chance, holm = fmt.Sprintf("%.2g", *d.P), fmt.Sprintf("%.2g", *d.Holm)
			}
			p.Put("<tr><th scope=\"row\"><bdi>%s</bdi></th><td>%s</td><td class=\"r\">%s</td><td "+
				"class=\"r\">%s</td><td class=\"r\">%s</td><td class=\"r\">%s</td><td class=\"r\">%s</td></tr>\n",
				d.Group, d.Metric, signed(d.Mean), from, to, chance, holm)
		}
		p.Put("</tbody></table></div>\n")
		for _, n := range t.result.Notes {
			p.Put("<p class=\"note\">%s</p>\n", n)
		}
	}
	for _, w := range t.why {
		p.Put("<p class=\"note\">Not tested: %s.</p>\n", w)
	}
	for _, n := range t.tables {
		p.Put("<p class=\"note\">%s</p>\n", n)
	}
}

func signed(x float64) string { return fmt.Sprintf("%+.2f", 100*x) }
