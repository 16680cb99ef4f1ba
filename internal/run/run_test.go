package run

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"privrec/internal/config"
	"privrec/internal/privacy"
	"privrec/internal/tensor"
)

// toy is a task that adds numbers, step by step, with a checkpoint after each
// step and a ledger line per step. It is small, but everything a real task asks
// of its surroundings is in it.
type toy struct {
	Steps int     `yaml:"steps"`
	Start float64 `yaml:"start"`
}

type toyState struct {
	Step int `json:"step"`
}

// toySum is what a toy leaves open.
var toySum = privacy.Unprotected{Unit: privacy.User, What: "sum", Why: "a toy"}

// declaresNothing opens the ledger of a run of which nothing is looked at.
func declaresNothing(env *Env) error {
	_, err := env.Ledger(privacy.Research, privacy.Declaration{})
	return err
}

var errBoom = errors.New("boom")

func toyTask(hook func(step int) error) Task {
	return Task{Verb: "train", Name: "toy", Summary: "adds numbers", Action: Bind(
		func() toy { return toy{Steps: 20, Start: 1} },
		func(v *config.Checker, c toy) { v.Check(c.Steps >= 1, "steps", "must be positive, got %d", c.Steps) },
		func(ctx context.Context, env *Env, c toy) error {
			return runToy(ctx, env, c, hook)
		})}
}

func runToy(ctx context.Context, env *Env, c toy, hook func(step int) error) error {
	sum := make([]float64, 300)
	var st toyState
	cp, ok, err := env.LoadCheckpoint()
	if err != nil {
		return err
	}
	if ok {
		if err := json.Unmarshal(cp.State, &st); err != nil {
			return err
		}
		copy(sum, cp.Tensors[0].Data.([]float64))
	}
	ledger, err := env.Ledger(privacy.Research, privacy.Declaration{WithoutNoise: []privacy.Unprotected{toySum}})
	if err != nil {
		return err
	}
	for ; st.Step < c.Steps; st.Step++ {
		if ctx.Err() != nil {
			return ErrInterrupted
		}
		if hook != nil {
			if err := hook(st.Step); err != nil {
				return err
			}
		}
		s := env.Seed.Stream("toy", uint64(st.Step))
		for i := range sum {
			sum[i] += c.Start * s.NormFloat64()
		}
		if err := ledger.Record("toy", toySum, 1); err != nil {
			return err
		}
		if err := ledger.Flush(fmt.Sprint("step ", st.Step)); err != nil {
			return err
		}
		state, _ := json.Marshal(toyState{st.Step + 1})
		if err := env.SaveCheckpoint(Checkpoint{state, []NamedTensor{{"sum", []int{300}, sum}}}); err != nil {
			return err
		}
	}
	if err := env.WriteMetrics(map[string]float64{"first": sum[0]}); err != nil {
		return err
	}
	if err := env.WriteScores("scores", Column{"user", []string{"a", "b"}}, Column{"x", sum[:2]}); err != nil {
		return err
	}
	return env.Print(text("sum " + fmt.Sprint(sum[0])))
}

type text string

func (t text) Text(w io.Writer) error { _, err := io.WriteString(w, string(t)+"\n"); return err }

// HTML makes text a Page.
func (t text) HTML(w io.Writer) error { _, err := io.WriteString(w, "<p>"+string(t)); return err }

func quiet(out *bytes.Buffer, o Options) Options {
	o.Log, o.Progress, o.Stdout = slog.New(slog.DiscardHandler), Silent{}, out
	return o
}

// outputs are the files that must not depend on how a run got to its end.
var outputs = []string{"metrics.json", "ledger.jsonl", "scores.tsv.gz", "result.txt", "result.json", "report.html", checkpointFile}

func readAll(t *testing.T, dir string) map[string]string {
	t.Helper()
	m := map[string]string{}
	for _, name := range outputs {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		m[name] = string(b)
	}
	return m
}

func same(t *testing.T, what string, a, b map[string]string) {
	t.Helper()
	for name := range a {
		if a[name] != b[name] {
			t.Errorf("%s: %s differs", what, name)
		}
	}
}

