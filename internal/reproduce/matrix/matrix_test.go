package matrix

import (
	"bytes"
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"privrec/configs"
	"privrec/internal/papers"
	"privrec/internal/privacy"
	"privrec/internal/progress"
	"privrec/internal/record"
	"privrec/internal/reproduce/roster"
	"privrec/internal/run"
)

// small is a matrix of real tasks on generated rows.
const small = `# attacks on small models
name: small
title: Attacks on small models
utility: Recall@20
data:
  - {name: ml-100k, stand_in: standin-tiny}
profiles:
  smoke: {about: generated rows, stand_in: true, seeds: [1], set: []}
  quick: {about: less, stand_in: false, seeds: [1], set: []}
  full: {about: all, stand_in: true, seeds: [1, 2], set: []}
hold_out: [run.hold_out.rows=0.5, run.hold_out.users=0.3]
attacks:
  - {name: rows, heading: membership of an interaction, about: tells rows by their scores, task: attack membership, config: rows.yaml, metric: AUC member interactions, row: score, needs: [held-out rows]}
  - {name: users, heading: membership of a user, about: tells users by their lists, task: attack membership, config: users.yaml, metric: AUC member users, row: likeness of history and list, needs: [held-out users]}
  - {name: vectors, heading: gender from vectors, about: tells the gender, task: attack attribute, config: vectors.yaml, metric: AUC gender, row: "vectors, logistic-regression", needs: [attributes, vectors]}
  - {name: links, heading: links of the graph, about: tells edges, task: attack link, config: links.yaml, metric: AUC edges from held-out interactions, row: influence on scores, needs: [held-out rows, inputs]}
  - {name: lists, heading: exposure, about: names clicks, task: attack exposure, config: lists.yaml, metric: Recall@5, row: co-occurrence}
rows:
  - {model: EASE, defence: none, task: train ease, config: ease.yaml}
  - {model: BPRMF, defence: none, task: train bprmf, config: bprmf.yaml}
  - {model: LightGCN, defence: none, task: train lightgcn, config: lightgcn.yaml}
  - {model: EASE, defence: DP-EASE, unit: user, task: train dp-ease, config: dp-ease.yaml}
  - {model: EASE, defence: all rows, whole: true, task: train ease, config: ease.yaml}
  - {model: EASE, defence: slates, task: train ease, config: ease.yaml, attack: [{name: lists, set: [protect.replace=rr, protect.epsilon=1, protect.attacker=adaptive]}],
     without: [{name: rows, why: protects lists alone}, {name: users, why: protects lists alone}]}
  - {model: DASL, defence: PriCDSR, task: train pricdsr, config: ease.yaml, without: [{why: these data have one domain}]}
notes: [a note]
`

var smallConfigs = map[string]string{
	"rows.yaml":     "attack: {level: interaction, sees: [scores]}\neval: {resamples: 100}\n",
	"users.yaml":    "attack: {level: user, sees: [lists], k: 10}\neval: {resamples: 100}\n",
	"vectors.yaml":  "attributes: [{name: gender}]\nattack: {sees: [vectors], k: [5], attackers: [logistic-regression], repeats: 2}\n",
	"lists.yaml":    "data: {slate: 5, behaviour: 3}\nattack: {dim: 16, ffn: 16, heads: 2}\ntrain: {epochs: 1}\neval: {k: [5], budget: [k], resamples: 100}\n",
	"links.yaml":    "attack: {sees: [influence], users: 40, others: 60, watched: 20}\neval: {resamples: 100}\n",
	"lightgcn.yaml": "data: {recipe: rdpgcf}\nmodel: {dim: 8, layers: 1}\ntrain: {epochs: 2, batch: 512, select: last, patience: 0}\n",
	"ease.yaml":     "data: {recipe: rdpgcf}\nmodel: {lambda: 0.01}\n",
	"bprmf.yaml":    "data: {recipe: rdpgcf}\nmodel: {dim: 8}\ntrain: {epochs: 1, batch: 512}\n",
	"gru.yaml":      "data: {name: standin-tiny, recipe: dipsgnn}\nprofile: own\nmodel: {dim: 8}\ntrain: {epochs: 1, select: last, patience: 0, validation: 0, refit: false}\n",
	"dp-ease.yaml":  "data: {recipe: rdpgcf}\nmodel: {items: 40}\n",
}

