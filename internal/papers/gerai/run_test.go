package gerai

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"privrec/internal/config"
	"privrec/internal/dataset"
	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant"
	"privrec/internal/protocol/topn/topntest"
	"privrec/internal/run"
	"privrec/internal/run/runtest"
)

// suite is the paper's tasks under a small setting.
var suite = topntest.Suite{
	Tasks: Tasks(), Recipe: "gerai",
	Config: map[string]string{"gerai": "../../../configs/gerai/smoke.yaml"},
	Sets: map[string][]string{
		"gerai": topntest.Trained("data.recipe=gerai", "eval.candidates=40"),
		"gcn":   topntest.Trained("data.recipe=gerai", "eval.candidates=40"),
	},
}

func TestRuns(t *testing.T) {
	suite.End(t, func(t *testing.T, dir, text string) {
		if !strings.Contains(text, "infinity") || !strings.Contains(text, "interactions:") {
			t.Errorf("what is printed does not say that ratings are open:\n%s", text)
		}
	})
}

func TestAnswers(t *testing.T)  { suite.Answers(t) }
func TestForecast(t *testing.T) { suite.Forecast(t, func(string) bool { return false }) }

func TestLearn(t *testing.T) {
	suite.Learn(t, "gcn", "model.dim=16", "train.batch=256")
	suite.Learn(t, "gerai", "model.dim=16", "train.batch=256", "loss.noise=off")
}

func TestWorkersAndSeeds(t *testing.T) { suite.Repeat(t, "gerai"); suite.Repeat(t, "gcn") }

// Every way to draw noise goes on after an interruption as if there was none.
func TestResume(t *testing.T) {
	suite.Resume(t, "gcn", "gcn")
	for _, noise := range []string{NoiseOff, NoiseOnce, NoiseStep, NoiseScalar} {
		suite.Resume(t, noise, "gerai", "loss.noise="+noise)
	}
	suite.Resume(t, "repaired", "gerai", "features.form=attributes", "features.epsilon=2", "features.statistics=true", "loss.form=exact", "loss.noise=off", "model.neighbours=3")
}

// The repaired setting is a file of its own, and its account has a budget for every attribute.
func TestAccounts(t *testing.T) {
	for _, c := range []struct {
		sets      []string
		open      string
		row, one  float64
		noise     string
		claimed   float64
		says, not string
	}{
		{nil, "interactions loss_noise", 20, 2.5, "research", 0.4, "if h were all", "locally differentially private"},
		{[]string{"train.batch=1000000"}, "interactions loss_noise", 20, 2.5, "research", 0.4, "epsilon 0.4 for all triples at once, a step and an epoch", "/1000000"},
		{[]string{"loss.noise=fm-once"}, "interactions loss_noise", 20, 2.5, "research", 0.4, "same draw", "if h were all"},
		{[]string{"loss.noise=scalar"}, "interactions loss_noise", 20, 2.5, "research", 0.4, "Taylor", "if h were all"},
		{[]string{"loss.noise=off"}, "interactions", 20, 2.5, "research", 0, "", "loss_noise"},
		{[]string{"features.form=attributes", "features.epsilon=1.5", "loss.noise=off", "loss.form=exact"}, "interactions", 4.5, 1.5, "research", 0,
			"1.5-locally differentially private for one attribute of one user", "loss_noise"},
		{[]string{"features.form=attributes", "features.epsilon=1.5", "loss.noise=off", "loss.form=exact"}, "interactions", 4.5, 1.5, "research", 0,
			"check sums", "loss_noise"}, // of a file that holds all attributes: a guess of one is right or wrong
	} {
		dir := filepath.Join(t.TempDir(), "run")
		text := suite.Start(t, suite.Task(t, "gerai"), dir, append(c.sets, "train.epochs=1")...)
		a := runtest.ReadJSON[Account](t, dir, "privacy.json", true)
		var open []string
		for _, o := range a.Unbounded {
			open = append(open, o.What)
		}
		if strings.Join(open, " ") != c.open || a.Total.String() != "infinity" && a.Total.String() != "inf" || float64(a.Costs.Row) != c.row || float64(a.Costs.One) != c.one || float64(a.Features.Total) != c.row {
			t.Errorf("%v: open %v, total %v, costs %+v", c.sets, open, a.Total, a.Costs)
		}
		if (a.Claimed == nil) != (c.claimed == 0) || a.Claimed != nil && float64(a.Claimed.Eps) != c.claimed {
			t.Errorf("%v: claimed %+v", c.sets, a.Claimed)
		}
		if !strings.Contains(text, c.says) || strings.Contains(text, c.not) {
			t.Errorf("%v: says not %q, or %q:\n%s", c.sets, c.says, c.not, text)
		}
	}
}

