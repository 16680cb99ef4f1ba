package claims

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"privrec/internal/config"
	"privrec/internal/stats"
)

// single makes a line with one result: the mean of scores of users, each once, in percent. One
// user has a higher score than the next by turns, so that there is a spread.
func single(name string, percent float64, seeds int, users int, src *rand.Rand) *Line {
	p := &Point{Label: name, Level: "B", Values: map[string][]float64{}, Users: map[string]Users{}, Runs: []string{"run-" + name}}
	u := Users{}
	sum := 0.0
	for i := range users {
		x := percent/100 + 0.05*src.NormFloat64()
		u.IDs, u.Num, u.Den, sum = append(u.IDs, fmt.Sprintf("u%04d", i)), append(u.Num, x*float64(seeds)), append(u.Den, float64(seeds)), sum+x/float64(users)
	}
	for s := range seeds {
		p.Seeds = append(p.Seeds, uint64(s+1))
		v := percent + 0.01*src.NormFloat64()
		if users > 0 {
			v = 100 * sum
		}
		p.Values["m"] = append(p.Values["m"], v)
	}
	if users > 0 {
		p.Users["m"] = u
	}
	return &Line{Name: name, Data: "d", Points: []*Point{p}}
}

func grid(lines ...*Line) *Grid {
	return &Grid{Name: "g", Metrics: []Name{{"m", "M"}}, Data: []Name{{"d", "D"}}, Lines: lines}
}

func judged(t *testing.T, g *Grid, parts ...Part) Judged {
	t.Helper()
	r, err := Judge("p", []Claim{{ID: "c", Text: "t", Grid: "g", Parts: parts}}, []*Grid{g})
	if err != nil {
		t.Fatal(err)
	}
	return r.Claims[0]
}

// Planted results give the verdicts that they should, with what is missing said.
func TestVerdicts(t *testing.T) {
	src := rand.New(rand.NewPCG(1, 2))
	g := grid(single("high", 40, 1, 500, src), single("low", 20, 1, 500, src), single("twin", 40, 1, 500, src), single("seeds", 60, 3, 0, src), single("many", 60, 8, 0, src), single("few", 10, 8, 0, src))
	gone := single("gone", 50, 1, 500, src)
	gone.Points[0].Lacks = CutShort
	turned := single("turned", 50, 3, 500, src)
	turned.Points[0].Values["m"] = []float64{20, 50, 80} // users agree, seeds do not
	floored := single("floored", 30, 3, 500, src)
	floored.Points[0].Floors = map[string]map[string][]float64{"random": {"m": {1, 1, 1}}, "popularity": {"m": {10, 10, 10}}}
	g.Lines = append(g.Lines, gone, turned, floored)
	above := func(lines ...string) Part { return Part{Says: "above", Lines: lines} }
	for _, c := range []struct {
		name string
		part Part
		want Verdict
		why  string
	}{
		{"holds", above("high", "low"), Holds, "high less low: +"},
		{"fails", above("low", "high"), Fails, "low less high: -"},
		{"equal", above("high", "twin"), Undecided, "the interval contains 0"},
		{"one seed in common", above("high", "low", "seeds"), Untested, "one seed, and no scores of users"},
		{"three seeds", above("seeds", "few"), Undecided, "too few seeds: no two-sided p of the exact test is below 0.25"},
		{"eight seeds", above("many", "few"), Holds, "many less few: +50"},
		{"cut short", above("gone", "low"), Untested, CutShort},
		{"another seed", above("turned", "floored"), Undecided, "another seed may turn it"},
		{"by twice", Part{Says: "above", Lines: []string{"high", "low"}, By: 0.5}, Holds, "1.5 times low"},
		{"by thrice", Part{Says: "above", Lines: []string{"high", "low"}, By: 2}, Fails, "3 times low"},
		{"may be below", Part{Says: "above", Lines: []string{"twin", "high"}, By: -0.2}, Holds, "0.8 times high"},
		{"below", Part{Says: "below", Lines: []string{"low", "high", "twin"}}, Holds, "less low"},
		{"ordered", Part{Says: "ordered", Lines: []string{"high", "low", "twin"}}, Fails, "low less twin"},
		{"near", Part{Says: "near", Lines: []string{"high", "twin"}, By: 0.2}, Holds, ""},
		{"not near", Part{Says: "near", Lines: []string{"high", "low"}, By: 0.2}, Fails, ""},
		{"gain", Part{Says: "gains", Lines: []string{"high", "low"}, By: 0.5}, Holds, "mean gain"},
		{"less gain", Part{Says: "gains", Lines: []string{"high", "low", "twin", "low"}, By: 1.5}, Fails, "mean gain"},
		{"reaches", Part{Says: "reaches", Lines: []string{"high"}, By: 0.3}, Holds, "high less 30 %"},
		{"does not reach", Part{Says: "reaches", Lines: []string{"high"}, By: 0.5}, Fails, "high less 50 %"},
		{"most", Part{Says: "above", Lines: []string{"high", "low", "twin", "low"}, Most: true}, Holds, "2 of 3 hold, 0 do not"},
		{"not most", Part{Says: "above", Lines: []string{"low", "high", "twin", "low"}, Most: true}, Fails, "0 of 3 hold, 2 do not"},
		{"no line", Part{Says: "above", Lines: []string{"high", "nothing"}, Data: []string{"d"}}, Untested, "nothing is not there"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := judged(t, g, c.part)
			if got.Verdict != c.want || !strings.Contains(got.Why, c.why) {
				t.Errorf("%s, want %s: %s", got.Verdict, c.want, got.Why)
			}
		})
	}
	if got := judged(t, g, above("floored", Floor)); got.Verdict != Undecided || !strings.Contains(got.Why, "too few seeds") || *got.Parts[0].Comparisons[0].Difference < 10 {
		t.Errorf("floor, of which there are no scores of users: %+v", got)
	}
	both := judged(t, g, above("high", "low"), above("gone", "low"))
	if both.Verdict != Undecided || !strings.Contains(both.Why, "1 of 2 parts are tested and hold, on D") || !slices.Equal(both.Runs, []string{"run-high", "run-low", "run-gone"}) {
		t.Errorf("part of it: %+v", both)
	}
}

