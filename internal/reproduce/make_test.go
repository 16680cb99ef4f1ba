package reproduce

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"privrec/internal/dataset"
	"privrec/internal/reproduce/grid"
	"privrec/internal/reproduce/roster"
	"privrec/internal/run"
)

// At level B with three seeds a table has mean, spread, interval, printed numbers
// and differences, worst budgets and their reasons; nothing is run twice.
func TestMakeFull(t *testing.T) {
	f := &fake{}
	g, o := mustLoad(t, fakeGrid, f.task()), options(t, "full")
	out, err := makeTable(context.Background(), g, o)
	if err != nil || out.Err() != nil {
		t.Fatal(err, out.Err())
	}
	md := markdown(t, out)
	// seeds give 20, 21, 22: mean 21, deviation 1, t(2) = 4.3027 / sqrt 3 = 2.4841
	holds(t, md,
		"| One | paper | 19.00 | 5.50 |  |", "|  | ours | 21.00 ± 1.00 (B) | 5.25 ± 0.25 (B) | 3 |",
		"|  | 95 % interval | 18.52 to 23.48 (B) | 4.63 to 5.87 (B) |  |", "|  | ours - paper | +2.00 (B) | -0.25 (B) |  |",
		"| Two | paper | - | 5.50 |  |", "|  | ours | 41.00 ± 1.00 (B) | 15.50 ± 0.50 (B) | 3 |", "|  | ours - paper | - | +10.00 (B) |  |",
		"| random | floor | 1.00 (B) | 0.10 (B) |", "evidence level B", "paper: page 7: one seed",
		"| One | ml-1m | edge | add-remove | 1e-06 | 5 | infinity | 10 | labels |", "| One | ml-1m | user | replace | 1e-06 |  | 70 | 70 |  |",
		"labels: they are seen", "- One, Two: ran with profile own\n", "| One | ml-1m | B | full | 1, 2, 3 | 3 + 2 | done |")
	csv, err := os.ReadFile(strings.TrimSuffix(out.Files[0], ".md") + ".csv")
	if err != nil {
		t.Fatal(err)
	}
	holds(t, string(csv), "fake-table,full,ml-1m,ML-1M,One,,Recall@20,B,done,19,21,", ",3,3,2,1,,5,+Inf,3 + 2,", "fake-table,full,ml-1m,ML-1M,Two,,Recall@20,B,done,,41,")
	if n := f.starts.Load(); n != 6 {
		t.Errorf("%d runs began, want 6", n)
	}
	again, err := makeTable(context.Background(), g, o)
	if err != nil || f.starts.Load() != 6 {
		t.Errorf("made again: %d runs began, %v", f.starts.Load(), err)
	}
	if markdown(t, again) != md {
		t.Error("the second table differs")
	}
}

// Generated data are stamped in every cell and compared with nothing.
func TestMakeSmoke(t *testing.T) {
	g := mustLoad(t, fakeGrid, (&fake{}).task())
	out, err := makeTable(context.Background(), g, options(t, "smoke"))
	if err != nil || out.Err() != nil {
		t.Fatal(err, out.Err())
	}
	md := markdown(t, out)
	holds(t, md, "| One | ours | 20.00 (D) | 5.00 (D) | 1 |", "evidence level D", "replaced by the generated standin-tiny", "no printed number stands beside results of level C or D")
	lacks(t, md, "| paper |", "ours - paper", "(B)", "± ", "interval |", "19.00")
}

// Level C is real data with other counts: no difference either, though the row
// takes the paper's set.
func TestLevelC(t *testing.T) {
	g, o := mustLoad(t, fakeGrid, (&fake{}).task()), options(t, "quick")
	o.Sets = []string{"level=C"}
	out, err := makeTable(context.Background(), g, o)
	if err != nil {
		t.Fatal(err)
	}
	md := markdown(t, out)
	if strings.HasSuffix(out.Files[0], "quick.md") {
		t.Errorf("a changed table takes the place %s of another", out.Files[0])
	}
	holds(t, md, "20.00 (C)", "changed by hand in every run: level=C")
	lacks(t, md, "| paper |", "ours - paper")
}

// A training shorter than the paper's says so, and its results are not subtracted from the
// printed ones, which stand there all the same.
func TestShortTraining(t *testing.T) {
	g, o := mustLoad(t, fakeGrid, (&fake{}).task()), options(t, "quick")
	o.Sets = []string{"short='trained for 5 of the 1000 epochs stated, ended by the cap'"}
	out, err := makeTable(context.Background(), g, o)
	if err != nil || out.Err() != nil {
		t.Fatal(err, out.Err())
	}
	md := markdown(t, out)
	holds(t, md, "| One | paper | 19.00 | 5.50 |", "20.00 (B)", "no difference from the paper's numbers is taken: trained for 5 of the 1000 epochs stated, ended by the cap")
	lacks(t, md, "ours - paper")
	csv, err := os.ReadFile(strings.TrimSuffix(out.Files[0], ".md") + ".csv")
	if err != nil {
		t.Fatal(err)
	}
	holds(t, string(csv), "One,,Recall@20,B,done,19,20,,,,1,1,,")
}