// A step of a batch moves the coefficients |D|/B times as far as the mean over all triples.
func TestHOnly(t *testing.T) {
	c := Default()
	c.Train.Batch = 64
	if h := c.hOnly(80_000); h.Step != 500 || h.Steps != 1250 || h.Epoch != 625_000 || h.Scale != 0.03 {
		t.Errorf("%+v", h)
	}
	c.Train.Batch = 1024 // the last of 79 batches has 128 triples
	if h := c.hOnly(80_000); h.Step != 31.25 || h.Steps != 79 || h.Epoch != 78*31.25+250 {
		t.Errorf("%+v", h)
	}
}

// The scales that section 5 lists for d = 20 to 100 need 80,000 training triples; it rounds the
// last two.
func TestScalesOfThePaper(t *testing.T) {
	for d, want := range map[int]struct{ exact, printed, half float64 }{
		20: {0.00375, 0.00375, 5e-6}, 40: {0.01375, 0.01375, 5e-6}, 60: {0.03, 0.03, 5e-3}, 80: {0.0525, 0.05, 5e-3}, 100: {0.08125, 0.08, 5e-3},
	} {
		if got := Scale(d, 0.4, 80_000); got < want.exact*(1-1e-12) || got > want.exact*(1+1e-12) || got < want.printed-want.half || got > want.printed+want.half {
			t.Errorf("d %d: %v, want %v, printed %v", d, got, want.exact, want.printed)
		}
		if got := Scale(d, 0.4, 10_000); got > want.printed-want.half && got < want.printed+want.half {
			t.Errorf("d %d: 10,000 triples, which the paper prints, give %v too", d, got)
		}
	}
}

// What the ledger says of the features is finite where the account says so: what is open is
// about ratings.
func TestLedgerOfFeatures(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	suite.Start(t, suite.Task(t, "gerai"), dir, "features.form=attributes", "features.epsilon=1.5", "loss.noise=off", "loss.form=exact", "train.epochs=1")
	b, err := os.ReadFile(filepath.Join(dir, run.LedgerName))
	if err != nil {
		t.Fatal(err)
	}
	l, err := privacy.Reading{}.Parse(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	for unit, want := range map[privacy.Unit]float64{privacy.Feature: 4.5, privacy.Interaction: math.Inf(1), privacy.User: math.Inf(1)} {
		a, err := accountant.New(accountant.Contour, unit, privacy.Replace)
		if err != nil {
			t.Fatal(err)
		}
		if err := accountant.ChargeLedger(a, l.Entries()); err != nil {
			t.Fatal(err)
		}
		if got, err := a.Spent(1e-12); err != nil || got.Epsilon > want+1e-9 || got.Epsilon < min(want, 1e9)-1e-3 {
			t.Errorf("epsilon %v for one %s (%v), want %v", got.Epsilon, unit, err, want)
		}
	}
}

func TestBadSettings(t *testing.T) {
	for _, c := range []struct{ task, set, want string }{
		{"gerai", "features.draw=22", "features.draw"},
		{"gerai", "features.epsilon=0", "features.epsilon"},
		{"gerai", "features.epsilon=-1", "features.epsilon"},
		{"gerai", "features.epsilon=.inf", "features.epsilon"},
		{"gerai", "features.statistics=true", "features.statistics"},
		{"gerai", "loss.epsilon=0", "loss.epsilon"},
		{"gerai", "loss.epsilon=-0.4", "loss.epsilon"},
		{"gerai", "loss.epsilon=.inf", "loss.epsilon"},
		{"gerai", "loss.form=exact", "loss.noise"},
		{"gerai", "loss.form=cubic", "loss.form"},
		{"gerai", "loss.noise=fm", "loss.noise"},
		{"gerai", "loss.over=users", "loss.over"},
		{"gerai", "loss.alive=1", "loss.alive"},
		{"gerai", "model.norm=softmax", "model.norm"},
		{"gerai", "model.init=zero", "model.init"},
		{"gerai", "model.hidden=tanh", "model.hidden"},
		{"gerai", "model.dim=0", "model.dim"},
		{"gerai", "train.l2=0.1", "train.l2"},
		{"gerai", "train.schedule=large", "train.schedule"},
		{"gcn", "train.schedule=large", "train.schedule"},
		{"gerai", "train.negatives_each=2", "train.negatives_each"},
		{"gerai", "train.sampler=poisson", "train.sampler"},
		{"gerai", "eval.k=[300]", "eval.k"},
		{"gcn", "features.noise=local", "features.noise"},
		{"gcn", "loss={form: polynomial, noise: scalar, epsilon: 1, gamma: 0, over: batch, alive: 0}", "loss.noise"},
	} {
		err := suite.Task(t, c.task).Check("", []string{c.set})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %s: %v, want an error about %s", c.task, c.set, err, c.want)
		} else if !config.Is(err) {
			t.Errorf("%s %s: %T is no error of the configuration", c.task, c.set, err)
		}
	}
}

