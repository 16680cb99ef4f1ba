package reproduce

import (
	"context"
	"strings"
	"testing"

	"privrec/internal/compare"
	"privrec/internal/experiment"
	"privrec/internal/metrics"
)

// picking is a figure whose axis picks evaluations of one run.
var picking = strings.NewReplacer(
	"  - {name: epsilon, label: claimed epsilon, key: value, values: [0.1, 0.2, 0.4], smoke: [0.2], log: true, accounted: true}\n", "  - {name: strength, values: [0.5, 1]}\n",
	"  - {metric: Recall@20}\n", "  - {metric: Recall@20}\n  - {metric: recommendation accuracy}\n",
).Replace(fakeFigure[:strings.Index(fakeFigure, "rows:")]) + `rows:
  - {method: One, data: ml-1m, task: train fake, config: fake.yaml, axes: [strength], evaluation: "strength {strength}", set: ['eps=""']}
`

// An axis without a key makes one run a seed, and takes each point from an evaluation of it. A
// statistic has no floor, and is left out where the evaluation lacks it.
func TestPicks(t *testing.T) {
	f := &fake{}
	out, err := mustLoad(t, picking, f.task()).Make(context.Background(), options(t, "full"))
	if err != nil || out.Err() != nil {
		t.Fatal(err, out.Err())
	}
	if n := f.starts.Load(); n != 3 {
		t.Errorf("%d runs began, want one a seed", n)
	}
	md := markdown(t, out)
	holds(t, md, "| One | strength | 0.5 |  | 10.50 ± 0.50 (B) |", "75.00 ± 0.00 (B)", "|  | strength | 1 |  | 0.00 ± 0.00 (B) |")
	lacks(t, md, "NaN")
	var floor string
	for line := range strings.Lines(md) {
		if strings.HasPrefix(line, "| random | floor |") {
			floor = line
		}
	}
	holds(t, floor, "1.00 (B)", "| - |")
}

// Scores of users stand beside a point only if they are those of its evaluation: their mean in
// every metric is the point's.
func TestPicksUsers(t *testing.T) {
	g := &Grid{}
	for _, kind := range []metrics.Kind{metrics.Recall, metrics.MRR} {
		g.Metrics = append(g.Metrics, Metric{Measure: metrics.Metric{Kind: kind, K: 20}})
	}
	scores := &compare.Scores{Users: []string{"a", "b"}, Values: map[string][]float64{"Recall@20": {0.1, 0.3}, "MRR@20": {0, 0.2}}}
	for _, c := range []struct {
		values []float64
		want   bool
	}{{[]float64{0.2, 0.1}, true}, {[]float64{0.2, 0.3}, false}, {[]float64{0.1, 0.1}, false}} {
		if got := g.agrees(scores, c.values); got != c.want {
			t.Errorf("%v: %v", c.values, got)
		}
	}
}

// Values of a point for size quick hold in that size alone.
func TestQuickPoint(t *testing.T) {
	g := mustLoad(t, strings.Replace(fakeFigure, "at: [{value: 0.4, set: [user=8]}]", "at: [{value: 0.4, set: [user=8], quick: [user=9]}]", 1), (&fake{}).task())
	for size, want := range map[string]string{"quick": "user=9", "full": "user=8"} {
		_, runs, err := g.runs(Options{Size: size, Out: "x"})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range runs {
			row, last := r.entry.row, ""
			for _, set := range r.options.Sets {
				if strings.HasPrefix(set, "user=") {
					last = set
				}
			}
			if p := row.point; p != nil && p.value == 0.4 && row.Method == "One" && last != want {
				t.Errorf("size %s: %v", size, r.options.Sets)
			}
			if p := row.point; p != nil && p.value != 0.4 && last == "user=9" {
				t.Errorf("size %s, value %v: %v", size, p.value, r.options.Sets)
			}
		}
	}
}

// A row of an axis that picks says where the value stands.
func TestBadPicks(t *testing.T) {
	for _, c := range []struct{ old, new string }{
		{`evaluation: "strength {strength}", `, ""},
		{`"strength {strength}"`, `"strength 1"`},
		{"axes: [strength]", "axes: [strength], key: value"},
	} {
		_, err := load(t, strings.Replace(picking, c.old, c.new, 1), (&fake{}).task())
		if err == nil || !strings.Contains(err.Error(), "must hold {strength}") {
			t.Errorf("%s: %v", c.new, err)
		}
	}
}

// A name that is there in full counts before names that end in it.
func TestChooseExact(t *testing.T) {
	all := []experiment.Scores{{Name: "dissimilar, 1"}, {Name: "similar, 1"}, {Name: "a, b"}}
	if got, err := choose(all, "similar, 1"); err != nil || got.Name != "similar, 1" {
		t.Errorf("got %q, %v", got.Name, err)
	}
	if _, err := choose(all, "1"); err == nil {
		t.Error("two names end in 1")
	}
}
