package serve

import (
	"fmt"
	"net/url"
	"path"

	"privrec/internal/config"
	"privrec/internal/experiment"
	"privrec/internal/report"
)

// run returns the page of one run.
func (h *handler) run(v url.Values) (*report.Sheet, error) {
	if err := known(v, "name"); err != nil {
		return nil, asked("%s", err)
	}
	if len(v["name"]) != 1 {
		return nil, asked("name is given %d times, want it once", len(v["name"]))
	}
	all, err := h.scan()
	if err != nil {
		return nil, err
	}
	r, err := all.named(v.Get("name"))
	if err != nil {
		return nil, err
	}
	p := h.begin(r.Title(), "")
	putHead(p, r)
	if r.Account != nil {
		p.Put("<h2>Privacy</h2>\n")
		putPrivacy(p, r.Account)
	}
	if len(r.Scores) > 0 {
		p.Put("<h2>Results, in percent</h2>\n")
		putResults(p, r)
	}
	if err := h.putCurves(p, r); err != nil {
		return nil, err
	}
	if settings := h.settings(r); len(settings) > 0 {
		p.Put("<h2>Configuration</h2>\n<details><summary>%s</summary>\n<div class=\"scroll\" tabindex=\"0\" "+
			"role=\"region\" aria-label=\"configuration\"><table><thead><tr><th scope=\"col\">key</th><th "+
			"scope=\"col\">value</th></tr></thead>\n<tbody>\n", plural(len(settings), "key"))
		for _, s := range settings {
			p.Put("<tr><th scope=\"row\">%s</th><td class=\"wrap\">%s</td></tr>\n", s.Key, s.Value)
		}
		p.Put("</tbody></table></div></details>\n")
	}
	p.Put("<h2>Files</h2>\n<ul class=\"own\">\n")
	for _, f := range ownFiles {
		if _, ok := h.regular(path.Join(r.Name, f)); ok {
			p.Put("<li><a href=\"%s\">%s</a></li>\n", fileLink(path.Join(r.Name, f)), f)
		}
	}
	p.Put("</ul>\n")
	end(p)
	return p, nil
}

// putHead writes the description of a run, after a sentence on its result.
func putHead(p *report.Sheet, r *Run) {
	p.Put("<header><div>\n<h1><bdi>%s</bdi></h1>\n<p class=\"sub\"><bdi>%s</bdi></p>\n</div>\n", r.Title(), r.Name)
	if r.Level != 0 {
		p.Put("<div class=\"stamp %s\"><b>Evidence level %s</b>%s</div>\n", r.Level, r.Level, r.Level.Meaning())
	}
	p.Put("</header>\n<p class=\"conclusion\">%s</p>\n<dl>\n", verdict(r))
	fact := func(label, value, note string) {
		if value != "" {
			p.Put("<div><dt>%s</dt><dd>%s<small>%s</small></dd></div>\n", label, value, note)
		}
	}
	fact("task", r.Task, r.Setting)
	fact("data", r.Data, r.Recipe)
	fact("state", r.State, short(r.Problem))
	if !r.Started.IsZero() {
		fact("time", span(r.Seconds), "begun "+r.Started.UTC().Format("2006-01-02 15:04 UTC"))
	}
	if r.Task != "" {
		fact("seed", fmt.Sprint(r.Seed), "")
	}
	p.Put("</dl>\n")
}

// verdict returns one sentence on how well a run's model does, and how much of its claim the run supports.
func verdict(r *Run) string {
	return sentence(experiment.Conclude(r.Task, r.value("").Metric, r.Scores, r.Floors, r.Account))
}

// putResults writes every row of a run with its intervals, after its floors.
func putResults(p *report.Sheet, r *Run) {
	p.Put("<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"results\"><table><thead><tr><th " +
		"scope=\"col\">row</th>")
	for _, m := range r.Metrics {
		p.Put("<th scope=\"col\" class=\"r\" title=\"%s\">%s</th>", r.Definitions[m], m)
	}
	p.Put("</tr></thead>\n<tbody>\n")
	row := func(s experiment.Scores, class report.Markup, label string) {
		p.Put("<tr%s><th scope=\"row\">%s</th>", class, label)
		for _, m := range r.Metrics {
			p.Put("<td class=\"r\">")
			putScore(p, s, m)
			p.Put("</td>")
		}
		p.Put("</tr>\n")
	}
	for _, f := range r.Floors {
		row(f, ` class="floor"`, f.Name+" (floor)")
	}
	for _, s := range r.Scores {
		row(s, "", s.Name)
	}
	p.Put("</tbody></table></div>\n")
	if r.Short != "" {
		p.Put("<p class=\"note\">%s</p>\n", sentence(r.Short))
	}
}

// putScore writes one value with its interval.
func putScore(p *report.Sheet, s experiment.Scores, metric string) {
	x, ok := s.Values[metric]
	if !ok {
		p.Put("–")
		return
	}
	p.Put("%s", percent(x))
	if i, ok := s.Intervals[metric]; ok {
		p.Put("<small>%s to %s</small>", percent(i[0]), percent(i[1]))
	}
}

// putCurves draws the loss of every epoch, and the scores of ranked epochs.
func (h *handler) putCurves(p *report.Sheet, r *Run) error {
	if len(r.Scores) == 0 {
		return nil
	}
	o, err := experiment.ReadOutcome(h.dir(r.Name))
	if err != nil || len(o.Chose()) < 2 {
		return nil // it was read a moment ago: the run is being written
	}
	for _, f := range experiment.Curves(o.Method, "loss", o.Chose()) {
		c := report.Chart{Title: f.Title, Strips: []report.Strip{{Panels: []report.Panel{{X: f.X, Y: f.Y}}}}}
		for _, l := range f.Lines {
			c.Strips[0].Panels[0].Curves = append(c.Strips[0].Panels[0].Curves,
				report.Curve{Name: l.Name, X: l.X, Y: l.Y})
		}
		if err := p.Chart(c); err != nil {
			return err
		}
	}
	return nil
}

// settings returns the configuration of a run; nil if it cannot be read.
func (h *handler) settings(r *Run) []config.Setting {
	b, err := h.root.ReadFile(path.Join(r.Name, "config.yaml"))
	if err != nil {
		return nil
	}
	s, err := config.Settings("config.yaml", b)
	if err != nil {
		return nil
	}
	return s
}