// A claim on an axis: its course, its top and what it loses.
func TestCourses(t *testing.T) {
	src := rand.New(rand.NewPCG(3, 4))
	l := &Line{Name: "l", Data: "d", Axis: "x"}
	for i, v := range []float64{10, 20, 40, 30} {
		p := single("l", v, 1, 400, src).Points[0]
		p.Value = float64(i + 1)
		l.Points = append(l.Points, p)
	}
	g := grid(l)
	for _, c := range []struct {
		part Part
		want Verdict
	}{
		{Part{Says: "rises", Lines: []string{"l"}}, Fails}, // from 40 to 30
		{Part{Says: "rises", Lines: []string{"l"}, Ends: true}, Holds},
		{Part{Says: "falls", Lines: []string{"l"}}, Fails},
		{Part{Says: "peaks", Lines: []string{"l"}, At: []float64{3}}, Holds},
		{Part{Says: "peaks", Lines: []string{"l"}, At: []float64{4}}, Fails},
		{Part{Says: "dips", Lines: []string{"l"}, At: []float64{1}}, Holds},
		{Part{Says: "keeps", Lines: []string{"l"}, Share: 0.5}, Holds},
		{Part{Says: "loses", Lines: []string{"l"}, Share: 0.5}, Fails},
	} {
		if got := judged(t, g, c.part); got.Verdict != c.want {
			t.Errorf("%s: %s, want %s: %s", c.part.words("M"), got.Verdict, c.want, got.Why)
		}
	}
}

// The correction is Holm's over both directions of strict differences and the lower one of
// others, here against values by hand, with those that were not tested at 1.
func TestCorrection(t *testing.T) {
	family := []*test{
		{contrast: contrast{strict: true}, measured: measured{above: 0.004, below: 1}},
		{contrast: contrast{strict: true}, measured: measured{above: 1, below: 0.001}},
		{contrast: contrast{}, measured: measured{above: 0.0001, below: 0.02}},
		{contrast: contrast{strict: true}, measured: measured{above: 1, below: 1}}, // not tested
	}
	if err := correct(family); err != nil {
		t.Fatal(err)
	}
	// seven hypotheses: 7 x 0.001, 6 x 0.004, 5 x 0.02, then 1
	for i, want := range [][2]float64{{0.024, 1}, {1, 0.007}, {1, 0.1}, {1, 1}} {
		if got := [2]float64{family[i].above, family[i].below}; math.Abs(got[0]-want[0]) > 1e-15 || math.Abs(got[1]-want[1]) > 1e-15 {
			t.Errorf("%d: %v, want %v", i, got, want)
		}
	}
}