// What fails says so in its cell and stops nothing; it is tried again next time.
func TestFailures(t *testing.T) {
	for _, c := range []struct {
		fail, cell, note string
		isData           bool
	}{
		{"error", "failed", "One on ml-1m, seed 1: failed: it broke; badly", false},
		{"data", "data missing", "data missing: ml-1m: nothing there", true},
		{"badmetrics", "failed", "no floors: results without a floor are not shown", false},
		{"definition", "failed", `Recall@20 was measured as "something else"`, false},
	} {
		t.Run(c.fail, func(t *testing.T) {
			f := &fake{}
			text := strings.Replace(fakeGrid, "evaluation: noise on,", "evaluation: noise on, set: [fail="+c.fail+"],", 1)
			g, o := mustLoad(t, text, f.task()), options(t, "quick")
			out, err := makeTable(context.Background(), g, o)
			if err != nil {
				t.Fatal(err)
			}
			md := markdown(t, out)
			holds(t, md, "|  | ours | "+c.cell+" | "+c.cell+" | 0 of 1 |", c.note)
			var data *dataset.Error
			if err := out.Err(); err == nil || errors.As(err, &data) != c.isData {
				t.Errorf("at the end: %v", err)
			}
			want := int64(2)
			if c.isData {
				want = 1 // the other row's data are missing too
			} else {
				holds(t, md, "|  | ours | 40.00 (B) | 15.00 (B) | 1 |")
			}
			if n := f.starts.Load(); n != want {
				t.Errorf("%d runs began, want %d", n, want)
			}
		})
	}
}

// An interruption ends the work at once, and the next call goes on with the run
// that was interrupted.
func TestInterrupted(t *testing.T) {
	f := &fake{}
	text := strings.Replace(fakeGrid, "evaluation: noise on,", "evaluation: noise on, set: [fail=once],", 1)
	g, o := mustLoad(t, text, f.task()), options(t, "quick")
	if _, err := makeTable(context.Background(), g, o); !run.WasInterrupted(err) {
		t.Fatalf("not interrupted: %v", err)
	}
	d, err := Estimate(context.Background(), g, o)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := d.Text(&b); err != nil {
		t.Fatal(err)
	}
	holds(t, b.String(), "resumable", "to do", "2 of 2 runs", "about 1 min 40 s", "about 1 min 20 s", "at least 64 MB", "guessed")
	out, err := makeTable(context.Background(), g, o)
	if err != nil || out.Err() != nil {
		t.Fatal(err, out.Err())
	}
	if b.Reset(); f.starts.Load() != 3 {
		t.Errorf("%d runs began, want 3", f.starts.Load())
	}
	if d, err = Estimate(context.Background(), g, o); err != nil {
		t.Fatal(err)
	}
	if err := d.Text(&b); err != nil {
		t.Fatal(err)
	}
	holds(t, b.String(), "0 of 2 runs")
	lacks(t, b.String(), "time    about", "guessed")
}

// A run that stands behind two rows is made once, and counts once.
func TestEstimateOfSharedRuns(t *testing.T) {
	text := strings.Replace(fakeGrid, "evaluation: noise off, set: [value=0.3],", "evaluation: noise off,", 1)
	g, o := mustLoad(t, text, (&fake{}).task()), options(t, "quick")
	for _, want := range []string{"1 of 1 runs", "0 of 1 runs"} {
		d, err := Estimate(context.Background(), g, o)
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := d.Text(&b); err != nil {
			t.Fatal(err)
		}
		holds(t, b.String(), want, "the run of One")
		if strings.HasPrefix(want, "1") {
			holds(t, b.String(), "about 50 s", "about 40 s")
		}
		if _, err := makeTable(context.Background(), g, o); err != nil {
			t.Fatal(err)
		}
	}
}

// Without runs there is a table of what is there, and an error that says what is
// not.
func TestNoRun(t *testing.T) {
	f := &fake{}
	g, o := mustLoad(t, fakeGrid, f.task()), options(t, "quick")
	o.NoRun = true
	out, err := makeTable(context.Background(), g, o)
	if err != nil || f.starts.Load() != 0 {
		t.Fatal(err, f.starts.Load())
	}
	if err := out.Err(); err == nil || !strings.Contains(err.Error(), "2 of 2 runs are not finished") {
		t.Errorf("%v", err)
	}
	holds(t, markdown(t, out), "| One | paper | 19.00 | 5.50 |", "|  | ours | to do | to do | 0 of 1 |")
}

