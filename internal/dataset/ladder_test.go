package dataset

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestCompareAndGrade(t *testing.T) {
	ladder := Ladder{{Name: RungRaw, Users: 5, Items: 7, Rows: 20}, {Name: RungTrain, Users: 5, Items: 6, Rows: 15, Samples: 10}}
	paper := Want{Rung: Rung{Name: RungTrain, Rows: 15, Samples: 10}, Paper: true, From: "table 1"}
	own := Want{Rung: Rung{Name: RungRaw, Users: 5}, From: "README"}
	wrong := Want{Rung: Rung{Name: RungRaw, Items: 8}, From: "README"}
	missing := Want{Rung: Rung{Name: "10-core", Users: 3}, Paper: true, From: "table 1"}
	for _, c := range []struct {
		name           string
		wants          []Want
		standIn        bool
		from           origin
		random         bool
		checks, failed int
		level          Level
	}{
		{"all equal", []Want{paper, own}, false, splitOwn, false, 3, 0, LevelB},
		{"authors' split", []Want{paper}, false, splitPublished, false, 2, 0, LevelA},
		{"rows held out of it by a seed", []Want{paper}, false, splitPublished, true, 2, 0, LevelB},
		{"a split that nothing identifies", []Want{paper}, false, splitUnknown, false, 2, 0, LevelB},
		{"another split of equal counts", []Want{paper}, false, splitOther, false, 2, 0, LevelC},
		{"rows held out of another split", []Want{paper}, false, splitOther, true, 2, 0, LevelC},
		{"no paper's count", []Want{own}, false, splitPublished, false, 1, 0, LevelC},
		{"a count off", []Want{paper, wrong}, false, splitOwn, false, 3, 1, LevelC},
		{"a rung missing", []Want{paper, missing}, false, splitPublished, false, 3, 1, LevelC},
		{"stand-in", []Want{paper}, true, splitPublished, false, 2, 0, LevelD},
		{"nothing to compare", nil, false, splitOwn, false, 0, 0, LevelC},
	} {
		checks := ladder.Compare(c.wants)
		failed := 0
		for _, k := range checks {
			if !k.OK() {
				failed++
			}
		}
		if got := grade(c.standIn, c.from, c.random, checks); got != c.level || len(checks) != c.checks || failed != c.failed {
			t.Errorf("%s: level %v, %d checks, %d failed", c.name, got, len(checks), failed)
		}
	}
	for _, v := range []Level{LevelA, LevelB, LevelC, LevelD} {
		b, err := json.Marshal(v)
		var back Level
		if err != nil || json.Unmarshal(b, &back) != nil || back != v || v.Meaning() == "" {
			t.Errorf("level %v is %s in JSON and %v read back", v, b, back)
		}
	}
	if json.Unmarshal([]byte(`"E"`), new(Level)) == nil {
		t.Error("level E was read")
	}
	if got := (Check{Rung: "raw", Count: "items", Want: 8, Got: 7, From: "README"}).String(); got != "raw: 7 items, differs from 8 (README)" {
		t.Error(got)
	}
}

func TestStats(t *testing.T) {
	for _, c := range []struct {
		counts []int
		want   float64
	}{{[]int{3, 3, 3}, 0}, {[]int{0, 0, 9, 0}, 0.75}, {[]int{1, 2, 3, 4}, 0.25}, {[]int{0, 0}, 0}, {nil, 0}} {
		if got := gini(c.counts); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("gini of %v is %v, want %v", c.counts, got, c.want)
		}
	}
	l := logOf([4]int{1, 1, 1, 1}, [4]int{1, 2, 1, 1}, [4]int{1, 1, 2, 1}, [4]int{2, 1, 1, 1})
	want := Stats{Users: 2, Items: 2, Rows: 4, Density: 1, Gini: 0.25, Mean: 2, Lengths: [7]float64{1, 1.1, 1.5, 2, 2.5, 2.9, 3}}
	if d := cmp.Diff(want, l.Stats(), cmpopts.EquateApprox(0, 1e-12)); d != "" {
		t.Error(d)
	}
}

func TestFeaturesFor(t *testing.T) {
	f := &Features{UserIDs: []string{"1", "2", "3"}, Columns: []Column{
		{Name: "age", Kind: Numeric, Numbers: []float64{20, math.NaN(), 40}},
		{Name: "job", Codes: []int32{2, -1, 0}, Levels: []string{"clerk", "nurse", "smith"}},
	}}
	got, err := f.For([]string{"2", "1"}, []string{"job", "age"})
	if err != nil {
		t.Fatal(err)
	}
	want := &Features{UserIDs: []string{"2", "1"}, Columns: []Column{
		{Name: "job", Codes: []int32{-1, 0}, Levels: []string{"smith"}},
		{Name: "age", Kind: Numeric, Numbers: []float64{math.NaN(), 20}},
	}}
	if d := cmp.Diff(want, got, cmpopts.EquateNaNs()); d != "" {
		t.Error(d)
	}
	if got.Width() != 2 || f.Width() != 4 {
		t.Errorf("widths %d, %d", got.Width(), f.Width())
	}
	if lo, hi, ok := f.Columns[0].Range(); lo != 20 || hi != 40 || !ok {
		t.Errorf("range %v..%v", lo, hi)
	}
	if _, _, ok := f.Columns[1].Range(); ok {
		t.Error("a categorical column has a range")
	}
	// among keeps what a filtered log can ask for and For answers the same from it.
	few := f.Among([]string{"1", "3", "9"})
	if d := cmp.Diff([]string{"1", "3"}, few.UserIDs); d != "" {
		t.Error(d)
	}
	whole, _ := f.For([]string{"3"}, nil)
	part, err := few.For([]string{"3"}, nil)
	if d := cmp.Diff(whole, part); d != "" || err != nil {
		t.Errorf("%s %v", d, err)
	}
	if _, err := few.For([]string{"9"}, nil); err == nil {
		t.Error("a user without features has some")
	}
	if f.Columns[1].Codes[0] != 2 {
		t.Error("For changed its receiver")
	}
}