// loaded writes the small matrix, changed by a replacer, and reads it.
func loaded(t *testing.T, change ...string) (*Matrix, error) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range smallConfigs {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(dir, "small.yaml")
	if err := os.WriteFile(file, []byte(strings.NewReplacer(change...).Replace(small)), 0o600); err != nil {
		t.Fatal(err)
	}
	return Load(file, papers.All())
}

// made makes a matrix in a folder.
func made(t *testing.T, m *Matrix, size, out string, more func(o *roster.Options)) *Made {
	t.Helper()
	o := roster.Options{Size: size, Out: out, Workers: 1, Progress: progress.Silent{}}
	if more != nil {
		more(&o)
	}
	p, grids, err := m.Plan(o)
	if err != nil {
		t.Fatal(err)
	}
	x, err := m.Make(context.Background(), p, grids, o, func(int, string) {})
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// cells by model, defence and attack.
func (x *Made) at(t *testing.T, label, attack string) Cell {
	t.Helper()
	for _, row := range x.Cells {
		for _, c := range row {
			if c.Model+" ("+c.Defence+")" == label && c.Attack == attack {
				return c
			}
		}
	}
	t.Fatalf("no cell %s, %s", label, attack)
	return Cell{}
}

// A matrix has a number with floor and interval, or a reason, in every cell; it is the same in
// another folder, and made again from what is there it starts nothing.
func TestMatrix(t *testing.T) {
	m, err := loaded(t)
	if err != nil {
		t.Fatal(err)
	}
	a, b := filepath.Join(t.TempDir(), "a"), t.TempDir()
	x, y := made(t, m, "smoke", a, nil), made(t, m, "smoke", b, nil)
	if x.Err != nil || y.Err != nil {
		t.Fatal(x.Err, y.Err)
	}
	same := func(what, dir string) {
		t.Helper()
		for _, ending := range []string{".md", ".html", ".csv", ".json", ".svg", ".png"} {
			want, err := os.ReadFile(filepath.Join(a, "tables", "small-smoke"+ending))
			if err != nil {
				t.Fatal(err)
			}
			if got, err := os.ReadFile(filepath.Join(dir, "tables", "small-smoke"+ending)); err != nil || !bytes.Equal(got, want) {
				t.Errorf("%s: small-smoke%s differs (%v)", what, ending, err)
			}
		}
	}
	same("another folder", b)
	made(t, m, "smoke", b, func(o *roster.Options) { o.NoRun = true })
	same("of finished runs", b)

	for _, row := range x.Cells {
		for _, c := range row {
			if (c.Gain == nil) == (c.Why == "") || c.Gain != nil && (c.Floor == nil || c.Low == nil || *c.Low > *c.Gain || *c.High < *c.Gain || c.Verdict == "" || c.Sees == "" || c.Budget == "" || c.Level != "D" || c.Over == "") {
				t.Errorf("%+v", c)
			}
		}
	}
	if c := x.at(t, "EASE (none)", "rows"); c.Verdict != Leaks || *c.Value < 0.9 || *c.Gain < 0.3 || c.Over == "" {
		t.Errorf("a model that knows its rows by heart: %+v", c)
	}
	for cell, want := range map[[2]string]string{
		{"EASE (none)", "links"}:     "the model computes nothing from the inputs of users",
		{"EASE (none)", "vectors"}:   "the model keeps no vectors of users",
		{"EASE (all rows)", "rows"}:  "trained on all interactions: none is left to ask about",
		{"EASE (all rows)", "users"}: "trained on all users: none is left to ask about",
		{"EASE (slates)", "rows"}:    "protects lists alone",
		{"DASL (PriCDSR)", "lists"}:  "these data have one domain",
	} {
		if c := x.at(t, cell[0], cell[1]); c.Why != want {
			t.Errorf("%v: %q, want %q", cell, c.Why, want)
		}
	}
	if c := x.at(t, "LightGCN (none)", "links"); c.Verdict != Leaks || *c.Value < 0.9 {
		t.Errorf("one layer gives its graph away: %+v", c)
	}
	if c := x.at(t, "BPRMF (none)", "vectors"); c.Gain == nil {
		t.Errorf("vectors: %+v", c)
	}
	if p, q := x.at(t, "EASE (none)", "lists"), x.at(t, "EASE (slates)", "lists"); p.Gain == nil || q.Gain == nil || slices.Equal(p.Runs, q.Runs) {
		t.Errorf("slates: %+v, %+v", p, q)
	}
	recorded(t, x)
	at := slices.IndexFunc(x.Models, func(o Model) bool { return o.Defence == "DP-EASE" })
	if o := x.Models[at]; o.Epsilon == nil || *o.Epsilon > privacy.Number(1.0001) || o.Unit != "user" || o.Utility == nil || len(o.Runs) != 1 {
		t.Errorf("%+v", o)
	}
	if o := x.Models[len(x.Models)-1]; o.Epsilon != nil || o.epsilon() != "nothing was trained" {
		t.Errorf("%+v", o)
	}
}

// recorded holds the records of a matrix against its cells, and one that lacks runs leaves none.
func recorded(t *testing.T, x *Made) {
	t.Helper()
	var f record.File
	if err := x.Record(&f, "privrec attack matrix"); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "matrix.json")
	if err := f.Write(file); err != nil {
		t.Fatal(err)
	}
	if len(f.Records) != 6 { // nothing was trained for the seventh row
		t.Errorf("%d records", len(f.Records))
	}
	c := x.at(t, "EASE (slates)", "lists")
	r := f.Find("standin-tiny-ease-slates")
	if r == nil {
		t.Fatal("no record of EASE under slates")
	}
	v, err := r.Value("lists")
	if err != nil || math.Abs(v.Mean-100**c.Gain) > 1e-5 || math.Abs(v.Low-100**c.Low) > 1e-5 || math.Abs(v.High-100**c.High) > 1e-5 {
		t.Errorf("%v, %v, want %v of %+v", v, err, *c.Gain, c)
	}
	if e, err := f.Find("standin-tiny-ease-dp-ease").Value("epsilon"); err != nil || e.Mean > 1.0001 || e.Mean < 0.9 {
		t.Errorf("epsilon %v, %v", e, err)
	}
	if _, err := r.Value("rows"); err == nil {
		t.Error("a cell without a number has a value")
	}
	part := *x
	part.Err = errors.New("two runs are missing")
	if err := part.Record(&f, "privrec attack matrix"); err == nil {
		t.Error("a matrix that lacks runs was recorded")
	}
}

