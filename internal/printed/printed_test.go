package printed

import (
	"math"
	"strings"
	"testing"
	"testing/fstest"

	"privrec/configs"
)

func load(t *testing.T) map[string]*File {
	t.Helper()
	files, err := Load(configs.Files())
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]*File{}
	for _, f := range files {
		out[f.Paper] = f
	}
	if len(out) != len(files) || files[len(files)-1].Paper != Reference {
		t.Fatalf("%d files of %d papers, or the reference is not the last", len(files), len(out))
	}
	return out
}

// TestBuiltIn counts what was transcribed: a number that is lost or added shows here.
func TestBuiltIn(t *testing.T) {
	files := load(t)
	for _, want := range []struct {
		paper                  string
		blocks, cells, numbers int
		sentences              int
	}{
		{"dipsgnn", 7, 159, 151, 12},
		{"exposure", 13, 224, 224, 15},
		{"gerai", 6, 359, 359, 12},
		{"pricdsr", 3, 137, 137, 2},
		{"rdpgcf", 5, 84, 84, 4},
		{Reference, 37, 1369, 1154, 0},
	} {
		f := files[want.paper]
		numbers, values := 0, f.Values()
		for _, v := range values {
			if v.Number.Value != nil {
				numbers++
			}
			if v.Line == 0 || v.Where == "" || v.Metric.Unit == "" {
				t.Errorf("%s: %s lacks a line, a source or a unit: %+v", want.paper, v.Place(), v)
			}
		}
		if len(f.Blocks) != want.blocks || len(values) != want.cells || numbers != want.numbers || len(f.Sentences) != want.sentences {
			t.Errorf("%s: %d blocks, %d cells, %d of them numbers, %d sentences; want %+v", want.paper, len(f.Blocks), len(values), numbers, len(f.Sentences), want)
		}
	}
}

// TestKnownNumbers holds single numbers of every paper against its text.
func TestKnownNumbers(t *testing.T) {
	files := load(t)
	for _, want := range []struct {
		paper, place, text string
		seeds              int
		setting            string
	}{
		{"dipsgnn", "Table 1, ML-1M, Avg. Length", "96.07", 0, ""},
		{"dipsgnn", "Table 2, Tmall, LightGCN, M@10", "OOM", 5, ""},
		{"dipsgnn", "Table 2, Tmall, DPMF_exp (eps2 5), R@20", "-", 5, "eps2 5"},
		{"dipsgnn", "Table 2, ML-1M, DIPSGNN (eps1 20, eps2 5), R@10", "14.04", 5, "eps1 20, eps2 5"},
		{"pricdsr", "Table 3, CD<-Book, PriCDSR-DASL (eps 50), NDCG@10", "0.1532 ± 0.0049", 3, "eps 50"},
		{"pricdsr", "Table 2, CD<-Book, DASL, HR@10", "0.2851 ± 0.0048", 3, ""},
		{"gerai", "Table 2, ML-100K, RAP (attribute age), F1 K=10", "0.650", 5, "K 10, attacker network, attribute age"},
		{"gerai", "Table 4, ML-100K, GERAI-NL, F1 Occ", "0.270", 5, "K 5, attacker network, attribute occupation"},
		{"gerai", "Table 5, ML-100K, BPR (attribute gender), F1 GP", "0.672", 5, "K 5, attacker Gaussian process, attribute gender"},
		{"rdpgcf", "Table 4, Gowalla, RDP-GCF (L 3, d 128, eps 5), NDCG@20", "0.1317", 5, "L 3, d 128, eps 5"},
		{"exposure", "Table 6, Zhihu, Mean (decoder transformer), MRR@5", "0780", 3, "decoder transformer"},
		{"exposure", "Table 4, MIND, Max (decoder lstm), Rec@20", "0.9837", 3, "decoder lstm"},
		{Reference, "ngcf-paper-table, Gowalla, NGCF-3, NDCG@20", "0.1327", 0, ""},
		{Reference, "ngcf-paper-table, Amazon-Book, MF (BPR), Recall@20", "0.0250", 0, ""},
	} {
		found := false
		for _, v := range files[want.paper].Values() {
			if v.Place() != want.place || v.Improvement {
				continue
			}
			found = true
			if v.Number.String() != want.text || v.Seeds != want.seeds || v.Setting.String() != want.setting {
				t.Errorf("%s: %s: %q, %d seeds, %q; want %q, %d, %q", want.paper, want.place, v.Number, v.Seeds, v.Setting, want.text, want.seeds, want.setting)
			}
		}
		if !found {
			t.Errorf("%s has no %s", want.paper, want.place)
		}
	}
}

