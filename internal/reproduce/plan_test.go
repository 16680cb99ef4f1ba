package reproduce

import (
	"context"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"privrec/internal/reproduce/costs"
	"privrec/internal/reproduce/grid"
	"privrec/internal/reproduce/roster"
	"privrec/internal/run"
)

// planOf plans tables, and fails the test where that fails.
func planOf(t *testing.T, o roster.Options, grids ...*grid.Grid) *Plan {
	t.Helper()
	p, err := NewPlan(grids, o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// makeAll makes the tables of a plan.
func makeAll(t *testing.T, p *Plan) (out []*Outcome) {
	t.Helper()
	for i := range p.Tables() {
		made, err := p.Make(context.Background(), i)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, made)
	}
	return out
}

// copyInto copies a folder of files into another one.
func copyInto(t *testing.T, from, to string) {
	t.Helper()
	if err := os.MkdirAll(to, 0o755); err != nil {
		t.Fatal(err)
	}
	list, err := os.ReadDir(from)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range list {
		if d.IsDir() {
			copyInto(t, filepath.Join(from, d.Name()), filepath.Join(to, d.Name()))
			continue
		}
		b, err := os.ReadFile(filepath.Join(from, d.Name()))
		if err == nil {
			err = os.WriteFile(filepath.Join(to, d.Name()), b, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// Three shards with folders of their own, copied together, give the tables of one process byte
// for byte. No run is made twice, also not those that others are about; until all shards are
// there, the last command says which lack.
func TestShards(t *testing.T) {
	f := &fake{}
	g := aboutGrid(t, aboutRow, func() {})
	second, err := load(t, strings.NewReplacer("fake-table", "fake-other", "value=0.3", "value=0.4").Replace(fakeGrid), f.task())
	if err != nil {
		t.Fatal(err)
	}
	whole := options(t, "full")
	want := makeAll(t, planOf(t, whole, g, second))
	dirs := func(out string) []string {
		found, err := filepath.Glob(filepath.Join(out, "runs", "*"))
		if err != nil {
			t.Fatal(err)
		}
		for i := range found {
			found[i] = filepath.Base(found[i])
		}
		return found
	}

	merged := options(t, "full")
	var all []string
	for i := 1; i <= 3; i++ {
		o := options(t, "full")
		o.Shard = run.Shard{I: i, Of: 3}
		for _, made := range makeAll(t, planOf(t, o, g, second)) {
			if made.Err() != nil || len(made.Files) > 0 {
				t.Errorf("%v: %v, wrote %v", o.Shard, made.Err(), made.Files)
			}
		}
		mine := dirs(o.Out)
		if len(mine) == 0 {
			t.Errorf("%v made nothing", o.Shard)
		}
		all = append(all, mine...)
		copyInto(t, filepath.Join(o.Out, "runs"), filepath.Join(merged.Out, "runs"))
		look := merged
		look.NoRun = true
		p := planOf(t, look, g, second)
		var lack []string
		for s := i + 1; s <= 3; s++ {
			lack = append(lack, fmt.Sprintf("shard %d of 3 (", s))
		}
		if got := p.Missing(); strings.Count(got, "shard ") != len(lack) || len(lack) > 0 && !strings.HasPrefix(got, "not finished: "+lack[0]) {
			t.Errorf("after %v: %q, want %q", o.Shard, got, lack)
		}
	}
	slices.Sort(all)
	if once := dirs(whole.Out); !slices.Equal(all, once) {
		t.Errorf("the shards made\n%q\nwant each once of\n%q", all, once)
	}
	merged.NoRun = true
	for k, made := range makeAll(t, planOf(t, merged, g, second)) {
		if made.Err() != nil {
			t.Fatal(made.Err())
		}
		for i, path := range made.Files {
			if strings.HasSuffix(path, "-runs.json") { // times
				continue
			}
			a, err1 := os.ReadFile(path)
			b, err2 := os.ReadFile(want[k].Files[i])
			if err1 != nil || err2 != nil || string(a) != string(b) {
				t.Errorf("%s differs from that of one process: %v %v", filepath.Base(path), err1, err2)
			}
		}
	}
}

// Shards are of one kind: of one width of numbers, or the table is refused; of one program and one kernel, or it
// says so. Of shards of two numbers that leave runs out, none can be named.
func TestShardsOfOneKind(t *testing.T) {
	g := aboutGrid(t, aboutRow, func() {})
	merged := options(t, "full")
	made := func(s run.Shard) (dirs []string) {
		o := options(t, "full")
		o.Shard = s
		makeAll(t, planOf(t, o, g))
		copyInto(t, filepath.Join(o.Out, "runs"), filepath.Join(merged.Out, "runs"))
		dirs, err := filepath.Glob(filepath.Join(o.Out, "runs", "*"))
		if err != nil {
			t.Fatal(err)
		}
		for i := range dirs {
			dirs[i] = filepath.Join(merged.Out, "runs", filepath.Base(dirs[i]))
		}
		return dirs
	}
	look := merged
	look.NoRun = true
	first := made(run.Shard{I: 1, Of: 2})
	if got := planOf(t, look, g).Missing(); !strings.Contains(got, "shard 2 of 2") {
		t.Errorf("one of two: %q", got)
	}
	third := made(run.Shard{I: 3, Of: 3})
	if p := planOf(t, look, g); len(p.runs) > len(first)+len(third) {
		if got := p.Missing(); !strings.Contains(got, "several numbers ([2 3])") {
			t.Errorf("one of two and one of three: %q", got)
		}
	}
	made(run.Shard{I: 2, Of: 2})
	p := planOf(t, look, g)
	if note, err := p.OneKind(); note != "" || err != nil || p.Missing() != "" {
		t.Errorf("all: %q, %v, %q", note, err, p.Missing())
	}
	change := func(from, to string) {
		t.Helper()
		path := filepath.Join(first[0], "manifest.json")
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		now := strings.Replace(string(b), from, to, 1)
		if now == string(b) {
			t.Fatalf("%s has no %s", path, from)
		}
		if err := os.WriteFile(path, []byte(now), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	simd := run.BuildInfo().SIMD
	change(`"simd": "`+simd+`"`, `"simd": "another"`)
	if note, err := planOf(t, look, g).OneKind(); !strings.Contains(note, "several kernels (another, "+simd+")") || err != nil {
		t.Errorf("another kernel: %q, %v", note, err)
	}
	float := run.BuildInfo().Float
	change(`"float": "`+float+`"`, `"float": "float8"`)
	if _, err := planOf(t, look, g).OneKind(); err == nil || !strings.Contains(err.Error(), "not of one kind") {
		t.Errorf("another width: %v", err)
	}
}

// Every run is in one group, with all that it is about.
func TestGroups(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var runs []*roster.Run
		n := rapid.IntRange(1, 12).Draw(t, "runs")
		for i := range n {
			r := &roster.Run{Dir: fmt.Sprint(i)}
			for j := range i {
				if rapid.IntRange(0, 5).Draw(t, "about") == 0 {
					r.Before = append(r.Before, runs[j])
				}
			}
			runs = append(runs, r)
		}
		p := &Plan{runs: runs}
		of := map[string]int{}
		for i, g := range p.groups() {
			for _, dir := range g {
				if _, twice := of[dir]; twice {
					t.Fatalf("%s is in two groups", dir)
				}
				of[dir] = i
			}
		}
		if len(of) != n {
			t.Fatalf("%v hold %d runs of %d", slices.Sorted(maps.Keys(of)), len(of), n)
		}
		for _, r := range runs {
			for _, a := range r.Before {
				if of[a.Dir] != of[r.Dir] {
					t.Fatalf("%s and %s, which it is about, are apart", r.Dir, a.Dir)
				}
			}
		}
	})
}

func TestParseShard(t *testing.T) {
	for text, want := range map[string]run.Shard{"": {}, "1/1": {I: 1, Of: 1}, "2/3": {I: 2, Of: 3}} {
		if got, err := run.ParseShard(text); err != nil || got != want {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"0/3", "4/3", "1", "1/0", "-1/3", "1/3x", "a/b", "1/1001", "1/2/3"} {
		if got, err := run.ParseShard(text); err == nil {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// Where data are missing, rows are made on generated rows with the settings of size smoke, in
// the directories of the smoke table; the table says so, and compares nothing.
func TestStandIns(t *testing.T) {
	t.Setenv("PRIVREC_DATA", t.TempDir())
	f := &fake{}
	g, o := mustLoad(t, fakeGrid, f.task()), options(t, "quick")
	o.StandIns = true
	made := makeAll(t, planOf(t, o, g))[0]
	if made.Err() != nil {
		t.Fatal(made.Err())
	}
	md := markdown(t, made)
	holds(t, md, "| One | ours | 20.00 (D) | 5.00 (D) | 1 |", "replaced by the generated standin-tiny", "- ML-1M: the files of ml-1m are missing; they come from https://grouplens.org", "| One | standin-tiny for ML-1M | D | smoke | 1 |")
	lacks(t, md, "| paper |", "ours - paper", "19.00")
	o.Size = "smoke"
	if _, err := makeTable(context.Background(), g, o); err != nil || f.starts.Load() != 2 {
		t.Errorf("%d runs began, want 2: %v", f.starts.Load(), err)
	}
	emptyML1M(t)
	o.Size = "quick"
	if made = makeAll(t, planOf(t, o, g))[0]; made.Err() != nil {
		t.Fatal(made.Err())
	}
	holds(t, markdown(t, made), "20.00 (B)", "| One | paper | 19.00 | 5.50 |")
}

// emptyML1M puts files with the names of MovieLens 1M into $PRIVREC_DATA: they are looked at, not read.
func emptyML1M(t *testing.T) {
	t.Helper()
	for _, name := range []string{"ratings.dat", "users.dat", "movies.dat"} {
		path := filepath.Join(os.Getenv("PRIVREC_DATA"), "ml-1m", name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// The time that is ahead is what is recorded of the unfinished runs, less the present one's
// time so far, and scaled by what the runs took.
func TestAhead(t *testing.T) {
	now := time.Unix(0, 0)
	c := &clock{known: true, now: func() time.Time { return now }, left: map[string]float64{"a": 10, "b": 40, "c": 20}}
	p := &Plan{clock: c}
	check := func(runs int, left time.Duration) {
		t.Helper()
		if n, d := p.Left(); n != runs || d.Round(time.Millisecond) != left {
			t.Errorf("%d runs, %v; want %d, %v", n, d, runs, left)
		}
	}
	check(3, 70*time.Second)
	c.begin(&roster.Run{Dir: "a"})
	now = now.Add(4 * time.Second)
	check(3, 66*time.Second)
	now = now.Add(66 * time.Second) // it takes 70 s in place of 10
	check(3, 60*time.Second)
	c.end(&roster.Run{Dir: "a"})
	check(2, 150*time.Second) // (70 + 30) / (10 + 30) times 60 s
	c.begin(&roster.Run{Dir: "b"})
	c.end(&roster.Run{Dir: "b"})
	c.begin(&roster.Run{Dir: "c"})
	c.end(&roster.Run{Dir: "c"})
	check(0, 0)
}

// What finished runs of a task took of what is recorded of them corrects what is recorded of the others, from three on.
func TestTook(t *testing.T) {
	g := mustLoad(t, strings.Replace(fakeGrid, "seeds: [1, 2, 3]", "seeds: [1]", 1), (&fake{}).task())
	p := planOf(t, options(t, "full"), g)
	one, other := p.runs[0], p.runs[1] // of value 0.3: other steps
	for n := range fewest {
		if s, known, err := p.took(other); err != nil || known {
			t.Errorf("after %d runs: %v, %t, %v", n, s, known, err)
		}
		if err := p.learn(one, costs.Of(one).Seconds*[]float64{0.1, 0.2, 0.4}[n]); err != nil {
			t.Fatal(err)
		}
	}
	want := 0.2 * costs.Of(other).Seconds
	if s, known, err := p.took(other); err != nil || !known || math.Abs(s-want) > 1e-9*want {
		t.Errorf("%v s, known %t, want %v: %v", s, known, want, err)
	}
	if s, _, err := p.took(one); err != nil || math.Abs(s-0.7/3*costs.Of(one).Seconds) > 1e-9*s {
		t.Errorf("equal steps: %v s of %v, want their mean: %v", s, costs.Of(one).Seconds, err)
	}
}

// A forecast counts a run that two tables share once.
func TestForecast(t *testing.T) {
	t.Setenv("PRIVREC_DATA", t.TempDir())
	f := &fake{}
	g := mustLoad(t, fakeGrid, f.task())
	o := options(t, "smoke")
	p := planOf(t, o, g, g)
	d, ahead, err := p.Forecast(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	a, b := ahead[0], ahead[1]
	if a.Runs != 2 || a.ToMake != 2 || a.Shared != 0 || a.Seconds != 80 || a.Memory != 64<<20 || a.Rough != 0 || b.Runs != 2 || b.Shared != 2 || b.ToMake != 0 || b.Seconds != 0 {
		t.Errorf("%+v, %+v", a, b) // the fake says 40 s at the fastest
	}
	if d.Facts[0].Value != "2 of 2 runs" || d.Facts[1].Value != "about 1 min 20 s" || f.starts.Load() != 0 {
		t.Errorf("%+v, %d runs began", d.Facts, f.starts.Load())
	}
	seeds := mustLoad(t, strings.Replace(fakeGrid, "seeds: [1]", "seeds: [1, 2, 3]", 1), f.task())
	if d, ahead, err = planOf(t, o, seeds).Forecast(context.Background()); err != nil {
		t.Fatal(err)
	}
	if n := ahead[0]; n.ToMake != 6 || n.Seconds != 240 || n.FirstToMake != 2 || n.FirstSeconds != 80 ||
		d.Facts[2].Value != "about 1 min 20 s" ||
		!strings.HasPrefix(d.Facts[2].Note, "of that, 2 runs with the first seed") {
		t.Errorf("three seeds: %+v, %+v", n, d.Facts)
	}
	if _, err := os.Stat(filepath.Join(o.Out, "runs")); err == nil {
		t.Error("a forecast left runs")
	}
	o.Size = "quick" // its data are missing
	if _, ahead, err = planOf(t, o, g).Forecast(context.Background()); err != nil || ahead[0].NoData != 2 || ahead[0].ToMake != 0 {
		t.Errorf("%+v, %v", ahead, err)
	}
	stopped, stop := context.WithCancel(context.Background())
	stop()
	o.Size = "smoke"
	if _, _, err := planOf(t, o, g).Forecast(stopped); !run.WasInterrupted(err) {
		t.Errorf("cancelled: %v", err)
	}
}

// A run about others of which only records are here takes their time too: their models are made once more. Where
// their directories are here it does not.
func TestForecastOfModels(t *testing.T) {
	t.Setenv("PRIVREC_DATA", t.TempDir())
	emptyML1M(t)
	g, o := aboutGrid(t, aboutRow, func() {}), options(t, "full")
	made, err := makeTable(t.Context(), g, o)
	if err != nil || made.Err() != nil {
		t.Fatal(err, made.Err())
	}
	shelf := openShelf(t)
	for _, r := range made.Runs {
		if r.Task() == "attack fake" {
			if err := os.RemoveAll(r.Dir); err != nil {
				t.Fatal(err)
			}
		} else if err := shelf.Keep(r.Dir); err != nil {
			t.Fatal(err)
		}
	}
	ahead := func(o roster.Options) Ahead {
		t.Helper()
		p := planOf(t, o, g)
		for _, r := range p.runs {
			if r.Entry.Task.String() == "train fake" {
				if err := p.learn(r, 7); err != nil {
					t.Fatal(err)
				}
			}
		}
		f := &forecast{p: p, scale: 1, seen: map[string]bool{}, again: map[string]bool{}, measured: map[string]costs.Cost{}}
		a, err := f.table(t.Context(), p.tables[0])
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	here := ahead(o)
	o.Out, o.Records = t.TempDir(), shelf
	kept := ahead(o)
	if here.ToMake != 3 || here.Again != 0 || kept.ToMake != 3 || kept.Again != 6 {
		t.Errorf("with the runs %+v, with their records %+v: want 3 to make, and 0 and 6 made once more", here, kept)
	}
	if more := kept.Seconds - here.Seconds; math.Abs(more-6*7) > 1e-9 {
		t.Errorf("six models of 7 s add %v s", more)
	}
	if more := kept.FirstSeconds - here.FirstSeconds; math.Abs(more-2*7) > 1e-9 {
		t.Errorf("the two models of the first seed add %v s", more)
	}
}
