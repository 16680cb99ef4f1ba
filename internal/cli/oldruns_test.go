//go:build amd64 && !amd64.v3 && !f64

// The kept runs are of float32, and their answers of amd64 without fused multiplications:
// other builds refuse them or round otherwise, and have no such tests.

package cli

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Where the old runs are, made by scripts/make-old-runs.sh, and what is answered of them.
const (
	oldRuns    = "../../testdata/runs"
	oldAnswers = "../../testdata/answers"
)

// onRuns are old runs whose recommendations are attacked, one a protocol and a way to keep
// a model.
var onRuns = []string{"train-sasrec", "train-dipsgnn", "train-rdpgcf", "train-ease", "train-pricdsr"}

// comparisons of old runs on equal data.
var comparisons = [][]string{
	{"train-dipsgnn:noise-on", "train-srgnn", "train-apgnn", "train-gru4rec"},
	{"train-rdpgcf:noisy", "train-bprmf", "train-lightgcn", "train-ngcf", "train-edgerand", "train-lapgraph", "train-ease", "train-itemknn"},
	{"train-pricdsr", "train-dasl", "train-dasl-single"},
	{"attack-exposure", "attack-exposure:logged-k"},
}

// TestOldRuns reads the runs in testdata/runs, which an earlier program made, one of every
// task that it had, with every command that reads runs: each ends with exit code 0, and
// the first lines of what it prints are those in testdata/answers.
func TestOldRuns(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.CopyFS(filepath.Join(dir, "runs"), os.DirFS(oldRuns)); err != nil {
		t.Fatal(err)
	}
	found, err := os.ReadDir(oldRuns)
	if err != nil {
		t.Fatal(err)
	}
	if len(found) < 17 {
		t.Errorf("%d runs in %s, there were 17", len(found), oldRuns)
	}
	for _, e := range found {
		name := e.Name()
		verb, task, _ := strings.Cut(name, "-")
		run := "runs/" + name
		commands := [][]string{
			{"account", "ledger", run + "/ledger.jsonl", "--delta", "1e-6"},
			{verb, task, "--config", run + "/config.yaml", "--out", run, "--resume"},
		}
		if verb == "train" {
			commands = append(commands, []string{"evaluate", run}, []string{"recommend", run, "--user", "3", "--user", "1", "--k", "2"})
		}
		if slices.Contains(onRuns, name) {
			commands = append(commands, []string{
				"attack", "exposure", "--on", run, "--out", name, "--workers", "1", "--set", "data.slate=5", "--set", "data.behaviour=3", "--set", "attack.dim=4",
				"--set", "attack.ffn=4", "--set", "train.epochs=1", "--set", "eval.k=[5]", "--set", "eval.resamples=100",
			})
		}
		t.Run(name, func(t *testing.T) { answers(t, dir, name, commands) })
	}
	t.Run("compare", func(t *testing.T) {
		var commands [][]string
		for _, c := range comparisons {
			commands = append(commands, []string{"compare"})
			for _, name := range c {
				commands[len(commands)-1] = append(commands[len(commands)-1], "runs/"+name)
			}
		}
		answers(t, dir, "compare", commands)
	})
}

// answers runs commands in a folder, one after the other, and demands what
// testdata/answers says of the name.
func answers(t *testing.T, dir, name string, commands [][]string) {
	t.Helper()
	var got bytes.Buffer
	for _, args := range commands {
		// The kernels of every processor: answers are the same on each.
		c := program(t, dir, []string{"PRIVREC_SIMD=off", "GODEBUG=cpu.fma=off", "PRIVREC_DATA=", "PRIVREC_CACHE=" + filepath.Join(dir, "cache")}, args...)
		var errs bytes.Buffer
		c.Stderr = &errs
		out, err := c.Output()
		if err != nil {
			t.Fatalf("privrec %s: %v\n%s", strings.Join(args, " "), err, &errs)
		}
		fmt.Fprintf(&got, "$ privrec %s\n", strings.Join(args, " "))
		lines := strings.SplitAfter(string(out), "\n")
		got.WriteString(strings.Join(lines[:min(len(lines), 24)], "") + "\n")
	}
	path := filepath.Join(oldAnswers, name+".txt")
	if *update {
		if err := os.WriteFile(path, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("%s (go test ./internal/cli -run TestOldRuns -update rewrites it):\n%s", path, diff)
	}
}