func TestNumber(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		text      string
		value     float64
		low, high float64
		shown     string
		spread    string
		slip      bool
	}{
		{"2.20", 2.2, 2.195, 2.205, "2.20", "", false},
		{"365535", 365535, 365534.5, 365535.5, "365535", "", false},
		{"0.1754±0.0013", 0.1754, 0.17535, 0.17545, "0.1754 ± 0.0013", "0.0013", false},
		{"0780 -> 0.0780", 0.078, 0.07795, 0.07805, "0780", "", true},
		{"OOM", nan, nan, nan, "OOM", "", false},
		{"-", nan, nan, nan, "-", "", false},
	} {
		var n Number
		if err := n.UnmarshalText([]byte(c.text)); err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		low, high := n.Range()
		near := func(a, b float64) bool { return math.IsNaN(a) && math.IsNaN(b) || math.Abs(a-b) < 1e-9 }
		if !near(low, c.low) || !near(high, c.high) || n.String() != c.shown || n.Slip != c.slip || (n.Spread == nil) != (c.spread == "") || n.Spread != nil && n.Spread.Text != c.spread {
			t.Errorf("%s: %+v, from %g to %g, shown as %q", c.text, n, low, high, n)
		}
		if (n.Value == nil) != math.IsNaN(c.value) || n.Value != nil && *n.Value != c.value {
			t.Errorf("%s: value %v, want %g", c.text, n.Value, c.value)
		}
	}
	for _, text := range []string{"", "oom", "1e3", "1.", ".5", "0.1±", "0.1 ± 0.2", "--", "OOM -> 1", "NaN5", "1,5"} {
		var n Number
		if err := n.UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q was read as %+v", text, n)
		}
	}
}

const good = `paper: p
cite: c
year: 2020
metrics:
  R: {is: Recall@20, unit: share}
blocks:
  - table: 1
    where: section 1
    kind: results
    data: D
    columns: [R]
    test: {name: t-test, p_below: 0.01}
    rows:
      - {method: A, values: [0.10]}
      - {method: B, values: [OOM]}
    improvements:
      - {method: A, over: B, values: [9.1]}
sentences:
  - {where: section 1, about: a gain, value: 9.1, unit: percent, gain: {table: 1, method: A, over: B}}
`

// TestBadFiles changes one thing of a good file and wants an error with its line and field.
func TestBadFiles(t *testing.T) {
	if _, err := Parse("p.yaml", []byte(good)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ old, new, want string }{
		{"paper: p", "paper: ''", "p.yaml:1:8: paper: must not be empty"},
		{"year: 2020", "year: 20", "p.yaml:3:7: year:"},
		{"Recall@20", "Recal@20", "p.yaml:5:11: metrics.R.is: \"Recal@20\" is no metric"},
		{"Recall@20", "Recall", "is no metric"},
		{"unit: share", "unit: parts", "metrics.R.unit: must be one of percent, share, count, number"},
		{"table: 1\n    where", "where", "blocks.0.id: a block has one of table, figure and id, got 0"},
		{"table: 1\n    where", "table: 1\n    figure: 1\n    where", "got 2 of them"},
		{"kind: results", "kind: result", "blocks.0.kind: must be one of results, data"},
		{"[R]", "[S]", "p.yaml:11:15: blocks.0.columns.0: \"S\" is not among the file's metrics"},
		{"[R]", "[R, R]", "\"R\" is there already"},
		{"[0.10]", "[0.10, 0.20]", "p.yaml:14:29: blocks.0.rows.0.values: 2 numbers for 1 columns"},
		{"[0.10]", "[0,10]", "2 numbers for 1 columns"},
		{"[0.10]", "[.10]", "p.yaml:14:30: blocks.0.rows.0.values.0: want a number as printed"},
		{"method: B, values", "method: A, values", "p.yaml:15:9: blocks.0.rows.1: the same data, method and setting as row 1"},
		{"    data: D\n", "", "blocks.0.rows.0.data: must name the data set"},
		{"over: B, values", "values", "blocks.0.improvements.0.over: must name the method"},
		{"    improvements:\n      - {method: A, over: B, values: [9.1]}\n", "", "blocks.0.test: there are no improvements"},
		{"gain: {table: 1", "gain: {table: 2", "sentences.0.gain.table: there is no table 2"},
		{"method: A, over: B}}", "method: C, over: B}}", "sentences.0.gain.method: \"C\" has no row"},
		{"value: 9.1", "value: OOM", "sentences.0.value: must be a number"},
		{"values: [OOM]", "value: [OOM]", "unknown key"},
	} {
		text := strings.Replace(good, c.old, c.new, 1)
		if text == good {
			t.Fatalf("%q is not in the good file", c.old)
		}
		if _, err := Parse("p.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q in place of %q:\n got %v\nwant %s", c.new, c.old, err, c.want)
		}
	}
	_, err := Load(fstest.MapFS{"printed/p.yaml": {Data: []byte("paper: [")}})
	if err == nil || !strings.Contains(err.Error(), "configs/printed/p.yaml:1") {
		t.Errorf("a broken built-in file: %v", err)
	}
}

func TestFamily(t *testing.T) {
	for is, want := range map[string]struct {
		family string
		k      int
	}{"Recall@20": {"Recall", 20}, "Hit@5": {"HR", 5}, "HR@10": {"HR", 10}, "micro F1": {"micro F1", 0}, "users": {"users", 0}} {
		if family, k := (Metric{Is: is}).Family(); family != want.family || k != want.k {
			t.Errorf("%s: %s at %d", is, family, k)
		}
	}
}
