package reproduce

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"
	"testing"

	"privrec/internal/reproduce/grid"
)

const aboutRow = `  - {method: Sum, data: ml-1m, task: attack fake, config: sum.yaml, evaluation: noise on, printed: [39, null],
     on: [{task: train fake, config: fake.yaml}, {task: train fake, config: fake.yaml, set: [value=0.3], quick: [value=0.1]}]}
`

// aboutGrid is the fake grid with a row about two runs, the first of which is another row's.
func aboutGrid(t *testing.T, row string, began func()) *grid.Grid {
	t.Helper()
	f := &fake{ctx: began}
	g, err := loadWith(t, fakeGrid+row, map[string]string{"sum.yaml": "level: B\n"}, f.task(), about(began))
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// A row about other runs gets those of its own seed, made first. A run that is a row of its
// own too is made once.
func TestRowsAboutRuns(t *testing.T) {
	n := 0
	g, o := aboutGrid(t, aboutRow, func() { n++ }), options(t, "full")
	d, err := Estimate(context.Background(), g, o)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := d.Text(&b); err != nil {
		t.Fatal(err)
	}
	holds(t, b.String(), "the run of One", "9 of 9 runs", "not estimated  3 runs")
	out, err := makeTable(context.Background(), g, o)
	if err != nil || out.Err() != nil {
		t.Fatal(err, out.Err())
	}
	if n != 9 { // three seeds of: One, Two, which the sum is about, and the sum
		t.Errorf("%d runs began, want 9", n)
	}
	// seeds give 50, 52, 54
	holds(t, markdown(t, out), "|  | ours | 52.00 ± 2.00 (B) |", "- Sum: on the run of train fake under fake.yaml, made first with the same seed; on the run of")
	again, err := makeTable(context.Background(), g, o)
	if err != nil || n != 9 || markdown(t, again) != markdown(t, out) {
		t.Errorf("made again: %d runs began, %v", n, err)
	}
	o.Size, o.Out = "quick", t.TempDir()
	if out, err = makeTable(context.Background(), g, o); err != nil {
		t.Fatal(err)
	}
	holds(t, markdown(t, out), "|  | ours | 30.00 (B) |")
}

// A number about a run that was cut short is not compared with the paper's.
func TestRowsAboutShortRuns(t *testing.T) {
	g := aboutGrid(t, strings.Replace(aboutRow, "set: [value=0.3]", "set: [short='trained for 5']", 1), func() {})
	out, err := makeTable(context.Background(), g, options(t, "full"))
	if err != nil || out.Err() != nil {
		t.Fatal(err, out.Err())
	}
	holds(t, markdown(t, out), "no difference from the paper's numbers is taken: train fake, which it is about, was trained for 5")
}

// Where a run fails, or lacks its data, a row about it is not begun and says why.
func TestRowsAboutFailedRuns(t *testing.T) {
	for fail, want := range map[string]string{
		"error": "Sum on ml-1m, seed 1: failed: train fake, which it is about: it broke; badly",
		"data":  "data missing: train fake, which it is about: ml-1m: nothing there",
	} {
		g, o := aboutGrid(t, strings.Replace(aboutRow, "set: [value=0.3]", "set: [fail="+fail+"]", 1), func() {}), options(t, "quick")
		out, err := makeTable(context.Background(), g, o)
		if err != nil || (out.Err() == nil) != (fail == "data") { // other rows have their data
			t.Fatal(err, out.Err())
		}
		holds(t, markdown(t, out), want)
		for _, r := range out.Runs {
			if found, _ := filepath.Glob(r.Dir); r.Method == "Sum" && strings.Contains(r.Dir, "attack") && len(found) > 0 {
				t.Errorf("the sum began: %s", r.Dir)
			}
		}
	}
}

// What is wrong with a run that a row is about is an error of its line.
func TestBadRowsAboutRuns(t *testing.T) {
	for name, c := range map[string]struct{ old, new, want string }{
		"task":     {"on: [{task: train fake", "on: [{task: train none", `rows.2.on.0.task: unknown task "train none"`},
		"config":   {"on: [{task: train fake, config: fake.yaml}", "on: [{task: train fake}", "rows.2.on.0.config: must name a file"},
		"override": {"set: [value=0.3]", "set: [valeu=0.3]", "rows.2: size smoke sets valeu: unknown key"},
		"fixed":    {"config: sum.yaml,", "config: sum.yaml, set: ['on.runs=[a]'],", "override on.runs=[a]: the table sets on.runs itself"},
	} {
		_, err := loadWith(t, fakeGrid+strings.Replace(aboutRow, c.old, c.new, 1), map[string]string{"sum.yaml": ""}, (&fake{}).task(), about(func() {}))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
}