// In papers whose methods do not differ at all, a verdict for or against any of 20 claims is a
// false alarm. 400 such papers have at most a share of 5 %: the test allows 51 (of Binomial
// (400, 0.05) more have a probability below 1e-9) and, so that it can fail, the same papers without
// correction have more than 100.
func TestFalseAlarms(t *testing.T) {
	src := rand.New(rand.NewPCG(5, 6))
	alarms, raw := 0, 0
	for range 400 {
		g := grid()
		var list []Claim
		for k := range 20 {
			a, b := fmt.Sprint("a", k), fmt.Sprint("b", k)
			g.Lines = append(g.Lines, single(a, 30, 1, 60, src), single(b, 30, 1, 60, src))
			list = append(list, Claim{ID: a, Text: "t", Grid: "g", Parts: []Part{{Says: "above", Lines: []string{a, b}}}})
		}
		r, err := Judge("p", list, []*Grid{g})
		if err != nil {
			t.Fatal(err)
		}
		if r.Count.Hold+r.Count.Fail > 0 {
			alarms++
		}
		if slices.ContainsFunc(r.Claims, func(j Judged) bool { return *j.Parts[0].Comparisons[0].P <= 0.05 }) {
			raw++
		}
	}
	t.Logf("false alarms in %d of 400 papers, without correction in %d", alarms, raw)
	if alarms > 51 || raw < 100 {
		t.Errorf("false alarms in %d of 400 papers, without correction in %d", alarms, raw)
	}
}

// The values of users that a contrast is judged by have it as their mean, over the users whom
// both results have, and weigh a user by samples.
func TestByUser(t *testing.T) {
	point := func(u Users) *Point { return &Point{Users: map[string]Users{"m": u}} }
	a := point(Users{IDs: []string{"a", "b", "c"}, Num: []float64{1, 6, 50}, Den: []float64{2, 8, 50}})
	b := point(Users{IDs: []string{"a", "b", "d"}, Num: []float64{1, 2, 50}, Den: []float64{4, 4, 50}})
	c := contrast{metric: "m", terms: []term{{of: a, factor: 1}, {of: b, factor: -1}}}
	got := c.byUser()
	// a: 7/10, b: 3/8 over users a and b
	if len(got) != 2 || math.Abs((got[0]+got[1])/2-100*(7./10-3./8)) > 1e-12 {
		t.Errorf("%v", got)
	}
	// user a: 0.325 + (1 - 0.7 2) 2/10 - (1 - 0.375 4) 2/8
	if math.Abs(got[0]-100*(0.325-0.08+0.125)) > 1e-12 {
		t.Errorf("%v", got)
	}
	c.terms[1].of = point(Users{})
	if got := c.byUser(); got != nil {
		t.Errorf("without scores: %v", got)
	}
}

// The spread of a mean relative gain over users is that of many draws of users. From 200
// users it is known to 5 %, so that 30 % is six of its standard errors.
func TestGainSpread(t *testing.T) {
	src := rand.New(rand.NewPCG(7, 8))
	var values []float64
	var first float64
	for i := range 2000 {
		a, b := single("a", 40, 1, 200, src), single("b", 20, 1, 200, src)
		c := contrast{metric: "m", ratio: true, less: 10, terms: []term{{of: a.Points[0], data: "d"}, {of: b.Points[0], data: "d"}}}
		u := c.byUser()
		values = append(values, stats.Mean(u))
		if i == 0 {
			first = stats.StdErr(u)
		}
	}
	if sd := stats.SD(values); math.Abs(first/sd-1) > 0.3 || math.Abs(stats.Mean(values)-90) > 1 {
		t.Errorf("standard error %v of one, deviation %v of many; mean %v, want 90", first, sd, stats.Mean(values))
	}
}

// An accounted epsilon is held against the claimed one for its unit, with what is open; a
// training that was cut short can refute it alone.
func TestEpsilon(t *testing.T) {
	src := rand.New(rand.NewPCG(9, 10))
	none := math.NaN()
	with := func(name, lacks string, e ...Epsilon) *Line {
		l := single(name, 30, 1, 0, src)
		l.Points[0].Account, l.Points[0].Lacks = e, lacks
		return l
	}
	edge := Epsilon{Unit: "edge", Delta: 1e-5, Claimed: none, Accounted: 5, Noise: 5}
	open := Epsilon{Unit: "edge", Delta: 1e-5, Claimed: 5, Accounted: math.Inf(1), Noise: 7, Open: []string{"labels"}}
	user := Epsilon{Unit: "user", Delta: 1e-5, Claimed: none, Accounted: 900, Noise: 900}
	whole := Epsilon{Unit: WholeRun, Delta: none, Claimed: 0.4, Accounted: math.Inf(1), Noise: none, Open: []string{"pairs"}}
	g := grid(with("kept", "", edge, user), with("open", "", open), with("short", CutShort, open), with("short kept", CutShort, edge), with("nothing", ""), with("whole", "", whole))
	for _, c := range []struct {
		line    string
		claimed float64
		want    Verdict
		why     string
	}{
		{"short kept, noise before", 5, Holds, "claimed 5, accounted 5 for one edge"},
		{"short, noise before", 5, Fails, "claimed 5, accounted infinity"},
		{"kept", 5, Holds, "claimed 5, accounted 5 for one edge"},
		{"kept", 4.9, Fails, "claimed 4.9, accounted 5 for one edge"},
		{"kept", 0, Untested, "the runs claim no epsilon"},
		{"open", 0, Fails, "claimed 5, accounted infinity for one edge (the noise alone: 7); without noise: labels"},
		{"short", 5, Fails, "already in a training that was cut short"},
		{"short kept", 5, Untested, CutShort},
		{"nothing", 5, Untested, "the runs have no account of one edge"},
		{"whole", 0.4, Fails, "without noise: pairs"},
	} {
		line, before := strings.CutSuffix(c.line, ", noise before")
		p := Part{Says: "epsilon", Lines: []string{line}, Unit: "edge", Claimed: c.claimed, Before: before}
		got := judged(t, g, p)
		if got.Verdict != c.want || !strings.Contains(got.Why, c.why) {
			t.Errorf("%s at %v: %s, want %s: %s", c.line, c.claimed, got.Verdict, c.want, got.Why)
		}
	}
}