func TestInterruptAndResumeEqualsOneGo(t *testing.T) {
	base := t.TempDir()
	var out bytes.Buffer
	whole := "run.out=" + filepath.Join(base, "whole")
	if _, err := toyTask(nil).Start(t.Context(), quiet(&out, Options{Sets: []string{whole}})); err != nil {
		t.Fatal(err)
	}
	shown := out.String()
	dir := filepath.Join(base, "parts")
	for at := 3; ; at += 4 {
		ctx, cancel := context.WithCancel(t.Context())
		task := toyTask(func(step int) error {
			if step == at {
				cancel()
			}
			return nil
		})
		out.Reset()
		_, err := task.Start(ctx, quiet(&out, Options{Sets: []string{"run.out=" + dir, "run.workers=1"}, Resume: true}))
		cancel()
		m, merr := ReadManifest(dir)
		if merr != nil {
			t.Fatal(merr)
		}
		if err == nil {
			if m.Status != StatusDone || len(m.Attempts) != 5 || !m.Attempts[4].Resumed {
				t.Errorf("manifest after the end: %+v", m)
			}
			break
		}
		if !WasInterrupted(err) || m.Status != StatusInterrupted {
			t.Fatalf("%v, manifest %+v", err, m)
		}
	}
	same(t, "resumed", readAll(t, filepath.Join(base, "whole")), readAll(t, dir))
	if out.String() != shown {
		t.Errorf("shown %q, want %q", out.String(), shown)
	}
	out.Reset()
	if _, err := toyTask(nil).Start(t.Context(), quiet(&out, Options{Sets: []string{"run.out=" + dir}, Resume: true})); err != nil {
		t.Fatal(err)
	}
	if out.String() != shown {
		t.Errorf("resuming a complete run shows %q, want %q", out.String(), shown)
	}
}

func TestDirectoryRules(t *testing.T) {
	base := t.TempDir()
	start := func(name string, resume bool, sets ...string) error {
		_, err := toyTask(nil).Start(t.Context(), quiet(new(bytes.Buffer),
			Options{Sets: append(sets, "run.out="+filepath.Join(base, name)), Resume: resume}))
		return err
	}
	if err := start("a", false); err != nil {
		t.Fatal(err)
	}
	os.WriteFile(filepath.Join(base, "file"), nil, 0o644)
	os.Mkdir(filepath.Join(base, "other"), 0o755)
	os.WriteFile(filepath.Join(base, "other", "thesis.tex"), nil, 0o644)
	os.Mkdir(filepath.Join(base, "empty"), 0o755)
	for _, c := range []struct {
		what string
		err  error
		want string
	}{
		{"again", start("a", false), "already holds a run (train toy, done)"},
		{"other configuration", start("a", true, "start=2"), `another configuration: it has "start: 1", this one "start: 2"`},
		{"other seed", start("a", true, "run.seed=2"), `another configuration: it has "seed: 1", this one "seed: 2"`},
		{"another cadence", start("a", true, "run.save_steps=7", "run.save_seconds=0.5"), ""},
		{"other configuration and cadence", start("a", true, "run.save_steps=7", "start=2"), `it has "start: 1"`},
		{"a file", start("file", false), "is a file"},
		{"not ours", start("other", false), "not a run directory (it holds thesis.tex)"},
		{"below a file", start("file/x", false), "file/x: " + filepath.Join(base, "file") + " is a file"},
		{"empty is fine", start("empty", false), ""},
	} {
		var usage *UsageError
		switch {
		case c.want == "" && c.err != nil, c.want != "" && (c.err == nil || !strings.Contains(c.err.Error(), c.want)):
			t.Errorf("%s: %v, want %q", c.what, c.err, c.want)
		case c.want != "" && (!errors.As(c.err, &usage) || usage.Hint() == ""):
			t.Errorf("%s: not a usage error with a hint: %v", c.what, c.err)
		}
	}
	if entries, _ := os.ReadDir(filepath.Join(base, "other")); len(entries) != 1 {
		t.Errorf("a refused directory was written to: %v", entries)
	}
}

