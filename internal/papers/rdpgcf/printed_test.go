package rdpgcf

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"privrec/internal/dataset"
	"privrec/internal/metrics"
	"privrec/internal/run/runtest"
)

// The text of the paper says by how much RDP-GCF beats BPRMF in the mean over the
// three data sets: 15.8 % in Recall@20, 16.3 % in NDCG@20.
func TestTable2GivesTheGainsOfTheText(t *testing.T) {
	for _, c := range []struct {
		m    metrics.Metric
		want float64
	}{{primary, 0.158}, {second, 0.163}} {
		sum := 0.0
		for _, data := range paperNames {
			ours, ok1 := PaperValue(methodRDPGCF, data, 64, 3, 5)
			base, ok2 := PaperValue(methodBPRMF, data, 64, 0, 0)
			if !ok1 || !ok2 {
				t.Fatalf("%s lacks a row", data)
			}
			sum += ours.share(c.m)/base.share(c.m) - 1
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
		if ok != (c.recall > 0) || ok && (p.Recall20 != c.recall || p.Table != c.table) {
			t.Errorf("%s on %s, d %d, L %d, epsilon %v: %+v %t, want %v of %s", c.method, c.data, c.dim, c.layers, c.epsilon, p, ok, c.recall, c.table)
		}
	}
	if p, _ := PaperValue("RDP-GCF", "Gowalla", 64, 3, 5); !math.IsNaN(p.share(metrics.Metric{Kind: metrics.Recall, K: 10})) {
		t.Error("a number for Recall@10, which the paper does not print")
	}
}

// A setting is compared with the tables where it differs from its profile in nothing
// but data, shape and length of training.
func TestStanding(t *testing.T) {
	mf := func(change func(*Setting[MFShape])) setting {
		s := DefaultMF()
		change(&s)
		return s
	}
	for _, c := range []struct {
		name    string
		s       setting
		text    string
		printed bool
	}{
		{"paper", Default(), "profile paper", true},
		{"code", Code(), "profile code", true},
		{"repaired", Repaired(), "profile repaired", true},
		{"LightGCN's code", CodeLightGCN(), "profile code", true},
		{"NGCF", DefaultNGCF(), "profile paper", true},
		{"other data", mf(func(s *Setting[MFShape]) { s.Data.Name = "ml-1m" }), "profile paper, changed: data.name=ml-1m", true},
		{"shorter", mf(func(s *Setting[MFShape]) { s.Train.Epochs = 3 }), "profile paper, changed: train.epochs=3", true},
		{"other rate", mf(func(s *Setting[MFShape]) { s.Train.Rate = 1 }), "profile paper, changed: train.rate=1", false},
		{"other ranking", mf(func(s *Setting[MFShape]) { s.Eval.Sigmoid = true }), "profile paper, changed: eval.sigmoid=true", false},
		{"own", mf(func(s *Setting[MFShape]) { s.Profile = "mine" }), `own setting "mine"`, false},
	} {
		got, err := c.s.standing()
		if err != nil {
			t.Fatal(err)
		}
		if got.text != c.text || got.printed != c.printed {
			t.Errorf("%s: %+v, want %q, %t", c.name, got, c.text, c.printed)
		}
	}
}

// Published results are those of the split that our recipe takes whole.
func TestReferences(t *testing.T) {
	for _, data := range []string{"gowalla", "yelp2018"} {
		rows := References(data, dataset.LevelA)
		for _, method := range []string{methodLightGCN, methodBPRMF, methodEASE, methodItemKNN} {
			if !slices.ContainsFunc(rows, func(r Reference) bool { return r.Method == method }) {
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

// A run of fewer epochs than its profile states is not set against the paper, and says why; one
// of all of them is.
func TestShortTraining(t *testing.T) {
	for _, c := range []struct {
		epochs int
		short  string
	}{{1, "trained for 1 of the 300 epochs stated, ended by the cap"}, {300, ""}} {
		dir, err := onPublished(t, goodTrain, goodTest, "model.dim=64", "train.batch=1024", "train.rate=0.001", fmt.Sprintf("train.epochs=%d", c.epochs))
		if err != nil {
			t.Fatal(err)
		}
		o := runtest.ReadJSON[Outcome](t, dir, "metrics.json", true)
		if o.Short != c.short || (o.Evaluations[0].Paper == nil) != (c.short != "") {
			t.Errorf("%d epochs: %q, beside the paper's %+v; want %q", c.epochs, o.Short, o.Evaluations[0].Paper, c.short)
		}
		text, err := os.ReadFile(filepath.Join(dir, "result.txt"))
		if err != nil || strings.Contains(string(text), "against the paper  not compared") != (c.short != "") {
			t.Errorf("%d epochs, %v:\n%s", c.epochs, err, text)
		}
	}
}