// A run that another process holds is left to it: waited for, or reported.
func TestShared(t *testing.T) {
	f := &fake{}
	g, o := mustLoad(t, fakeGrid, f.task()), options(t, "quick")
	_, runs, err := roster.Of(g, o)
	if err != nil {
		t.Fatal(err)
	}
	release, err := run.Hold(runs[0].Dir)
	if err != nil {
		t.Fatal(err)
	}
	o.NoWait = true
	out, err := makeTable(context.Background(), g, o)
	if err != nil {
		t.Fatal(err)
	}
	if got := statuses(out); got != "One/1 running elsewhere, Two/1 done" {
		t.Error(got)
	}
	holds(t, markdown(t, out), "|  | ours | running elsewhere | running elsewhere | 0 of 1 |")
	o.NoWait = false
	go func() {
		time.Sleep(100 * time.Millisecond)
		release()
	}()
	if out, err = makeTable(context.Background(), g, o); err != nil || out.Err() != nil {
		t.Fatal(err, out.Err())
	}
	if f.starts.Load() != 2 {
		t.Errorf("%d runs began, want 2", f.starts.Load())
	}
	ctx, stop := context.WithCancel(context.Background())
	stop()
	if _, err := makeTable(ctx, g, options(t, "quick")); !run.WasInterrupted(err) {
		t.Errorf("cancelled: %v", err)
	}
}

// killed is the environment variable in which the test below runs itself as the process that
// is to die: the folder, and the run at whose start it dies.
const killed = "REPRODUCE_TEST_KILLED"

// killedGrids reads two tables, one with a row about other runs, from a folder.
func killedGrids(t *testing.T, dir string, began func()) (grids []*grid.Grid) {
	t.Helper()
	f := &fake{ctx: began}
	for _, name := range []string{"grid.yaml", "other.yaml"} {
		g, err := grid.Load(filepath.Join(dir, name), []run.Task{f.task(), about(began)})
		if err != nil {
			t.Fatal(err)
		}
		grids = append(grids, g)
	}
	return grids
}

// A process that is killed at the start of a run, three times over, leaves what another one
// finishes, to the bytes of one without interruption: all tables, and the page that lists
// them. Finished runs are not repeated.
func TestKillAndRestart(t *testing.T) {
	if where := os.Getenv(killed); where != "" {
		at, dir, _ := strings.Cut(where, " ")
		n := 0
		grids := killedGrids(t, dir, func() {
			if n++; fmt.Sprint(n) == at {
				if p, err := os.FindProcess(os.Getpid()); err == nil {
					p.Kill()
				}
			}
		})
		o := options(t, "full")
		o.Out = filepath.Join(dir, "out")
		makeAll(t, planOf(t, o, grids...))
		return
	}
	dir := t.TempDir()
	for name, text := range map[string]string{
		"grid.yaml": fakeGrid + aboutRow, "other.yaml": strings.NewReplacer("fake-table", "fake-other", "value=0.3", "value=0.4").Replace(fakeGrid),
		"fake.yaml": "value: 0.2\n", "sum.yaml": "level: B\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, at := range []int{2, 5, 3} { // each time counted from what is open
		cmd := exec.Command(os.Args[0], "-test.run=^TestKillAndRestart$")
		cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d %s", killed, at, dir))
		var died *exec.ExitError
		if err := cmd.Run(); !errors.As(err, &died) || died.ExitCode() != -1 {
			t.Fatalf("the process was not killed: %v", err)
		}
	}
	finish := func(o roster.Options) (files [][]string, began int) {
		grids := killedGrids(t, dir, func() { began++ })
		tally := NewTally(o, grids)
		for _, made := range makeAll(t, planOf(t, o, grids...)) {
			if made.Err() != nil {
				t.Fatal(made.Err())
			}
			tally.Add(made)
			files = append(files, made.Files)
		}
		if err := tally.WriteIndex(); err != nil {
			t.Fatal(err)
		}
		return append(files, []string{filepath.Join(o.Out, "tables", "index.md")}), began
	}
	whole, cut := options(t, "full"), options(t, "full")
	cut.Out = filepath.Join(dir, "out")
	a, rest := finish(cut)
	b, all := finish(whole)
	if all != 12 || rest != 12-(1+4+2) { // what was killed began again
		t.Errorf("%d runs began after the kills, %d without, want 5 and 12", rest, all)
	}
	for k := range a {
		for i := range a[k] {
			if strings.HasSuffix(a[k][i], "-runs.json") { // times
				continue
			}
			x, err1 := os.ReadFile(a[k][i])
			y, err2 := os.ReadFile(b[k][i])
			if err1 != nil || err2 != nil || !bytes.Equal(x, y) {
				t.Errorf("%s differs: %v %v", a[k][i], err1, err2)
			}
		}
	}
}

// The progress of a table names the present run and every state.
func TestWatch(t *testing.T) {
	g, o := mustLoad(t, fakeGrid, (&fake{}).task()), options(t, "quick")
	var seen []string
	o.Watch = func(title string, runs []roster.Run, now int) {
		line := title + ":"
		for i, r := range runs {
			line += " " + string(r.Status) + r.Score
			if i == now {
				line += "*"
			}
		}
		seen = append(seen, line)
	}
	if _, err := makeTable(context.Background(), g, o); err != nil {
		t.Fatal(err)
	}
	want := []string{"running* to do", "done20.00 (B) to do", "done20.00 (B) running*", "done20.00 (B) done40.00 (B)", "done20.00 (B) done40.00 (B)"}
	for i, w := range want {
		if w = "fake-table, size quick, R: " + w; i >= len(seen) || seen[i] != w {
			t.Errorf("line %d of %q, want %q", i, seen, w)
		}
	}
}
