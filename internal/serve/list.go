package serve

import (
	"cmp"
	"fmt"
	"maps"
	"net/url"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"privrec/internal/report"
	"privrec/internal/run"
)

// maxRows is the largest number of runs in a list.
const maxRows = 2000

// list returns the page of all runs.
func (h *handler) list(v url.Values) (*report.Sheet, error) {
	q, err := parseQuery(v)
	if err != nil {
		return nil, asked("%s", err)
	}
	all, err := h.scan()
	if err != nil {
		return nil, err
	}
	runs := q.choose(all.Runs)
	p := h.begin("Runs in "+filepath.Base(h.path), "/")
	p.Put("<header><div>\n<h1>Runs in <bdi>%s</bdi></h1>\n</div></header>\n<p class=\"conclusion\">%s</p>\n",
		filepath.Base(h.path), conclusion(all.Runs))
	if all.Cut {
		p.Put("<p class=\"note\">The folder is larger than is looked at (%v folders, %v deep): some runs may be "+
			"missing. Serve a folder nearer to them.</p>\n", maxFolders, maxDepth)
	}
	putPages(p, all.Pages)
	putFilter(p, q, all.Runs)
	if len(runs) == 0 {
		p.Put("<p>No run fits. <a href=\"/\">Show all</a>.</p>\n")
		end(p)
		return p, nil
	}
	shown := runs[:min(len(runs), maxRows)]
	p.Put("<form action=\"/compare\" method=\"get\" id=\"choose\">\n<div class=\"tools\"><button "+
		"data-most=\"%v\">Compare the chosen runs</button> <span class=\"note\" id=\"chosen\" role=\"status\">Choose "+
		"two to %v.</span> <span class=\"note count\" id=\"count\" role=\"status\">%s</span></div>\n",
		maxCompared, maxCompared, shownText(len(shown), len(runs), len(all.Runs)))
	h.putTable(p, q, shown)
	p.Put("</form>\n<p class=\"note\">The metric is the first of the run's first result, unless one is chosen above; "+
		"the floor is the highest of what needs no model, under the same protocol. Accounted ε is for the unit of "+
		"the claim, and below it for the worst unit where that is another. The same list as data: <a "+
		"href=\"/api/runs.json%s\">runs.json</a>.</p>\n",
		strings.TrimPrefix(q.link(), "/"))
	p.Put("<script>%s</script>\n", report.Markup(script))
	end(p)
	return p, nil
}

func shownText(shown, chosen, all int) string {
	text := fmt.Sprintf("%d of %d runs.", chosen, all)
	if shown < chosen {
		text += fmt.Sprintf(" The first %d are shown.", shown)
	}
	return text
}

// conclusion returns sentences about the content of the folder.
func conclusion(runs []*Run) string {
	if len(runs) == 0 {
		return "There is no run below this folder. A run is a folder with a manifest.json, as privrec train writes it."
	}
	count := map[string]int{}
	claims, hold, unbounded, below, measured := 0, 0, 0, 0, 0
	for _, r := range runs {
		count[r.State]++
		if v := r.value(""); v.Value == v.Value && v.Floor == v.Floor {
			measured++
			if v.Below() {
				below++
			}
		}
		e := r.epsilons()
		if e == nil || e.Claimed == nil {
			continue
		}
		claims++
		switch {
		case e.Holds():
			hold++
		case epsilon(float64(e.Accounted)) == "∞":
			unbounded++
		}
	}
	var by []string
	for _, s := range states {
		if count[s] > 0 {
			by = append(by, fmt.Sprintf("%d %s", count[s], s))
		}
	}
	text := fmt.Sprintf("%s: %s.", plural(len(runs), "run"), strings.Join(by, ", "))
	if count[run.StatusDone] == len(runs) {
		text = fmt.Sprintf("%s, all done.", plural(len(runs), "run"))
	}
	if claims > 0 {
		text += fmt.Sprintf(" %s an epsilon: %d hold it, %d come to more and %d give no guarantee at all.",
			map[bool]string{true: "1 claims", false: fmt.Sprintf("%d claim", claims)}[claims == 1], hold,
			claims-hold-unbounded, unbounded)
	}
	if below > 0 {
		text += fmt.Sprintf(" %d of %d measured runs are not above their floor.", below, measured)
	}
	return text
}

func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}