func TestFailureLeavesNothing(t *testing.T) {
	base := t.TempDir()
	fail := toyTask(func(step int) error { return errBoom })
	dir, err := fail.Start(t.Context(), quiet(new(bytes.Buffer), Options{Sets: []string{"run.out=" + filepath.Join(base, "x")}}))
	if !errors.Is(err, errBoom) {
		t.Fatal(err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a run that failed at once left %s behind (%v)", dir, err)
	}
	// Nor the folders that were made on the way to it; one that was there stays.
	os.Mkdir(filepath.Join(base, "mine"), 0o755)
	for _, name := range []string{"deep/er/x", "mine"} {
		if _, err := fail.Start(t.Context(), quiet(new(bytes.Buffer), Options{Sets: []string{"run.out=" + filepath.Join(base, name)}})); !errors.Is(err, errBoom) {
			t.Fatal(err)
		}
	}
	if entries, err := os.ReadDir(base); err != nil || len(entries) != 1 || entries[0].Name() != "mine" {
		t.Errorf("left behind: %v (%v), want the empty folder that was there", entries, err)
	}
	os.Remove(filepath.Join(base, "mine"))
	// Nor does one whose first checkpoint cannot be written.
	blocked := Task{Verb: "train", Name: "blocked", Action: Bind(func() toy { return toy{} }, nil,
		func(ctx context.Context, env *Env, c toy) error {
			return errors.Join(declaresNothing(env), env.SaveCheckpoint(Checkpoint{State: []byte("{}"), Tensors: []NamedTensor{{"a", []int{1}, []int{1}}}}))
		})}
	if dir, err = blocked.Start(t.Context(), quiet(new(bytes.Buffer), Options{Sets: []string{"run.out=" + filepath.Join(base, "x")}})); err == nil {
		t.Fatal("a checkpoint of unknown type was written")
	}
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a run without a checkpoint left %s behind (%v)", dir, err)
	}
	late := toyTask(func(step int) error {
		if step == 5 {
			return errBoom
		}
		return nil
	})
	if _, err := late.Start(t.Context(), quiet(new(bytes.Buffer), Options{Sets: []string{"run.out=" + dir}})); !errors.Is(err, errBoom) {
		t.Fatal(err)
	}
	m, err := ReadManifest(dir)
	if err != nil || m.Status != StatusFailed || m.Error != "boom" || m.Attempts[0].Build.Float != floatName || m.Attempts[0].Machine.Cores < 1 {
		t.Errorf("manifest of a late failure: %+v, %v", m, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "lock")); err == nil {
		t.Error("lock left behind")
	}
}

func TestConfigurationErrors(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "c.yaml")
	os.WriteFile(file, []byte("steps: 0\nrun:\n  workers: -1\n"), 0o644)
	_, err := toyTask(nil).Start(t.Context(), quiet(new(bytes.Buffer), Options{Config: file}))
	want := file + ":1:8: steps: must be positive, got 0\n" + file + ":3:12: run.workers: must lie in 0 to 4096, got -1"
	if err == nil || err.Error() != want || !config.Is(err) {
		t.Errorf("got %v\nwant %s", err, want)
	}
	for set, want := range map[string]string{
		"run.save_seconds=-1":  "--set run.save_seconds: must lie in 0 to 604800, got -1",
		"run.save_seconds=1e9": "--set run.save_seconds: must lie in 0 to 604800, got 1e+09",
		"run.save_steps=-1":    "--set run.save_steps: must be at least 0, got -1",
		`run.out="-"`:          `--set run.out: must name a folder, got "-"`,
	} {
		if err := toyTask(nil).Check("", []string{set}); err == nil || err.Error() != want {
			t.Errorf("%s: %v", set, err)
		}
	}
	if err := toyTask(nil).Check(file, []string{"steps=1", "run.workers=2", "run.save_seconds=0"}); err != nil {
		t.Error(err)
	}
	b, err := toyTask(nil).Defaults()
	if err != nil || string(b) != "run:\n  seed: 1\n  workers: 0\n  out: \"\"\n  save_seconds: 20\n  save_steps: 0\n  ledger_key: \"\"\nsteps: 20\nstart: 1\n" {
		t.Errorf("defaults %s, %v", b, err)
	}
}

