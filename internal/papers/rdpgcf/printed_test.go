package rdpgcf

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"privrec/internal/baseline"
	"privrec/internal/dataset"
	"privrec/internal/metrics"
	"privrec/internal/protocol/nextitem"
	"privrec/internal/protocol/topn"
	"privrec/internal/protocol/topn/topntest"
)

// The text of the paper says by how much RDP-GCF beats BPRMF in the mean over the
// three data sets: 15.8 % in Recall@20, 16.3 % in NDCG@20.
func TestTable2GivesTheGainsOfTheText(t *testing.T) {
	for _, c := range []struct {
		m    metrics.Metric
		want float64
	}{{topn.Primary, 0.158}, {topn.Second, 0.163}} {
		sum := 0.0
		for _, data := range []string{"ml-1m", "gowalla", "yelp2018"} {
			ours, ok1 := PaperValue(methodRDPGCF, data, 64, 3, 5)
			base, ok2 := PaperValue(baseline.BPRMF, data, 64, 0, 0)
			if !ok1 || !ok2 {
				t.Fatalf("%s lacks a row", data)
			}
			sum += ours.Values[c.m.String()]/base.Values[c.m.String()] - 1
		}
		if got := sum / 3; math.Abs(got-c.want) > 5e-4 {
			t.Errorf("mean gain in %v %.4f, the text says %v", c.m, got, c.want)
		}
	}
}

func TestPaperValue(t *testing.T) {
	for _, c := range []struct {
		method, data string
		dim, layers  int
		epsilon      float64
		recall       float64 // 0: nothing printed
		table        string
	}{
		{"RDP-GCF", "Gowalla", 64, 3, 5, 0.1512, "table 2"},
		{"RDP-GCF", "Gowalla", 64, 3, 1, 0, ""},
		{"RDP-GCF", "Gowalla", 64, 1, 5, 0.1453, "table 3"},
		{"RDP-GCF", "Gowalla", 64, 4, 5, 0.1429, "table 3"},
		{"RDP-GCF", "Yelp", 128, 3, 5, 0.0514, "table 4"},
		{"RDP-GCF", "MovieLens-1M", 16, 3, 5, 0.2067, "table 4"},
		{"RDP-GCF", "MovieLens-1M", 16, 2, 5, 0, ""},
		{"LightGCN", "MovieLens-1M", 64, 3, 0, 0.2521, "table 2"},
		{"LightGCN", "MovieLens-1M", 64, 2, 0, 0, ""},
		{"NGCF", "Yelp", 64, 3, 0, 0.0579, "table 2"},
		{"BPRMF", "Gowalla", 64, 0, 0, 0.1291, "table 2"},
		{"BPRMF", "Gowalla", 32, 0, 0, 0, ""},
		{"EASE", "Gowalla", 0, 0, 0, 0, ""},
		{"BPRMF", "", 64, 0, 0, 0, ""},
	} {
		p, ok := PaperValue(c.method, c.data, c.dim, c.layers, c.epsilon)
		if ok != (c.recall > 0) || ok && (p.Values["Recall@20"] != c.recall || p.Table != c.table) {
			t.Errorf("%s on %s, d %d, L %d, epsilon %v: %+v %t, want %v of %s", c.method, c.data, c.dim, c.layers, c.epsilon, p, ok, c.recall, c.table)
		}
	}
}

// A setting is compared with the tables where it differs from its profile in nothing
// but data, shape and length of training.
func TestStanding(t *testing.T) {
	changed := func(change func(*Config)) Config {
		c := Default()
		change(&c)
		return c
	}
	for _, c := range []struct {
		name    string
		c       Config
		text    string
		printed bool
	}{
		{"paper", Default(), "profile paper", true},
		{"code", Code(), "profile code", true},
		{"repaired", Repaired(), "profile repaired", true},
		{"other data", changed(func(c *Config) { c.Data.Name = "ml-1m" }), "profile paper, changed: data.name=ml-1m", true},
		{"other rate", changed(func(c *Config) { c.Train.Rate = 1 }), "profile paper, changed: train.rate=1", false},
	} {
		m, err := c.c.method()
		if err != nil {
			t.Fatal(err)
		}
		if got := m.Standing; got.Text != c.text || got.Printed != c.printed {
			t.Errorf("%s: %+v, want %q, %t", c.name, got, c.text, c.printed)
		}
	}
}

// Published results are those of the split that our recipe takes whole.
func TestReferences(t *testing.T) {
	for _, data := range []string{"gowalla", "yelp2018"} {
		rows := References(data, dataset.LevelA)
		for _, method := range []string{baseline.LightGCN, baseline.BPRMF, baseline.EASE, baseline.ItemKNN} {
			if !slices.ContainsFunc(rows, func(r topn.Reference) bool { return r.Method == method }) {
				t.Errorf("nothing published of %s on %s", method, data)
			}
		}
		if References(data, dataset.LevelC) != nil {
			t.Errorf("published results stand beside %s of another split", data)
		}
		if len(rows) == 0 {
			t.Errorf("nothing published on %s", data)
		}
		for _, r := range rows {
			if r.From == "" || !(r.NDCG20 > 0 && r.NDCG20 < r.Recall20 && r.Recall20 < 0.2) {
				t.Errorf("%s: %+v", data, r)
			}
		}
	}
	if References("ml-1m", dataset.LevelB) != nil {
		t.Error("something published on our own random split")
	}
}

// A baseline's run of fewer epochs than its profile states is not set against the paper, and
// says why; one of all of them is.
func TestShortTraining(t *testing.T) {
	topntest.Published(t, "0 0 1 2\n1 1 3\n2 0 4\n3 2 3 4\n", "0 3\n1 0 4\n2 1\n3 0\n")
	baselines := topntest.Suite{Tasks: baseline.TopN(Tables(), nextitem.Table{})}
	for _, c := range []struct {
		epochs int
		short  string
	}{{1, "trained for 1 of the 300 epochs stated, ended by the cap"}, {300, ""}} {
		dir := filepath.Join(t.TempDir(), "run")
		baselines.Start(t, baselines.Task(t, "bprmf"), dir, "data.recipe=lightgcn", "train.select=last", "train.patience=0", "eval.k=[2]", "run.workers=1", fmt.Sprintf("train.epochs=%d", c.epochs))
		o := outcome(t, dir)
		if o.Short != c.short || (o.Evaluations[0].Paper == nil) != (c.short != "") {
			t.Errorf("%d epochs: %q, beside the paper's %+v; want %q", c.epochs, o.Short, o.Evaluations[0].Paper, c.short)
		}
		text, err := os.ReadFile(filepath.Join(dir, "result.txt"))
		if err != nil || strings.Contains(string(text), "against the paper  not compared") != (c.short != "") {
			t.Errorf("%d epochs, %v:\n%s", c.epochs, err, text)
		}
	}
}
