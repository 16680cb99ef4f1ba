//go:build amd64 && !amd64.v3 && !f64

// The hashes are of float32 on amd64 without fused multiplications, and but for those of TestFrozenTables of
// kernels in plain Go: other builds round last digits otherwise, and have no such tests.

package cli

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/spf13/cobra"

	"privrec/configs"
	"privrec/internal/config"
	"privrec/internal/demo"
	"privrec/internal/papers"
	"privrec/internal/record"
	"privrec/internal/reproduce"
	"privrec/internal/reproduce/grid"
	"privrec/internal/reproduce/matrix"
	"privrec/internal/reproduce/roster"
	"privrec/internal/run"
)

// hashes are files of what must not change without a reason: a line for each thing, its SHA-256 and its name.
const hashes = "../../testdata/hashes"

// sum returns the SHA-256 of a text.
func sum[T string | []byte](text T) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(text))) }

// frozen fails for every name whose hash is not that in a file of hashes. With -update it writes the file.
func frozen(t *testing.T, file string, got map[string]string) {
	t.Helper()
	path := filepath.Join(hashes, file)
	if *update {
		var b strings.Builder
		for _, name := range slices.Sorted(maps.Keys(got)) {
			fmt.Fprintf(&b, "%s  %s\n", got[name], name)
		}
		if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	for line := range strings.Lines(string(text)) {
		hash, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "  ")
		want[name] = hash
	}
	all := maps.Clone(want)
	maps.Copy(all, got)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		switch {
		case want[name] == "":
			t.Errorf("%s keeps no hash of %q", path, name)
		case got[name] == "":
			t.Errorf("%s keeps the hash of %q, which is gone", path, name)
		case got[name] != want[name]:
			t.Errorf("%s: other bytes than those that are frozen", name)
		}
	}
	if t.Failed() {
		t.Logf("go test ./internal/cli -run '^%s$' -update rewrites %s", t.Name(), path)
	}
}

