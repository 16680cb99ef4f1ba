//go:build amd64 && !amd64.v3 && !f64

// The frozen bytes are those of float32 on amd64: float64, and processors on which Go fuses
// multiplications, round otherwise, and have no such tests.

package papers

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"privrec/internal/run"
)

var update = flag.Bool("update", false, "rewrite the files in testdata/frozen")

// Where the frozen bytes are kept, and what a process that makes them finds in its
// environment.
const (
	frozenDir = "../../testdata/frozen"
	frozenEnv = "PRIVREC_TEST_FROZEN"
)

// TestMain runs the tests, or, in a process that a test started for it, tasks.
func TestMain(m *testing.M) {
	if os.Getenv(frozenEnv) == "" {
		os.Exit(m.Run())
	}
	if err := runJobs(os.Stdin); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// job is one run whose files are frozen.
type job struct {
	File    string // of testdata/frozen, that keeps it
	Setting string // name within the file
	Task    string // "train dipsgnn"
	Config  string // path; empty: the task's defaults
	Sets    []string
}

// folder names the run directory of a job beneath dir.
func (j job) folder(dir string) string {
	return filepath.Join(dir, strings.ReplaceAll(strings.ReplaceAll(j.File+"-"+j.Setting, " ", "-"), "/", "-"))
}

// runJobs reads jobs as JSON and runs them in this process.
func runJobs(from io.Reader) error {
	var jobs []job
	if err := json.NewDecoder(from).Decode(&jobs); err != nil {
		return err
	}
	for _, j := range jobs {
		i := slices.IndexFunc(All(), func(t run.Task) bool { return t.String() == j.Task })
		if i < 0 {
			return fmt.Errorf("no task %q", j.Task)
		}
		_, err := All()[i].Start(context.Background(), run.Options{
			NoiseSeed: 1,
			Config:    j.Config, Sets: j.Sets, Stdout: io.Discard, Log: slog.New(slog.DiscardHandler), Progress: run.Silent{},
		})
		if err != nil {
			return fmt.Errorf("%s, %s: %w", j.Task, j.Setting, err)
		}
	}
	return nil
}

// made runs jobs with a number of workers into run directories beneath dir. It runs them
// in another process, since the kernels are chosen when a process starts: plain Go, and
// math.Exp without fused multiplication, so that the bytes are those of every amd64
// processor.
func made(ctx context.Context, jobs []job, dir string, workers int) error {
	placed := slices.Clone(jobs)
	for i, j := range placed {
		placed[i].Sets = slices.Concat(j.Sets, []string{"run.out=" + j.folder(dir), fmt.Sprintf("run.workers=%d", workers)})
	}
	list, err := json.Marshal(placed)
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	c := exec.CommandContext(ctx, self)
	c.Env = append(os.Environ(), frozenEnv+"=1", "PRIVREC_SIMD=off", "GODEBUG=cpu.fma=off", "PRIVREC_CACHE="+filepath.Join(dir, "cache"))
	c.Stdin = bytes.NewReader(list)
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("%d workers: %w\n%s", workers, err, out)
	}
	return nil
}

// secure finds the setting of a configuration whose noise is from cryptographic bits: no two runs of it are alike.
var secure = regexp.MustCompile(`(?m)^(run: \{.*)?\s*secure: true`)

// smokeFiles lists a job for every configs/*/smoke*.yaml that has a seed.
func smokeFiles(t *testing.T) (jobs []job) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(configs, "*", "smoke*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		task, ok := ownerOf(file)
		if !ok {
			t.Fatalf("%s belongs to no task", file)
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if secure.Match(text) {
			continue
		}
		name := filepath.Join(filepath.Base(filepath.Dir(file)), filepath.Base(file))
		jobs = append(jobs, job{File: frozenFile(task), Setting: filepath.ToSlash(name), Task: task.String(), Config: file})
	}
	if len(jobs) < 5 {
		t.Fatalf("found %d smoke configurations in %s, want at least 5", len(jobs), configs)
	}
	return jobs
}

// smallSettings lists a job for every setting of every task in stops.
func smallSettings() (jobs []job) {
	for _, task := range All() {
		for _, s := range settingsOf(task) {
			j := job{File: frozenFile(task), Setting: s.name, Task: task.String(), Sets: s.sets}
			if s.config != "" {
				j.Config = filepath.Join(configs, s.config)
			}
			jobs = append(jobs, j)
		}
	}
	return jobs
}