// A model of sequences is attacked in ways of its own, which the file names, and is asked about no edges.
func TestSequences(t *testing.T) {
	m, err := loaded(t,
		"rows:\n", "rows:\n  - {model: GRU4Rec, defence: none, task: train gru4rec, config: gru.yaml}\n",
		"row: score,", "row: score, sequences: score of the last row,", "row: likeness of history and list,", "row: likeness of history and list, sequences: place in the list,")
	if err != nil {
		t.Fatal(err)
	}
	m.Rows = m.Rows[:2]
	out := t.TempDir()
	x := made(t, m, "smoke", out, nil)
	if x.Err != nil {
		t.Fatal(x.Err)
	}
	for attack, want := range map[string][2]string{"rows": {"score of the last row", "score"}, "users": {"place in the list", "likeness of history and list"}} {
		for i, label := range []string{"GRU4Rec (none)", "EASE (none)"} {
			if c := x.at(t, label, attack); c.Gain == nil || c.Row != want[i] {
				t.Errorf("%s, %s: %+v, want %q", label, attack, c, want[i])
			}
		}
	}
	if c := x.at(t, "GRU4Rec (none)", "links"); !strings.Contains(c.Why, "a model of sequences") {
		t.Errorf("%+v", c)
	}
	m.Attacks[0].Sequences = "another way"
	p, grids, err := m.Plan(roster.Options{Size: "smoke", Out: out, Workers: 1, Progress: progress.Silent{}})
	if err != nil {
		t.Fatal(err)
	}
	o := roster.Options{Size: "smoke", Out: out, NoRun: true}
	_, err = m.Make(t.Context(), p, grids, o, func(int, string) {})
	if err == nil || !strings.Contains(err.Error(), `no cell of "score"`) {
		t.Errorf("a way that no result has: %v", err)
	}
}