// hashFiles adds the hash of every file below a folder that is of tables, pages or a budget, and one hash of all
// pages of single runs. It leaves out *-runs.json and costs.html, which are of times and machines, and where the
// folder lies.
func hashFiles(t *testing.T, into map[string]string, dir, name string) {
	t.Helper()
	pages := map[string]string{} // of single runs, by folder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(dir, path)
		rel = filepath.ToSlash(rel)
		in := strings.Contains("/"+rel, "/tables/") || d.Name() == "b.jsonl"
		if err != nil || d.IsDir() || !in || d.Name() == "costs.html" || strings.HasSuffix(rel, "-runs.json") {
			return err
		}
		text, err := os.ReadFile(path)
		text = bytes.ReplaceAll(text, []byte(dir), []byte("DIR"))
		if at, page, ok := strings.Cut(rel, "tables/runs/"); ok {
			pages[name+at+"tables/runs/*"] += sum(text) + page
		} else {
			into[name+rel] = sum(text)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for folder, all := range pages {
		into[folder] = sum(all)
	}
}

// TestFrozenConfigurations holds config_sha256 and the canonical YAML of the defaults of every task and of every
// configuration that comes with the program, and the names of the runs of every table, figure and matrix in
// every size, which runs are found by.
func TestFrozenConfigurations(t *testing.T) {
	t.Parallel()
	got := map[string]string{}
	plan := func(name string, task run.Task, o run.Options) {
		o.Sets = []string{"run.out=unused"}
		p, err := task.Plan(o)
		if err != nil {
			got[name+": refused"] = sum(err.Error())
			return
		}
		yaml, err := p.Config()
		if err != nil {
			t.Fatal(err)
		}
		got[name+": config_sha256"], got[name+": YAML"] = p.Hash, sum(yaml)
	}
	tasks := map[string]run.Task{}
	for _, task := range papers.All() {
		plan("defaults of "+task.String(), task, run.Options{})
		tasks[task.String()] = task
	}
	for file := range shippedFiles(t) {
		named, err := config.Top(file, "task")
		if err != nil {
			t.Fatal(err)
		}
		if task, ok := tasks[named]; ok {
			plan(strings.TrimPrefix(file, "../../"), task, run.Options{Config: file})
		}
	}
	grids, err := grid.BuiltIn(configs.Files(), papers.All())
	if err != nil {
		t.Fatal(err)
	}
	none, err := record.OpenShelf(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	names := func(g *grid.Grid, o roster.Options) (out string) {
		o.Out, o.Records = t.TempDir(), none
		made, err := reproduce.Look(t.Context(), g, o)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range made.Runs {
			out += filepath.Base(r.Dir) + "\n"
		}
		return out
	}
	for _, size := range []string{"smoke", "quick", "full"} {
		o := roster.Options{Size: size}
		for _, g := range grids {
			got["runs of "+g.FileName(o.Size, o.Sets)] = sum(names(g, o))
			if p, departs := g.AsPrinted(size); departs {
				got["runs of "+g.FileName(o.Size, o.Sets)+", as printed"] = sum(names(p, o))
			}
		}
		for _, name := range []string{"ml-100k", "ml-1m"} {
			m, err := matrix.BuiltIn(configs.Files(), name, papers.All())
			if err != nil {
				t.Fatal(err)
			}
			_, columns, err := m.Plan(roster.Options{Size: size, Out: t.TempDir()})
			if err != nil {
				t.Fatal(err)
			}
			for _, g := range columns {
				got["runs of "+g.FileName(o.Size, o.Sets)+", matrix "+name] = sum(names(g, o))
			}
		}
	}
	frozen(t, "configurations.txt", got)
}

// TestFrozenRefusals holds exit code, standard output and standard error of every command for --help and a flag
// that there is not, of every task for a configuration with several mistakes, and of the readers of
// configurations, grids, matrices and studies for every file of testdata/bad/config.
func TestFrozenRefusals(t *testing.T) {
	got := map[string]string{}
	t.Run("commands", func(t *testing.T) { refuse(t, got) })
	frozen(t, "refusals.txt", got)
}

// refuse adds what every command says to what it refuses, from a folder of its own.
func refuse(t *testing.T, got map[string]string) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("../../testdata/bad/config")); err != nil {
		t.Fatal(err)
	}
	bad, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	const mistakes = "run: {seed: -1, worker: 2}\nnothing: here\ndata: [1]\ntrain:\n  epochs: many\nmodel: {dim: 0.5}\n"
	if err := os.WriteFile(filepath.Join(dir, "mistakes.yaml"), []byte(mistakes), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	t.Setenv("PRIVREC_DATA", "")
	try := func(args ...string) {
		var out, errs bytes.Buffer
		app := &App{Tasks: papers.All(), Demo: demo.Run, Benches: benches(), Stdout: &out, Stderr: &errs}
		code := app.Execute(t.Context(), args)
		got[strings.Join(args, " ")] = sum(fmt.Sprintf("exit code %d\n%s\n%s", code, &out, &errs))
	}
	var visit func(c *cobra.Command)
	visit = func(c *cobra.Command) {
		path := strings.Fields(c.CommandPath())[1:]
		try(append(slices.Clone(path), "--help")...)
		try(append(slices.Clone(path), "--no-such-flag")...)
		for _, sub := range c.Commands() {
			visit(sub)
		}
	}
	app := &App{Tasks: papers.All(), Demo: demo.Run, Benches: benches()}
	visit(app.root())
	for _, task := range app.Tasks {
		try(task.Verb, task.Name, "--config", "mistakes.yaml")
	}
	for _, f := range bad {
		try("train", "dipsgnn", "--config", f.Name())
		try("reproduce", "--grid", f.Name())
		try("attack", "matrix", "--grid", f.Name())
		try("tune", "--study", f.Name())
	}
	if left, err := os.ReadDir("."); err != nil || len(left) != len(bad)+1 {
		t.Errorf("a refusal left files: %v, %v", left, err)
	}
}

// tookNow finds the time that privrec reproduce --json says that it took.
var tookNow = regexp.MustCompile(`(?m)^    "seconds": [0-9.]+,\n`)

// answered runs the program in a folder and returns what it printed, without the time that it took; of a failure
// also the exit code and standard error. It takes the kernels of every processor, and the data in the folder data.
func answered(t *testing.T, dir string, args ...string) string {
	t.Helper()
	c := program(t, dir, []string{"PRIVREC_SIMD=off", "GODEBUG=cpu.fma=off",
		"PRIVREC_DATA=" + filepath.Join(dir, "data"), "PRIVREC_CACHE=" + filepath.Join(dir, "cache")}, args...)
	var errs bytes.Buffer
	c.Stderr = &errs
	out, err := c.Output()
	if err != nil {
		out = fmt.Appendf(out, "\n%v\n%s", err, &errs)
	}
	return strings.ReplaceAll(string(tookNow.ReplaceAll(out, nil)), dir, "DIR")
}

// asked are command lines by the script of testdata/script whose files they read, with testdata/runs beside
// these. With the accounts and calibrations of calculations they are every command with --json, but for tasks,
// whose results testdata/frozen holds, and for unasked.
var asked = map[string][]string{
	"accountcurve": {
		"account curve gaussian --sigma 9 --sensitivity 1 --over steps --from 1 --to 9 --delta 1e-5 -o tables/g.svg",
		"account curve laplace --scale 4 --sensitivity 1 --over steps --from 1 --to 9 --delta 1e-5 -o tables/l.png",
		"account curve sampled-gaussian --noise-multiplier 4 --sampling-rate 0.1 --steps 9 --over fpr " +
			"--from 0.1 --to 0.5 -o tables/s.svg",
		"account gaussian --sigma 2 --sensitivity 1 --steps 1000 --delta 1e-5 --accountant rdp",
		"account sampled-gaussian --sampling-rate 0.01 --noise-multiplier 1 --steps 1000 --delta 1e-5 --accountant pld",
		"account sampled-gaussian --sampling-rate 0.01 --noise-multiplier 1 --steps 9 --delta 1e-5 " +
			"--accountant rdp --neighbouring replace",
		"account laplace --accountant pld --at-epsilon 0.5 --sensitivity 1.04 --steps 2 --scale 0.699",
		"account budget create b.jsonl --epsilon 2 --delta 1e-5 --data standin-demo",
		"account budget show b.jsonl",
		"account events events.yaml",
		"account ledger runs/train-dipsgnn/ledger.jsonl --delta 1e-6",
		"account ledger runs/train-rdpgcf/ledger.jsonl --delta 1e-6 --unit edge",
		"audit exact edgerand --odds 7/2",
		"audit exact frequency-oracle --mechanism olh --epsilon 1",
		"audit exact lapgraph",
		"audit exact pricdsr --mechanism sdp-fixed",
		"audit exact randomized-response",
		"report privacy runs/train-pricdsr --out tables/pricdsr.html",
		"report privacy runs/train-dipsgnn/ledger.jsonl --delta 1e-6 --out tables/ledger.html",
	},
	"json": {
		"data synth tiny --out s",
		"data list",
		"data prepare standin-tiny",
		"data stats standin-tiny",
		"data stats standin-slates --recipe slates",
		"account epsilon --paper pricdsr",
		"audit tables",
		"list",
		"perturb features --attributes users.tsv --out m.tsv --epsilon 5 --category gender=F,M --seed 1 --shard 1/2",
		"perturb features --attributes users.tsv --out m.tsv --epsilon 5 --category gender=F,M --seed 1 --shard 2/2",
		"perturb merge --out m.tsv",
		"evaluate --recs recs.tsv --truth truth.tsv --train train.tsv --k 2",
		"import --recs recs.tsv --train train.tsv --truth truth.tsv --out mine",
		"compare runs/train-dipsgnn:noise-on runs/train-srgnn",
		"compare runs/train-rdpgcf:noisy runs/train-bprmf runs/train-ease",
		"evaluate runs/train-rdpgcf",
		"recommend runs/train-ease --user 3 --k 2",
		"scores runs/train-ease --user 3 --k 2 --out tables/ease.tsv",
		"report vectors runs/train-bprmf --out tables/v --format npy",
		"report record runs/train-ease --out tables/kept.json --name ease",
		"reproduce --list",
		"reproduce --claims --out t --profile full",
	},
	"matrix": {"attack matrix --grid small.yaml --profile smoke --out t"},
	"tune":   {"tune --study study.yaml --out a"},
	"stream": {
		"stream create S --items items.csv --start day1.csv --epsilon 8 --horizon 3 --noise-seed 5",
		"stream add S day1.csv --day 2026-11-28",
		"stream release S",
		"stream show S",
	},
	"releasedataset": {
		"train dp-ease --set data.name=own-shop --set data.items=data/items.txt --set privacy.epsilon=20 " +
			"--set run.noise_seed=1 --set data.floor=none --set eval.k=[2] --out private",
		"release dataset private --out data/own-synthetic --users 300",
	},
	"reports":         {"data describe own-ml", "data stats own-ml --recipe all", "data verify own-ml"},
	"reproducefigure": {"reproduce --grid ease-lambda.yaml --profile smoke --out t"},
}

// madeFirst are files that lines read and their scripts have not, by the command that prints them.
var madeFirst = map[string]string{
	"ease.yaml":    "train ease --defaults",
	"events.yaml":  "account events --example",
	"itemknn.yaml": "train itemknn --defaults",
}

// unasked are commands with --json whose answers are of the machine, the time, the build or a network, run, which
// prints what the task of its file prints, forget, which prints hashes of runs, and those that TestPerturbFrozen asks.
var unasked = []string{
	"version", "list machine", "demo", "data fetch", "run", "perturb exposure", "perturb pricdsr", "forget",
	"forget check",
}

// TestFrozenAnswers holds what every command with --json prints, with the brackets of the accountants in it, and
// the tables, figures, pages and pictures of a matrix, a grid and reports.
func TestFrozenAnswers(t *testing.T) {
	t.Parallel()
	app := &App{Tasks: papers.All(), Demo: demo.Run, Benches: benches()}
	got := map[string]string{}
	for _, line := range calculations(t, app) {
		got[strings.Join(line, " ")] = sum(answered(t, t.TempDir(), line...))
	}
	for script, lines := range asked {
		a, err := txtar.ParseFile("../../testdata/script/" + script + ".txt")
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		for _, f := range a.Files {
			path := filepath.Join(dir, f.Name)
			if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, f.Data, 0o644)); err != nil {
				t.Fatal(err)
			}
		}
		err = os.CopyFS(filepath.Join(dir, "runs"), os.DirFS(oldRuns))
		if err = errors.Join(err, os.Mkdir(filepath.Join(dir, "tables"), 0o755)); err != nil {
			t.Fatal(err)
		}
		for name, line := range madeFirst {
			path := filepath.Join(dir, name)
			if _, err := os.Stat(path); err == nil {
				continue
			}
			if err := os.WriteFile(path, []byte(answered(t, dir, strings.Fields(line)...)), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		for _, line := range lines {
			line += " --json"
			got[line] = sum(answered(t, dir, strings.Fields(line)...))
		}
		hashFiles(t, got, dir, script+": ")
	}
	held, lines := slices.Clone(unasked), slices.Collect(maps.Keys(got))
	for _, task := range app.Tasks {
		held = append(held, task.String())
	}
	for _, c := range commandsWithJSON(app.root()) {
		c = strings.TrimPrefix(c, "privrec ")
		of := func(line string) bool { return strings.HasPrefix(line, c+" ") }
		if !slices.Contains(held, c) && !strings.HasPrefix(c, "bench ") && !slices.ContainsFunc(lines, of) {
			t.Errorf("nothing holds what privrec %s --json prints", c)
		}
	}
	frozen(t, "answers.txt", got)
}

// TestFrozenRecords holds the tables, figures, pages and verdicts of the runs that are kept in
// docs/results/records/runs. Further kept runs change them: make docs writes their hashes too.
func TestFrozenRecords(t *testing.T) {
	t.Parallel()
	kept, err := filepath.Abs("../../" + record.KeptRuns)
	if err != nil {
		t.Fatal(err)
	}
	dir, got := t.TempDir(), map[string]string{}
	all := []string{"reproduce", "--records=" + kept, "--out", "t", "--json"}
	got["reproduce"] = sum(answered(t, dir, all...))
	got["reproduce --claims"] = sum(answered(t, dir, append(all, "--claims")...))
	hashFiles(t, got, dir, "")
	frozen(t, "records.txt", got)
}
