package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"privrec/internal/config"
	"privrec/internal/demo"
	"privrec/internal/papers"
	"privrec/internal/privacy"
	"privrec/internal/run"
	"privrec/internal/run/runtest"
)

// The scripts call the real program as "privrec", and as "toy" the same
// command line over a task that is small enough to interrupt and resume.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"privrec": func() {
			os.Exit(observed(&App{Tasks: papers.All(), Demo: demo.Run, Benches: benches(), Stderr: os.Stderr}))
		},
		"toy": func() {
			os.Exit(observed(&App{Tasks: []run.Task{adder()}, Stderr: os.Stderr}))
		},
	})
}

// exitNotJSON is the exit code of a command whose --json printed something else than one document.
const exitNotJSON = 99

// observed runs a command of a script. With --json its standard output must be one JSON document and
// nothing else, or nothing where it fails, and the schema of the command's answer must take it.
func observed(app *App) int {
	var kept bytes.Buffer
	app.Stdout = io.MultiWriter(os.Stdout, &kept)
	code := app.Execute(context.Background(), os.Args[1:])
	asked := slices.ContainsFunc(os.Args, func(a string) bool { return a == "--json" || a == "--json=true" })
	if !asked || slices.Contains(os.Args, "--help") || code == exitReaderGone || code != 0 && kept.Len() == 0 {
		return code
	}
	err := oneDocument(kept.Bytes())
	if err == nil {
		err = fitsSchema(app, os.Args[1:], kept.Bytes())
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "%v: %v\n", os.Args[1:], err)
		return exitNotJSON
	}
	return code
}

// oneDocument fails on a text that is not one JSON document.
func oneDocument(text []byte) error {
	d := json.NewDecoder(bytes.NewReader(text))
	var v any
	if err := d.Decode(&v); err != nil {
		return fmt.Errorf("--json printed no JSON: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("--json printed more than one document")
	}
	return nil
}

func TestScripts(t *testing.T) {
	repo, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir: "../../testdata/script",
		Setup: func(e *testscript.Env) error {
			e.Setenv("REPO", repo)
			e.Setenv("PRIVREC_DATA", "")
			e.Setenv("PRIVREC_CACHE", e.WorkDir+"/cache")
			e.Setenv("PRIVREC_SIMD", os.Getenv("PRIVREC_SIMD"))
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"exits":   exits,
			"fails":   fails,
			"badset":  badset,
			"onejson": onejson,
			"mount":   mount,
			"serve":   serveFiles,
			"packs":   packs,
			"flips":   flips,
		},
		Condition: conditions,
	})
}

// exits runs a command and wants the exit code given first: exits 2 privrec x.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND [ARG]...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var e *exec.ExitError
		if !errors.As(err, &e) {
			ts.Fatalf("%v", err)
		}
		got = e.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// onejson wants a file, or stdout of the last command, to be one JSON document and no more.
func onejson(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: onejson FILE")
	}
	dec := json.NewDecoder(strings.NewReader(ts.ReadFile(args[0])))
	var v any
	ts.Check(dec.Decode(&v))
	if err := dec.Decode(&v); !errors.Is(err, io.EOF) {
		ts.Fatalf("%s goes on after the first document (%v)", args[0], err)
	}
}

type adderConfig struct {
	Steps int    `yaml:"steps"`
	Hold  string `yaml:"hold"` // while this file is there, wait for an interruption after as many steps as it says
	Fail  string `yaml:"fail"` // plain, data
}

// adder adds numbers with a checkpoint a step.
func adder() run.Task {
	return run.Spec[adderConfig]{
		Verb: "train", Name: "adder", Summary: "adds numbers", Cite: "A. Author, 2026",
		Default: func() adderConfig { return adderConfig{Steps: 5} },
		Check: func(v *config.Checker, c adderConfig) {
			v.Check(c.Steps >= 1, "steps", "must be positive, got %d", c.Steps)
		},
		Open: func(_ context.Context, env *run.Env, c adderConfig) (run.Work, error) {
			return runtest.Work(func(ctx context.Context) error { return add(ctx, env, c) }), nil
		},
	}.Task()
}

func add(ctx context.Context, env *run.Env, c adderConfig) error {
	if c.Fail != "" {
		return errors.New("cannot add: " + c.Fail)
	}
	if _, err := env.Ledger(privacy.Research, privacy.Declaration{WithoutNoise: []privacy.Unprotected{{What: "the sum", Why: "it is shown"}}}); err != nil {
		return err
	}
	st := struct{ Step, Sum int }{}
	cp, ok, err := env.LoadCheckpoint()
	if err == nil && ok {
		err = json.Unmarshal(cp.State, &st)
	}
	if err != nil {
		return err
	}
	env.Progress.Begin("adding", c.Steps)
	for st.Step < c.Steps {
		st.Step++
		st.Sum += st.Step
		b, _ := json.Marshal(st)
		if err := env.SaveCheckpoint(run.Checkpoint{State: b}); err != nil {
			return err
		}
		env.Progress.Add(1)
		if b, err := os.ReadFile(c.Hold); err == nil && strings.TrimSpace(string(b)) == strconv.Itoa(st.Step) {
			<-ctx.Done()
		}
		if ctx.Err() != nil {
			return run.ErrInterrupted
		}
	}
	env.Progress.End(fmt.Sprintf("added %d numbers", c.Steps))
	if err := env.WriteMetrics(map[string]int{"sum": st.Sum}); err != nil {
		return err
	}
	return env.Print(total(st.Sum))
}

type total int

func (t total) Text(w io.Writer) error { _, err := fmt.Fprintf(w, "sum %d\n", t); return err }