// frozenFile names the file that keeps a task's bytes.
func frozenFile(t run.Task) string { return t.Verb + "-" + t.Name + ".txt" }

// TestFrozen demands the frozen bytes of metrics.json, privacy.json and result.txt of the
// smoke configurations and of every task's small settings, made with one worker, and of
// each task's first small setting the same with three. Short, it runs the first small
// settings alone, with one worker.
func TestFrozen(t *testing.T) {
	t.Parallel()
	small := smallSettings()
	first := slices.Clone(small)
	first = slices.CompactFunc(first, func(a, b job) bool { return a.Task == b.Task })
	if n := len(All()); len(first) != n {
		t.Errorf("%d of %d tasks have a small setting: add one to stops", len(first), n)
	}
	one, three := t.TempDir(), t.TempDir()
	if testing.Short() {
		if *update {
			t.Fatal("-update rewrites whole files: leave -short out")
		}
		if err := made(t.Context(), first, one, 1); err != nil {
			t.Fatal(err)
		}
		compareFrozen(t, first, one)
		return
	}
	jobs := append(smokeFiles(t), small...)
	ended := make(chan error)
	go func() { ended <- made(t.Context(), first, three, 3) }()
	err := made(t.Context(), jobs, one, 1)
	if err := errors.Join(err, <-ended); err != nil {
		t.Fatal(err)
	}
	for _, j := range first {
		for _, name := range frozenNames {
			if !bytes.Equal(read(t, filepath.Join(j.folder(one), name)), read(t, filepath.Join(j.folder(three), name))) {
				t.Errorf("%s, %s: %s depends on the number of workers", j.Task, j.Setting, name)
			}
		}
	}
	compareFrozen(t, jobs, one)
	noOthers(t, jobs)
}

// noOthers demands that no file in testdata/frozen is one of no job.
func noOthers(t *testing.T, jobs []job) {
	t.Helper()
	kept, err := os.ReadDir(frozenDir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range kept {
		if !strings.HasPrefix(e.Name(), realPrefix) && !slices.ContainsFunc(jobs, func(j job) bool { return j.File == e.Name() }) {
			t.Errorf("testdata/frozen/%s is of no task that there is", e.Name())
		}
	}
}

// realPrefix begins the names of files that keep runs on real data.
const realPrefix = "real-"

// onReal demands the frozen bytes of runs on real data, each in a file of its own.
func onReal(t *testing.T, jobs ...job) {
	t.Helper()
	if os.Getenv("PRIVREC_DATA") == "" { // .ci/run sets it where the data are, and fails when a test says this then
		t.Skip("PRIVREC_DATA is not set: skipping the frozen runs on real data")
	}
	for i := range jobs {
		jobs[i].File = realPrefix + jobs[i].Setting + ".txt"
		jobs[i].Config = filepath.Join(configs, jobs[i].Config)
	}
	dir := t.TempDir()
	if err := made(t.Context(), jobs, dir, 2); err != nil {
		t.Fatal(err)
	}
	compareFrozen(t, jobs, dir)
}

// TestFrozenReal demands the frozen bytes of one short run a paper on real data.
func TestFrozenReal(t *testing.T) {
	t.Parallel()
	onReal(t,
		job{Setting: "dipsgnn-ml-100k", Task: "train dipsgnn", Config: "dipsgnn/ml-1m.yaml",
			Sets: []string{"data.name=ml-100k", "model.dim=4", "model.user_dim=2", "train.epochs=1", "train.batch=500"}},
		job{Setting: "rdpgcf-ml-1m", Task: "train rdpgcf", Config: "rdpgcf/ml-1m.yaml", Sets: []string{"model.dim=4", "train.epochs=1", "train.batch=20000"}},
		job{Setting: "pricdsr-toys-games", Task: "train pricdsr", Config: "pricdsr/toys-games.yaml",
			Sets: []string{"data.length=20", "model.dim=4", "model.window=3", "train.epochs=1", "train.refit=false"}},
		job{Setting: "exposure-mind", Task: "attack exposure", Config: "exposure/mind.yaml",
			Sets: []string{"attack.dim=4", "attack.ffn=4", "attack.heads=1", "train.epochs=1", "train.sample=0.02", "eval.k=[5]", "eval.budget=[k]", "eval.resamples=100"}},
	)
}
