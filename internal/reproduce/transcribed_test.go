package reproduce

import (
	"fmt"
	"strings"
	"testing"

	"privrec/configs"
	"privrec/internal/papers"
	"privrec/internal/printed"
)

// place is a printed number by paper, table, data, method, setting and column, in words that
// grids and transcriptions share.
type place struct{ paper, table, data, method, setting, column string }

// shared translates words of grids into those of transcriptions.
var shared = strings.NewReplacer(
	"mean encoder", "Mean", "max encoder", "Max", "attention encoder", "Att",
	"decision tree", "DT", "k nearest neighbours, k = 2", "KNN", "naive Bayes, Gaussian", "NB", "Gaussian process", "GP",
	" from ", "<-",
)

// ofGrid returns the place of a grid's number.
func ofGrid(g *Grid, r *Row, metric int) place {
	p := place{paper: g.Paper, table: fmt.Sprint(g.Table), method: shared.Replace(r.Method), setting: shared.Replace(r.Variant), column: g.Metrics[metric].Printed}
	for _, d := range g.Data {
		if d.Name == r.Data {
			p.data = d.Printed
		}
	}
	switch {
	case g.Paper == "pricdsr" && g.Table == 1:
		p.data, p.method = p.method, ""
	case g.Paper == "pricdsr":
		p.data, p.setting, _ = strings.Cut(p.setting, ", ")
		p.setting = strings.Replace(p.setting, "epsilon", "eps", 1)
		if g.Table == 2 && p.method == "PriCDSR-DASL" {
			p.setting = "eps 10"
		}
	case g.Unit == count && p.column != "Dimensions":
		p.method, p.data = "", strings.TrimSuffix(p.data, ", the authors' release")
	case g.Paper == "dipsgnn", g.Paper == "rdpgcf" && g.Table == 2:
		p.setting = ""
	case g.Paper == "gerai" && strings.HasPrefix(p.column, "F1 "):
		p.column = strings.TrimPrefix(p.column, "F1 ")
		if g.Table == 4 {
			p.setting = "K = 5"
		}
	}
	return p
}

// ofTranscription returns the place of a transcribed number.
func ofTranscription(v printed.Value) place {
	p := place{v.Paper, fmt.Sprint(v.Table), v.Data, v.Method, "", v.Column}
	switch {
	case v.Improvement:
		p.method += " over " + v.Over
	case v.Paper == "pricdsr" && v.Setting["eps"] != "":
		p.setting = "eps " + string(v.Setting["eps"])
	case v.Paper == "rdpgcf" && v.Table == 3:
		p.setting = "L " + string(v.Setting["L"])
	case v.Paper == "rdpgcf" && v.Table == 4:
		p.setting = "d " + string(v.Setting["d"])
	case v.Paper == "gerai" && v.Setting["attribute"] != "":
		p.setting, p.column = "K = "+string(v.Setting["K"]), string(v.Setting["attribute"])
		if v.Table == 5 {
			p.setting = strings.TrimPrefix(v.Column, "F1 ")
		}
	}
	return p
}

// inSentences are printed numbers of data sets that stand in sentences: of the grid that counts
// the data, its column, and what the sentence is about.
var inSentences = map[string]place{
	"ratings of ML-100K": {"gerai", "1", "ML-100K", "", "", "Ratings"},
	"users of ML-100K":   {"gerai", "1", "ML-100K", "", "", "Users"},
	"items of ML-100K":   {"gerai", "1", "ML-100K", "", "", "Items"},
	"pairs of Zhihu":     {"exposure", "2", "Zhihu", "", "", "pairs"},
	"pairs of MIND":      {"exposure", "2", "MIND", "", "", "pairs"},
}

// Every transcribed number of a table is in exactly one cell of a grid, with the same digits, and
// every printed number of a grid is transcribed. So the number of cells is that of transcribed
// numbers.
func TestTranscribed(t *testing.T) {
	grids, err := BuiltIn(configs.Files(), papers.All())
	if err != nil {
		t.Fatal(err)
	}
	files, err := printed.Load(configs.Files())
	if err != nil {
		t.Fatal(err)
	}
	want, units := map[place]float64{}, map[place]string{}
	add := func(p place, x float64, unit string) {
		if _, twice := want[p]; twice {
			t.Errorf("%+v is transcribed twice", p)
		}
		want[p], units[p] = x, unit
	}
	for _, f := range files {
		if f.Paper == printed.Reference {
			continue
		}
		for _, v := range f.Values() {
			if v.Number.Value != nil {
				add(ofTranscription(v), *v.Number.Value, v.Metric.Unit)
			}
		}
		for _, s := range f.Sentences {
			if p, ok := inSentences[s.About]; ok {
				add(p, *s.Value.Value, s.Unit)
			}
		}
	}
	if len(want) < 900 {
		t.Fatalf("%d numbers are transcribed, the test looks in the wrong place", len(want))
	}
	cells := 0
	for _, g := range grids {
		for _, r := range append(g.Rows, g.gainRows()...) {
			for k := range g.Metrics {
				x := r.printed(k)
				if x == nil || r.Again {
					continue
				}
				cells++
				p := ofGrid(g, &r, k)
				was, ok := want[p]
				switch unit := units[p]; {
				case !ok:
					t.Errorf("%s: %+v is not transcribed, or in a grid twice", g.Name, p)
				case was != *x:
					t.Errorf("%s: %+v is %v, and transcribed as %v", g.Name, p, *x, was)
				case unit != g.Unit && g.Unit != count && !strings.Contains(p.method, " over "):
					t.Errorf("%s: %+v is in %s, and transcribed in %s", g.Name, p, g.Unit, unit)
				}
				delete(want, p)
			}
		}
	}
	for p, x := range want {
		t.Errorf("%+v, %v, is in no grid", p, x)
	}
	t.Logf("%d cells", cells)
}
