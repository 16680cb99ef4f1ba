package record

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"privrec/internal/dataset"
)

// root is the top of the repository.
const root = "../../"

// example is a file with a record of every kind.
func example() *File {
	run := func(seed uint64, recall float64) Run {
		return Run{
			Task: "train x", Method: "X", Setting: "profile paper", ConfigHash: strings.Repeat("a", 63) + string('0'+rune(seed)), Seed: seed, Level: dataset.LevelB,
			Scores: []Scores{{Name: "X", Values: map[string]float64{"Recall@20": recall}}},
			Floors: []Scores{{Name: "random", Values: map[string]float64{"Recall@20": 0.01}}},
			Epochs: Epochs{Selected: 3, Run: 5}, Epsilon: &Epsilon{Total: 2.5, Units: []Unit{{Unit: "user", Neighbouring: "add-remove", Epsilon: 2.5}}},
			Machine: "a machine", Ended: time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC), Commit: map[uint64]string{1: "abc"}[seed],
		}
	}
	old := run(1, 0.1237)
	old.Epsilon = &Epsilon{Total: 4598452}
	return &File{Version: Version, About: "an example", Records: []Record{
		{Name: "x", Runs: runs{run(1, 0.125), run(2, 0.135)}},
		{Name: "old", Runs: runs{old}},
		{Name: "speed", Measured: &Measured{Command: "privrec bench x", Machine: "a machine", Date: "2026-11-01", Values: map[string]float64{"ms": 2.25, "gain": -0.01, "gain low": -0.46, "gain high": 0.02}}},
	}}
}

func TestFileIsReadAsWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.json")
	if err := example().Write(path); err != nil {
		t.Fatal(err)
	}
	first, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	f, err := Read(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Write(path); err != nil {
		t.Fatal(err)
	}
	if again, err := os.ReadFile(path); err != nil || !bytes.Equal(first, again) {
		t.Errorf("read and written again, %v:\n%s\nwas\n%s", err, again, first)
	}
	x := f.Find("x")
	if x == nil || len(x.Runs) != 2 || x.Runs[1].Method != "X" || x.Runs[1].Seed != 2 || x.Runs[0].Commit != "abc" || x.Runs[1].Commit != "" {
		t.Errorf("the runs are %+v", x)
	}
	if n := bytes.Count(first, []byte(`"method"`)); n != 2 {
		t.Errorf("what the runs of two records share is written %d times, want once for each:\n%s", n, first)
	}
}

func TestFilesThatAreRefused(t *testing.T) {
	for name, change := range map[string][2]string{
		"abuot":            {`"about"`, `"abuot"`},
		"unknown field":    {`"method"`, `"mehtod"`},
		"no SHA-256":       {strings.Repeat("a", 63) + "2", "made-up"},
		"two of that name": {`"old"`, `"x"`},
		"want one":         {`"records": [`, `"records": [{"name": "none"},`},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "x.json")
			if err := example().Write(path); err != nil {
				t.Fatal(err)
			}
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			bad := bytes.Replace(b, []byte(change[0]), []byte(change[1]), 1)
			if bytes.Equal(bad, b) {
				t.Fatalf("%q is not there", change[0])
			}
			if err := os.WriteFile(path, bad, 0o644); err != nil {
				t.Fatal(err)
			}
			if _, err := Read(path); err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), name) {
				t.Errorf("the error is %v, want one that names the file and says %q", err, name)
			}
		})
	}
}

// A row whose name is the field's goes before an earlier one that has it in its name.
func TestWholeNamesGoFirst(t *testing.T) {
	r := Run{Scores: []Scores{{Name: "shards, first", Values: map[string]float64{"AUC": 0.9}},
		{Name: "shards", Values: map[string]float64{"AUC": 0.5}}, {Values: map[string]float64{"AUC": 0.1}}}}
	for field, want := range map[string]float64{"shards|AUC": 50, "first|AUC": 90, "AUC": 90} {
		if got, err := r.value(field); err != nil || got != want {
			t.Errorf("%s is %g, %v, want %g", field, got, err, want)
		}
	}
}