// Why an attack cannot be made is known with the data. A matrix that is made without them says what was
// said with them, of the same trainings and no others.
func TestReasonsStay(t *testing.T) {
	left := func(attack, why string) Cell {
		return Cell{Attack: attack, Metric: "AUC", State: roster.LeftOut, Why: why}
	}
	todo := func(attack string) Cell {
		return Cell{Attack: attack, Metric: "AUC", State: roster.ToDo, Why: "not made yet"}
	}
	gain := 0.1
	before := &file{Models: []Model{{Model: "A", Defence: None, Runs: []string{"a"}}, {Model: "B", Defence: None, Runs: []string{"b"}}, {Model: "C", Defence: None}},
		Cells: [][]Cell{{left("links", "no graph"), todo("rows")}, {left("links", "no graph")}, {left("links", "no graph")}}}
	x := &Made{Models: []Model{{Model: "A", Defence: None, Runs: []string{"a"}}, {Model: "B", Defence: None, Runs: []string{"other"}}, {Model: "C", Defence: None}},
		Cells: [][]Cell{{todo("links"), todo("rows"), todo("users"),
			{Attack: "links", Metric: "AUC", State: roster.Done, Gain: &gain}}, {todo("links")}, {todo("links")}}}
	x.remember(nil)
	x.remember(before)
	for i, want := range [][]string{{"no graph", "not made yet", "not made yet", ""}, {"not made yet"}, {"not made yet"}} {
		for k, c := range x.Cells[i] {
			if c.Why != want[k] || (c.State == roster.LeftOut) != (c.Why == "no graph") {
				t.Errorf("%s, cell %d: %+v, want %q", x.Models[i].Model, k, c, want[k])
			}
		}
	}
}

// Finished runs are rows, wherever they are. Another result in the same directory is attacked anew.
func TestOnRuns(t *testing.T) {
	m, err := loaded(t)
	if err != nil {
		t.Fatal(err)
	}
	a := t.TempDir()
	x := made(t, m, "smoke", a, nil)
	dir := filepath.Join(a, "runs", x.Models[0].Runs[0])
	if err := m.OnRuns([]string{dir, filepath.Join(a, "runs", x.Models[1].Runs[0])}); err != nil {
		t.Fatal(err)
	}
	y := made(t, m, "smoke", t.TempDir(), nil)
	if y.Err != nil || len(y.Models) != 2 || len(y.Runs) != 10 { // five attacks on each
		t.Fatalf("%v, %d models, %d runs", y.Err, len(y.Models), len(y.Runs))
	}
	p, q := x.at(t, "EASE (none)", "rows"), y.at(t, "EASE (none)", "rows")
	if *p.Gain != *q.Gain || *p.Low != *q.Low || p.Data != q.Data {
		t.Errorf("of its own run %+v, of the same run elsewhere %+v", p, q)
	}
	var usage *run.UsageError
	if err := m.OnRuns([]string{filepath.Join(a, "tables")}); !errors.As(err, &usage) {
		t.Errorf("no run: %v", err)
	}
}

// Several seeds have a mean, and an interval from the lowest to the highest end.
func TestSeeds(t *testing.T) {
	m, err := loaded(t)
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Only([]string{"rows"}); err != nil {
		t.Fatal(err)
	}
	out := t.TempDir()
	two := made(t, m, "full", out, nil).at(t, "BPRMF (none)", "rows")
	var gains, lows, highs []float64
	for _, name := range two.Runs {
		f, err := m.Attacks[0].read(filepath.Join(out, "runs", name))
		if err != nil {
			t.Fatal(err)
		}
		gains, lows, highs = append(gains, f.Gain), append(lows, f.Interval[0]), append(highs, f.Interval[1])
	}
	if len(gains) != 2 || gains[0] == gains[1] || *two.Gain != (gains[0]+gains[1])/2 || *two.Low != slices.Min(lows) || *two.High != slices.Max(highs) || two.Seeds != 2 {
		t.Errorf("%+v of %v %v %v", two, gains, lows, highs)
	}
	if err := m.Only([]string{"rows", "cows"}); err == nil || !strings.Contains(err.Error(), `no attack "cows"`) {
		t.Errorf("%v", err)
	}
}