// putPages writes links to the pages of reports.
func putPages(p *report.Sheet, pages []string) {
	if len(pages) == 0 {
		return
	}
	// The overview of a folder stands before its other pages.
	pages = slices.Clone(pages)
	slices.SortStableFunc(pages, func(a, b string) int {
		first := func(s string) int { return map[bool]int{true: 0, false: 1}[path.Base(s) == "index.html"] }
		return cmp.Or(strings.Compare(path.Dir(a), path.Dir(b)), first(a)-first(b))
	})
	p.Put("<details class=\"pages\"%s><summary>Reports (%v)</summary>\n<ul>\n",
		report.Markup(map[bool]string{true: " open", false: ""}[len(pages) <= 12]), len(pages))
	for _, name := range pages {
		p.Put("<li><a href=\"%s\"><bdi>%s</bdi></a></li>\n", fileLink(name), name)
	}
	p.Put("</ul></details>\n")
}

// putFilter writes the form that filters and sorts.
func putFilter(p *report.Sheet, q query, all []*Run) {
	words := func(of func(*Run) []string) []string {
		seen := map[string]bool{}
		for _, r := range all {
			for _, w := range of(r) {
				if w != "" {
					seen[w] = true
				}
			}
		}
		return slices.SortedFunc(maps.Keys(seen), report.Natural)
	}
	p.Put("<form class=\"filter\" action=\"/\" method=\"get\" role=\"search\">\n<label>words<input type=\"search\" "+
		"name=\"q\" id=\"q\" value=\"%s\" maxlength=\"%v\"></label>\n", q.Text, maxText)
	putSelect(p, "task", "task", q.Task, "all", pairs(words(func(r *Run) []string { return []string{r.Task} })))
	putSelect(p, "data", "data", q.Data, "all", pairs(words(func(r *Run) []string { return []string{r.Data} })))
	putSelect(p, "level", "level", q.Level, "all",
		pairs(words(func(r *Run) []string { return []string{level(r.Level)} })))
	putSelect(p, "state", "state", q.State, "all", pairs(words(func(r *Run) []string { return []string{r.State} })))
	putSelect(p, "privacy", "privacy", q.Private, "all", [][2]string{
		{privateClaim, "claims an ε"}, {privateHolds, "holds its claim"}, {privateNot, "exceeds its claim"},
		{privateNone, "claims none"},
	})
	putSelect(p, "metric", "metric", q.Metric, "first of each run",
		pairs(words(func(r *Run) []string { return r.Metrics })))
	var orders [][2]string
	for _, c := range columns {
		orders = append(orders, [2]string{c.name, c.head}, [2]string{"-" + c.name, c.head + ", falling"})
	}
	putSelect(p, "sort", "sorted by", q.Sort, "folder", orders)
	p.Put("<div class=\"buttons\"><button>Show</button> <a href=\"/\">Reset</a></div>\n</form>\n")
}

func putSelect(p *report.Sheet, name, label, chosen, none string, options [][2]string) {
	p.Put("<label>%s<select name=\"%s\"><option value=\"\">%s</option>", label, name, none)
	for _, o := range options {
		mark := report.Markup("")
		if o[0] == chosen {
			mark = " selected"
		}
		p.Put("<option value=\"%s\"%s>%s</option>", o[0], mark, o[1])
	}
	p.Put("</select></label>\n")
}

// putTable writes the table of runs. Its cells carry their labels, because a narrow screen shows them as cards.
func (h *handler) putTable(p *report.Sheet, q query, runs []*Run) {
	p.Put("<table class=\"runs\" role=\"table\" aria-label=\"runs\">\n<thead role=\"rowgroup\"><tr role=\"row\"><th " +
		"role=\"columnheader\" scope=\"col\"><span class=\"hidden\">choose</span></th>")
	for _, c := range columns {
		to, sorted, arrow := q, report.Markup(""), ""
		to.Sort = c.name
		switch q.Sort {
		case c.name:
			to.Sort, sorted, arrow = "-"+c.name, ` aria-sort="ascending"`, " ▲"
		case "-" + c.name:
			sorted, arrow = ` aria-sort="descending"`, " ▼"
		}
		p.Put("<th role=\"columnheader\" scope=\"col\"%s%s><a href=\"%s\">%s</a>%s</th>", right(c), sorted, to.link(),
			c.head, arrow)
	}
	p.Put("</tr></thead>\n<tbody role=\"rowgroup\">\n")
	for _, r := range runs {
		p.Put("<tr role=\"row\"><td role=\"cell\" class=\"pick\"><input type=\"checkbox\" name=\"run\" value=\"%s\" "+
			"aria-label=\"choose %s\"></td>", ref(r.Name), r.Name)
		for _, c := range columns {
			p.Put("<td role=\"cell\"%s data-label=\"%s\">", right(c), c.head)
			c.cell(p, q, r)
			p.Put("</td>")
		}
		p.Put("</tr>\n")
	}
	p.Put("</tbody></table>\n")
}

func right(c column) report.Markup {
	if c.right {
		return ` class="r"`
	}
	return ""
}