func TestValues(t *testing.T) {
	f := example()
	for _, c := range []struct {
		record, field string
		decimals      int
		flags, want   string
	}{
		{"x", "Recall@20", 2, "", "13.00 (0.71)"},
		{"x", "Recall@20", 1, "m", "13.0"},
		{"x", "all|Recall@20", 1, "m", "13.0"},
		{"x", "floor random|Recall@20", 2, "m", "1.00"},
		{"x", "epochs.run", 0, "m", "5"},
		{"x", "seeds", 0, "", "2"},
		{"x", "epsilon.total", 1, "m", "2.5"},
		{"x", "epsilon.noise user", 1, "m", "2.5"},
		{"old", "Recall@20", 1, "", "12.4"},
		{"old", "epsilon.total", 0, ",", "4,598,452"},
		{"speed", "ms", 1, "+", "+2.2"},
		{"speed", "gain", 1, "+", "+0.0 (-0.5 to +0.0)"},
	} {
		v, err := f.Find(c.record).Value(c.field)
		if err != nil {
			t.Errorf("%s, %s: %v", c.record, c.field, err)
			continue
		}
		if got, err := v.Format(c.decimals, c.flags); err != nil || got != c.want {
			t.Errorf("%s, %s is %q, %v, want %q", c.record, c.field, got, err, c.want)
		}
	}
	for _, c := range [][2]string{{"x", "Recall@10"}, {"x", "floor popularity|Recall@20"}, {"x", "epsilon.noise edge"}, {"x", "epsilon.claimed"}, {"old", "MRR"}, {"speed", "s"}} {
		if v, err := f.Find(c[0]).Value(c[1]); err == nil {
			t.Errorf("%s, %s is %v, want an error", c[0], c[1], v)
		}
	}
	if s, err := (Value{Mean: 12.4, SD: math.NaN(), Text: "12.4", Decimals: 1}).Format(2, ""); err == nil {
		t.Errorf("a number printed with one decimal became %s", s)
	}
}

// A gain has its interval, and is of one run.
func TestGains(t *testing.T) {
	r := example().Records[0]
	r.Runs = r.Runs[:1]
	r.Runs[0].Gains = []Gain{{Row: "train x, lists", Attribute: "age", Metric: "AUC", Over: "majority", Value: -0.012, Interval: [2]float64{-0.03, 0.004}}}
	v, err := r.Value("gain train x|AUC age over majority")
	if err != nil {
		t.Fatal(err)
	}
	if s, err := v.Format(1, "+"); err != nil || s != "-1.2 (-3.0 to +0.4)" {
		t.Errorf("the gain is %q, %v", s, err)
	}
	if _, err := r.Value("gain train x|AUC gender over majority"); err == nil {
		t.Error("a gain that is not there was found")
	}
	two := example().Records[0]
	if _, err := two.Value("gain train x|AUC age over majority"); err == nil {
		t.Error("a gain of two runs was found")
	}
}

func TestPlacesOfConfigurations(t *testing.T) {
	for from, want := range map[string]string{
		"../dipsgnn/ml-1m.yaml":          "configs/dipsgnn/ml-1m.yaml",
		"/a/b/configs/private/x.yaml":    "configs/private/x.yaml",
		"configs/x.yaml":                 "configs/x.yaml",
		"/home/someone/secret/mine.yaml": "mine.yaml",
		"../../elsewhere/mine.yaml":      "mine.yaml",
		"":                               "",
	} {
		if got := configFile(from); got != want {
			t.Errorf("%q becomes %q, want %q", from, got, want)
		}
	}
	for from, want := range map[string]string{
		"profile paper":                                        "profile paper",
		"profile paper, changed: on.runs=/a/b":                 "profile paper, changed: on.runs",
		"profile paper, changed: attack.k=5, on.run=x, seed=1": "profile paper, changed: attack.k=5, seed=1",
	} {
		if got := setting(from); got != want {
			t.Errorf("%q becomes %q, want %q", from, got, want)
		}
	}
}

// Of reads runs of this and of older programs, and refuses those that have not ended.
func TestOf(t *testing.T) {
	dirs, err := filepath.Glob(root + "testdata/runs/*/metrics.json")
	if err != nil || len(dirs) < 5 {
		t.Fatalf("%d old runs, %v", len(dirs), err)
	}
	for _, d := range dirs {
		dir := filepath.Dir(d)
		r, err := Of(dir, Keep{})
		if err != nil {
			t.Errorf("%v", err)
			continue
		}
		k, err := KeepRun(dir)
		if err != nil {
			t.Fatal(err)
		}
		kept := filepath.Join(t.TempDir(), "kept.json")
		if err := k.Write(kept); err != nil {
			t.Fatal(err)
		}
		if got, err := Of(kept, Keep{}); err != nil || !cmp.Equal(got, r) {
			t.Errorf("%s: of the kept run: %v: %s", dir, err, cmp.Diff(r, got))
		}
		k.Results++
		if err := k.Write(kept); err != nil {
			t.Fatal(err)
		}
		if _, err := Of(kept, Keep{}); err == nil || !strings.Contains(err.Error(), "recorded by a program") {
			t.Errorf("%s: of a kept run with other results: %v", dir, err)
		}
		if _, err := Join("x", []Run{r, r}); err == nil {
			t.Errorf("%s: two runs of one seed became a record", dir)
		}
		one, err := Join("x", []Run{r})
		if err != nil {
			t.Errorf("%s: %v", dir, err)
		}
		if err := (&File{Version: Version, Records: []Record{one}}).Write(filepath.Join(t.TempDir(), "x.json")); err != nil {
			t.Errorf("%s: %v", dir, err)
		}
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "manifest.json"), []byte(`{"task":"train x","status":"failed","seed":1,"config_sha256":"00","attempts":[]}`), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Of(dir, Keep{}); err == nil || !strings.Contains(err.Error(), "failed") {
		t.Errorf("of a failed run: %v", err)
	}
}