// A shard makes its part and no matrix; the parts together are the whole.
func TestShards(t *testing.T) {
	m, err := loaded(t)
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Only([]string{"rows", "vectors"}); err != nil {
		t.Fatal(err)
	}
	whole, parts := t.TempDir(), t.TempDir()
	x := made(t, m, "smoke", whole, nil)
	for i := range 2 {
		part := func(o *roster.Options) { o.Shard = run.Shard{I: i + 1, Of: 2} }
		if y := made(t, m, "smoke", parts, part); y.Document != nil || len(y.Files) > 0 {
			t.Errorf("shard %d made a matrix", i+1)
		}
	}
	y := made(t, m, "smoke", parts, func(o *roster.Options) { o.NoRun = true })
	p, err := x.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	if q, err := y.MarshalJSON(); err != nil || !bytes.Equal(p, q) || y.Err != nil {
		t.Errorf("%v, %v:\n%s\n%s", err, y.Err, p, q)
	}
}

// Words follow from intervals, and from the twin.
func TestVerdicts(t *testing.T) {
	cell := func(gain float64, verdict string) Cell {
		floor := 0.5
		return Cell{Gain: &gain, Floor: &floor, Verdict: verdict}
	}
	m := &Matrix{Rows: []Row{{Model: "A", Defence: None}, {Model: "A", Defence: "D"}, {Model: "B", Defence: "D", Twin: "A"}, {Model: "C", Defence: "D"}}}
	cells := [][]Cell{{cell(0.2, Leaks), cell(0.01, NotTold)}, {cell(0, NotTold), cell(0, NotTold)}, {cell(0, NotTold), cell(0.1, Leaks)}, {cell(0, NotTold), cell(-0.1, BelowIt)}}
	m.protect(cells)
	want := [][]string{{Leaks, NotTold}, {Protected, NotTold}, {Protected, Leaks}, {NotTold, BelowIt}}
	for i := range cells {
		for k, c := range cells[i] {
			if c.Verdict != want[i][k] {
				t.Errorf("row %d, attack %d: %s, want %s", i, k, c.Verdict, want[i][k])
			}
		}
	}
	if s := cells[0][0].shade(); s != 0.4 {
		t.Errorf("0.2 of 0.5 is a shade of %v", s)
	}
	if s := cells[3][1].shade(); s != -0.2 {
		t.Errorf("-0.1 of 0.5 is a shade of %v", s)
	}
	if s := cells[1][0].shade(); s != 0 {
		t.Errorf("what is not told has a shade of %v", s)
	}
}

// A file that cannot be carried out says line and key.
func TestBad(t *testing.T) {
	for _, c := range []struct{ old, new, want string }{
		{"model: EASE, defence: DP-EASE", "model: EASE, defence: none", "EASE with defence none is there already"},
		{"task: attack membership, config: rows.yaml", "task: train ease, config: rows.yaml", `attacks.0.task: there is no attack "train ease"`},
		{"needs: [held-out rows]", "needs: [luck]", "attacks.0.needs"},
		{"name: users, heading", "name: rows, heading", "attacks.1.name: rows is there already"},
		{"name: users, why", "name: cows, why", `rows.5.without.1.name: there is no attack "cows" here`},
		{"task: train bprmf, config: bprmf.yaml", "task: train bprfm, config: bprmf.yaml", `unknown task "train bprfm"`},
		{"config: bprmf.yaml", "config: nothing.yaml", "nothing.yaml"},
		{"unit: user, task", "twin: GRU, task", `rows.3.twin: no row has the model "GRU"`},
		{"utility: Recall@20", "usefulness: Recall@20", "usefulness: unknown key"},
		{"metric: Recall@5", "metric: Recall5", "attacks.4.metric"},
	} {
		if _, err := loaded(t, c.old, c.new); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.new, err, c.want)
		}
	}
}

// The matrices that come with the program are sound.
func TestBuiltIn(t *testing.T) {
	files, err := filepath.Glob("../../../configs/matrix/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d matrices: %v", len(files), err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".yaml")
		m, err := BuiltIn(configs.Files(), name, papers.All())
		if err != nil {
			t.Errorf("%s: %v", file, err)
		} else if m.Name != "matrix-"+name {
			t.Errorf("%s calls itself %s", file, m.Name)
		}
	}
}