func TestRecordData(t *testing.T) {
	dir := t.TempDir()
	sets := []string{"run.out=" + filepath.Join(dir, "r")}
	hash := "aa"
	task := Task{Verb: "train", Name: "data", Action: Bind(func() toy { return toy{} }, nil,
		func(ctx context.Context, env *Env, c toy) error {
			if err := env.RecordData("ml", hash); err != nil {
				return err
			}
			if err := errors.Join(declaresNothing(env), env.SaveCheckpoint(Checkpoint{State: []byte("{}")})); err != nil {
				return err
			}
			return ErrInterrupted
		})}
	if _, err := task.Start(t.Context(), quiet(new(bytes.Buffer), Options{Sets: sets})); !WasInterrupted(err) {
		t.Fatal(err)
	}
	hash = "bb"
	_, err := task.Start(t.Context(), quiet(new(bytes.Buffer), Options{Sets: sets, Resume: true}))
	if err == nil || !strings.Contains(err.Error(), "data ml changed since the run in") {
		t.Errorf("changed data: %v", err)
	}
}

func TestScoresReadBack(t *testing.T) {
	e := newEnv(t.TempDir(), "", false)
	if err := declaresNothing(e); err != nil {
		t.Fatal(err)
	}
	err := e.WriteScores("s", Column{"user", []string{"a", "b"}}, Column{"rank", []int32{1, -2}},
		Column{"f", []float32{0.1, 2}}, Column{"g", []float64{0.1, 1e300}}, Column{"i", []int64{1, 1 << 60}})
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(filepath.Join(e.Dir, "s.tsv.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(z)
	want := "user\trank\tf\tg\ti\na\t1\t0.1\t0.1\t1\nb\t-2\t2\t1e+300\t1152921504606846976\n"
	if err != nil || string(b) != want || !z.ModTime.IsZero() {
		t.Errorf("%q, %v, header %+v", b, err, z.Header)
	}
	for _, c := range []struct {
		want string
		cols []Column
	}{
		{"1 values, but other columns have 2", []Column{{"a", []string{"x", "y"}}, {"b", []int32{1}}}},
		{"tab or line break", []Column{{"a", []string{"x\ty"}}}},
		{"tab or line break", []Column{{"a\n", []string{"x"}}}},
		{"values of type []bool", []Column{{"a", []bool{true}}}},
	} {
		if err := e.WriteScores("bad", c.cols...); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
	if _, err := os.Stat(filepath.Join(e.Dir, "bad.tsv.gz")); err == nil {
		t.Error("a refused table was written")
	}
}

// The settings of a run reach the task, whatever an earlier task left.
func TestSettingsReachTheTask(t *testing.T) {
	defer tensor.SetWorkers(runtime.GOMAXPROCS(0))
	for _, c := range []struct {
		sets    []string
		every   time.Duration
		steps   int
		workers int
	}{
		{[]string{"run.save_seconds=0.25", "run.save_steps=7", "run.workers=3"}, 250 * time.Millisecond, 7, 3},
		{nil, 20 * time.Second, 0, runtime.GOMAXPROCS(0)},
	} {
		seen := false
		task := Task{Verb: "train", Name: "look", Action: Bind(func() toy { return toy{} }, nil,
			func(ctx context.Context, env *Env, _ toy) error {
				seen = true
				if env.Save != (Saving{c.every, c.steps}) || tensor.Workers() != c.workers {
					t.Errorf("%v: every %v, %d steps, %d workers", c.sets, env.Save.Every, env.Save.Steps,
						tensor.Workers())
				}
				return nil
			})}
		sets := append([]string{"run.out=" + filepath.Join(t.TempDir(), "r")}, c.sets...)
		if _, err := task.Start(t.Context(), quiet(new(bytes.Buffer), Options{Sets: sets})); err != nil || !seen {
			t.Error(err)
		}
	}
}