// What fits no configuration alone: cutoffs above the catalogue, data without features, and a
// model that cannot learn. The message says what to change.
func TestRefuses(t *testing.T) {
	for _, c := range []struct {
		sets []string
		want []string
	}{
		{[]string{"eval.k=[5000]", "eval.candidates=0"}, []string{"eval.k", "5000", "300 items"}},
		{[]string{"data.recipe=rdpgcf"}, []string{"gender", "gerai"}},
		{[]string{"model.init=n01", "model.norm=clip", "model.dim=60"}, []string{"step 0", "entries of q", "model.init", "train.rate", "loss.alive"}},
	} {
		err := suite.Try(t.Context(), suite.Task(t, "gerai"), filepath.Join(t.TempDir(), "run"), c.sets, run.Options{})
		for _, want := range c.want {
			text := fmt.Sprint(err)
			if usage := (*run.UsageError)(nil); errors.As(err, &usage) {
				text += usage.Fix
			}
			if data := (*dataset.Error)(nil); errors.As(err, &data) {
				text += data.Hint
			}
			if err == nil || !strings.Contains(text, want) {
				t.Errorf("%v: %s, want %q", c.sets, text, want)
			}
		}
	}
}

// Triples that are held out of the loss stay edges of the graph: a run has all training rows, and learns from half of them.
func TestLabelsHeldOut(t *testing.T) {
	triples := func(sets ...string) (rows, learned int) {
		t.Helper()
		dir := filepath.Join(t.TempDir(), "run")
		suite.Start(t, suite.Task(t, "gerai"), dir, append(suite.Sets["gerai"], sets...)...)
		var o struct {
			Data struct {
				TrainRows int `json:"train_rows"`
			} `json:"data"`
		}
		if err := run.ReadMetrics(dir, &o); err != nil {
			t.Fatal(err)
		}
		return o.Data.TrainRows, runtest.ReadJSON[Account](t, dir, "privacy.json", false).HOnly.Triples
	}
	all, every := triples()
	rows, learned := triples("run.hold_out.rows=0.5", "run.hold_out.labels=true")
	if all != every || rows != all || math.Abs(float64(learned)-float64(all)/2) > 6.2*math.Sqrt(float64(all)/4) {
		t.Errorf("%d rows and %d triples; with labels held out %d rows and %d triples", all, every, rows, learned)
	}
	err := suite.Try(t.Context(), suite.Task(t, "gerai"), filepath.Join(t.TempDir(), "run"), append(suite.Sets["gerai"], "run.hold_out.users=0.5", "run.hold_out.labels=true"), run.Options{})
	if err == nil || !strings.Contains(err.Error(), "run.hold_out.labels") {
		t.Error(err)
	}
}

// Own data whose pairs have many neighbours are told of model.neighbours before training, unless it is set, and
// sparse ones are not.
func TestManyNeighbours(t *testing.T) {
	data := t.TempDir()
	t.Setenv("PRIVREC_DATA", data)
	write := func(name string, users, items, each int) {
		rows, who := strings.Builder{}, strings.Builder{}
		rows.WriteString("user_id,item_id,rating\n")
		who.WriteString("user_id,gender,age,occupation\n")
		for u := range users {
			fmt.Fprintf(&who, "%d,F,%d,student\n", u, 20+u%40)
			for k := range each {
				fmt.Fprintf(&rows, "%d,%d,%d\n", u, (u+k)%items, 1+k%5)
			}
		}
		for file, text := range map[string]string{
			name + ".csv": rows.String(), name + ".users.csv": who.String(), "columns.yaml": "features: [gender, age, occupation]\nnumbers: [age]\n",
		} {
			if err := os.MkdirAll(filepath.Join(data, name), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(data, name, file), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	write("own-dense", 160, 170, 150)
	write("own-sparse", 160, 170, 50)
	for _, c := range []struct {
		sets []string
		told bool
	}{
		{[]string{"data.name=own-dense"}, true},
		{[]string{"data.name=own-dense", "model.neighbours=20"}, false},
		{[]string{"data.name=own-sparse"}, false},
	} {
		var log bytes.Buffer
		sets := append(c.sets, "data.recipe=ratio", "data.floor=none", "model.dim=4", "train.epochs=1", "train.batch=100000", "eval.candidates=0")
		err := suite.Try(t.Context(), suite.Task(t, "gerai"), filepath.Join(t.TempDir(), "run"), sets, run.Options{Log: slog.New(slog.NewTextHandler(&log, nil))})
		if err != nil {
			t.Fatal(err)
		}
		if told := strings.Contains(log.String(), "model.neighbours=50"); told != c.told {
			t.Errorf("%v: told is %v:\n%s", c.sets, told, log.String())
		}
	}
}