const file = `paper: p
claims:
  - id: c1
    text: a above b
    where: Table 1
    grid: g
    parts: [{says: above, lines: [a, b]}]
  - id: c2
    text: nothing
    where: Table 2
    lacks: no grid
`

// A file of claims loads; every way to be wrong is an error with file and line.
func TestParse(t *testing.T) {
	src := rand.New(rand.NewPCG(11, 12))
	g := []*Grid{grid(single("a", 1, 1, 0, src), single("b", 1, 1, 0, src))}
	if p, err := Parse("p.yaml", []byte(file), g); err != nil || len(p.Claims) != 2 {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ old, new, want string }{
		"no paper":    {"paper: p", "paper: ''", "p.yaml:1:8: paper: must not be empty"},
		"unknown":     {"lines: [a, b]", "lines: [a, c]", `p.yaml:7:38: claims.0.parts.0.lines.1: "c" is not a row of the grid`},
		"grid":        {"grid: g", "grid: h", `p.yaml:6:11: claims.0.grid: "h" is not a grid of the paper; there are g`},
		"statement":   {"says: above", "says: abvoe", "p.yaml:7:20: claims.0.parts.0.says: must be one of rises, falls, above"},
		"metric":      {"says: above", "says: above, metric: n", `claims.0.parts.0.metric: "n" is not among the grid's metrics`},
		"data":        {"says: above", "says: above, data: [e]", `claims.0.parts.0.data.0: "e" is not among the grid's data`},
		"twice":       {"id: c2", "id: c1", "claims.1.id: c1 is there already"},
		"neither":     {"lacks: no grid", "lacks: ''", "claims.1.parts: must name at least one, or lacks must say why none can be tested"},
		"no place":    {"where: Table 1", "where: ''", "claims.0.where: must say where in the paper the sentence stands"},
		"by of rises": {"says: above, lines: [a, b]", "says: rises, lines: [a], by: 0.1", "claims.0.parts.0.by: belongs to above, below, near, reaches and gains, not to rises"},
		"one value":   {"says: above, lines: [a, b]", "says: rises, lines: [a]", "claims.0.parts.0.lines: on D: a has one value"},
		"odd gain":    {"says: above, lines: [a, b]", "says: gains, lines: [a, b, a]", "claims.0.parts.0.lines: must be pairs, the upper one first, got 3 lines"},
		"no unit":     {"says: above, lines: [a, b]", "says: epsilon, lines: [a]", "claims.0.parts.0.unit: must name a unit of privacy, as in edge"},
		"p":           {"says: above", "says: above, p: 1.5", "claims.0.parts.0.p: must lie in [0,1), got 1.5"},
		"wide":        {"says: above", "says: near, by: 2", "claims.0.parts.0.by: must lie in (0,1), got 2"},
		"grids":       {"says: above", "says: above, grids: [g]", "claims.0.parts.0.grids: must name one for each line, got 1 for 2"},
		"their grid":  {"says: above", "says: above, grids: [g, h]", `claims.0.parts.0.grids.1: "h" is not a grid of the paper; there are g`},
	} {
		if !strings.Contains(file, c.old) {
			t.Fatalf("%s: the file has no %q", name, c.old)
		}
		_, err := Parse("p.yaml", []byte(strings.Replace(file, c.old, c.new, 1)), g)
		if err == nil || !config.Is(err) || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "p.yaml:") {
			t.Errorf("%s: got %v\nwant %s", name, err, c.want)
		}
	}
}

// The overview counts every claim once, and its last line is the sum.
func TestOverview(t *testing.T) {
	list := []*Result{{Paper: "a", Count: Count{5, 1, 2, 1, 1}}, {Paper: "b", Count: Count{3, 0, 1, 0, 2}}}
	rows := Overview(list).Rows
	if got := fmt.Sprint(rows); got != "[[a 5 1 2 1 1] [b 3 0 1 0 2] [all 8 1 3 1 3]]" {
		t.Error(got)
	}
}
