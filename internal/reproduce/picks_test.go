package reproduce

import (
	"context"
	"strings"
	"testing"

	"privrec/internal/reproduce/roster"
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
	out, err := makeTable(context.Background(), mustLoad(t, picking, f.task()), options(t, "full"))
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

// Values of a point for size quick hold in that size alone.
func TestQuickPoint(t *testing.T) {
	g := mustLoad(t, strings.Replace(fakeFigure, "at: [{value: 0.4, set: [user=8]}]", "at: [{value: 0.4, set: [user=8], quick: [user=9]}]", 1), (&fake{}).task())
	for size, want := range map[string]string{"quick": "user=9", "full": "user=8"} {
		_, runs, err := roster.Of(g, roster.Options{Size: size, Out: "x"})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range runs {
			row, last := r.Entry.Row, ""
			for _, set := range r.Start.Sets {
				if strings.HasPrefix(set, "user=") {
					last = set
				}
			}
			if p := row.Point; p != nil && p.Value == 0.4 && row.Method == "One" && last != want {
				t.Errorf("size %s: %v", size, r.Start.Sets)
			}
			if p := row.Point; p != nil && p.Value != 0.4 && last == "user=9" {
				t.Errorf("size %s, value %v: %v", size, p.Value, r.Start.Sets)
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
