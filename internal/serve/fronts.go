package serve

import (
	"cmp"
	"fmt"
	"math"
	"net/url"
	"slices"
	"strings"

	"privrec/internal/dataset"
	"privrec/internal/report"
	"privrec/internal/run"
	"privrec/internal/stats"
)

// Values for the epsilon that a front is drawn over.
const (
	overAccounted = "accounted"
	overClaimed   = "claimed"
)

// scene holds the properties that runs must share to be in one drawing: the same rows, measured the same way.
type scene struct {
	data, recipe, rows string
	level              dataset.Level
}

// point holds a setting of a method, over its seeds.
type point struct {
	method, setting string
	x               float64 // epsilon
	unit            string  // of x
	values          []float64
	floor           float64
	floorName       string
}

// fronts returns the page of metrics over epsilons.
func (h *handler) fronts(v url.Values) (*report.Sheet, error) {
	if err := known(v, "metric", "over", "data"); err != nil {
		return nil, asked("%s", err)
	}
	given := map[string]string{}
	for _, key := range []string{"metric", "over", "data"} {
		text, err := only(v, key)
		if err != nil {
			return nil, asked("%s", err)
		}
		given[key] = text
	}
	over := cmp.Or(given["over"], overAccounted)
	if over != overAccounted && over != overClaimed {
		return nil, asked("over is %q, want %s or %s", over, overAccounted, overClaimed)
	}
	all, err := h.scan()
	if err != nil {
		return nil, err
	}
	metrics, sets := measured(all.Runs)
	metric := given["metric"]
	if metric == "" && len(metrics) > 0 {
		metric = metrics[0]
	}
	p := h.begin("Fronts", "/fronts")
	p.Put("<header><div>\n<h1>What protection costs</h1>\n")
	scenes := gather(all.Runs, metric, over, given["data"])
	p.Put("</div></header>\n<p class=\"conclusion\">%s</p>\n", frontSentence(scenes, metric, over))
	p.Put("<form class=\"filter\" action=\"/fronts\" method=\"get\">\n")
	putSelect(p, "metric", "metric", metric, "that of most runs", pairs(metrics))
	putSelect(p, "over", "over", over, "accounted ε",
		[][2]string{{overAccounted, "accounted ε"}, {overClaimed, "claimed ε"}})
	putSelect(p, "data", "data", given["data"], "all", pairs(sets))
	p.Put("<div class=\"buttons\"><button>Draw</button> <a href=\"/fronts\">Reset</a></div>\n</form>\n")
	for _, s := range scenes {
		if err := s.put(p, metric, over); err != nil {
			return nil, err
		}
	}
	end(p)
	return p, nil
}

// pairs returns options whose label is their value.
func pairs(list []string) (out [][2]string) {
	for _, w := range list {
		out = append(out, [2]string{w, w})
	}
	return out
}

// measured returns the metrics of finished runs, that of most runs with an epsilon first, and their data sets.
func measured(runs []*Run) (metrics, sets []string) {
	count, seen := map[string]int{}, map[string]bool{}
	for _, r := range runs {
		if r.State != run.StatusDone || len(r.Scores) == 0 {
			continue
		}
		e := r.epsilons()
		for _, m := range r.Metrics {
			if !seen[m] {
				seen[m], metrics = true, append(metrics, m)
			}
			if e != nil && (e.Claimed != nil || !math.IsInf(float64(e.Worst), 1)) {
				count[m]++
			}
		}
		if !slices.Contains(sets, r.Data) && r.Data != "" {
			sets = append(sets, r.Data)
		}
	}
	slices.SortStableFunc(metrics, func(a, b string) int { return count[b] - count[a] })
	slices.SortFunc(sets, report.Natural)
	return metrics, sets
}

// drawn is a scene with its points.
type drawn struct {
	scene
	points []*point
}

// gather returns finished runs by scene. It leaves out scenes in which no run has a finite epsilon, since they have no
// front.
func gather(runs []*Run, metric, over, data string) []*drawn {
	var out []*drawn
	at := map[scene]*drawn{}
	for _, r := range runs {
		v := r.value(metric)
		e := r.epsilons()
		if r.State != run.StatusDone || e == nil || math.IsNaN(v.Value) || data != "" && r.Data != data &&
			report.Visible(r.Data) != data {
			continue
		}
		x, unit := float64(e.Worst), e.WorstUnit
		if over == overClaimed {
			x, unit = math.Inf(1), ""
			if e.Claimed != nil {
				x, unit = float64(*e.Claimed), e.Unit
			}
		}
		s := scene{r.Data, r.Recipe, r.Rows, r.Level}
		d := at[s]
		if d == nil {
			d = &drawn{scene: s}
			at[s], out = d, append(out, d)
		}
		d.add(r, v, x, unit)
	}
	out = slices.DeleteFunc(out, func(d *drawn) bool {
		return !slices.ContainsFunc(d.points, func(p *point) bool { return !math.IsInf(p.x, 1) })
	})
	slices.SortStableFunc(out, func(a, b *drawn) int {
		return cmp.Or(cmp.Compare(a.level, b.level), report.Natural(a.data, b.data), report.Natural(a.recipe, b.recipe))
	})
	return out
}

// add adds a run to the point of its setting. Accounts of two seeds may differ in their last digits if the counts do.
func (d *drawn) add(r *Run, v Value, x float64, unit string) {
	for _, p := range d.points {
		if p.method == r.Title() && p.setting == r.Setting && epsilon(p.x) == epsilon(x) {
			p.values = append(p.values, v.Value)
			return
		}
	}
	d.points = append(d.points, &point{r.Title(), r.Setting, x, unit, []float64{v.Value}, v.Floor, v.FloorName})
}

// frontSentence returns a sentence about what the page shows.
func frontSentence(scenes []*drawn, metric, over string) string {
	if len(scenes) == 0 {
		return fmt.Sprintf("No finished run with %s has a finite %s ε, so there is no front to draw.",
			cmp.Or(metric, "a metric"), over)
	}
	under, finite := 0, 0
	for _, d := range scenes {
		for _, p := range d.points {
			if !math.IsInf(p.x, 1) {
				finite++
				if stats.Mean(p.values) <= p.floor {
					under++
				}
			}
		}
	}
	return fmt.Sprintf("%s of finished runs over their %s ε: %d of %d settings with a finite ε are not above the "+
		"highest floor, which needs no model.", metric, over, under, finite)
}

// names returns the curve name of each point. If units differ, a name includes the unit of its epsilon, since hiding
// one interaction is less than hiding all of a user's.
func (d *drawn) names() map[*point]string {
	units := map[string]bool{}
	for _, p := range d.points {
		if p.unit != "" && !math.IsInf(p.x, 1) {
			units[p.unit] = true
		}
	}
	out := map[*point]string{}
	for _, p := range d.points {
		out[p] = report.Visible(p.method)
		if len(units) > 1 && p.unit != "" && !math.IsInf(p.x, 1) {
			out[p] += ", " + report.Visible(p.unit)
		}
	}
	return out
}

// put draws a scene, with its numbers below.
func (d *drawn) put(p *report.Sheet, metric, over string) error {
	slices.SortStableFunc(d.points, func(a, b *point) int {
		return cmp.Or(report.Natural(a.method, b.method), cmp.Compare(a.x, b.x), strings.Compare(a.setting, b.setting))
	})
	name := d.data
	for _, part := range []string{d.recipe, d.rows} {
		if part != "" {
			name += ", " + part
		}
	}
	panel := report.Panel{X: over + " ε", Y: metric + ", percent", LogX: true}
	if over == overAccounted {
		panel.X += ", whole run and worst unit"
	}
	names := d.names()
	var bars [][2]float64
	for _, q := range d.points {
		if q.x <= 0 {
			panel.LogX = false
		}
		i := slices.IndexFunc(panel.Curves, func(c report.Curve) bool { return c.Name == names[q] })
		if i < 0 {
			i = len(panel.Curves)
			panel.Curves = append(panel.Curves, report.Curve{Name: names[q]})
		}
		c := &panel.Curves[i]
		mean, bar := 100*stats.Mean(q.values), [2]float64{math.NaN(), math.NaN()}
		if i, err := stats.TInterval(q.values, 0.95); err == nil {
			bar = [2]float64{100 * i.Lo, 100 * i.Hi}
		}
		c.X, c.Y, c.Bars = append(c.X, q.x), append(c.Y, mean), append(c.Bars, bar)
		bars = append(bars, bar)
		if q.floorName != "" && !slices.ContainsFunc(panel.Levels,
			func(l report.Level) bool { return l.Name == report.Visible(q.floorName) }) {
			panel.Levels = append(panel.Levels, report.Level{Name: report.Visible(q.floorName), Y: 100 * q.floor})
		}
	}
	title := report.Visible(name)
	if d.level != 0 {
		title += " (level " + d.level.String() + ")"
	}
	err := p.Chart(report.Chart{Title: title, Strips: []report.Strip{{Panels: []report.Panel{panel}}},
		Caption: "One point a setting: mean over its seeds, with Student's 95 % interval where there are two or " +
			"more. ∞: no guarantee, or no claim. Epsilons of different units, such as an edge and a user, protect " +
			"different things."})
	if err != nil {
		return err
	}
	p.Put("<details><summary>Numbers (%s)</summary>\n<div class=\"scroll\" tabindex=\"0\" role=\"region\" "+
		"aria-label=\"numbers\"><table><thead><tr><th scope=\"col\">method</th><th scope=\"col\">setting</th><th "+
		"scope=\"col\" class=\"r\">%s ε</th><th scope=\"col\">unit</th><th scope=\"col\" class=\"r\">%s, "+
		"percent</th><th scope=\"col\" class=\"r\">95 %% from</th><th scope=\"col\" class=\"r\">to</th><th "+
		"scope=\"col\" class=\"r\">seeds</th></tr></thead>\n<tbody>\n",
		plural(len(d.points), "setting"), over, metric)
	for i, q := range d.points {
		p.Put("<tr><th scope=\"row\"><bdi>%s</bdi></th><td class=\"wrap\">%s</td><td "+
			"class=\"r\">%s</td><td>%s</td><td class=\"r\">%s</td>", q.method, q.setting, epsilon(q.x), q.unit,
			percent(stats.Mean(q.values)))
		for _, end := range bars[i] {
			if math.IsNaN(end) {
				p.Put("<td class=\"r\">–</td>")
			} else {
				p.Put("<td class=\"r\">%s</td>", fmt.Sprintf("%.2f", end))
			}
		}
		p.Put("<td class=\"r\">%v</td></tr>\n", len(q.values))
	}
	p.Put("</tbody></table></div></details>\n")
	return nil
}
