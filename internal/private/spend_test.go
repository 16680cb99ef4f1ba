package private

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant"
	"privrec/internal/privacy/budget"
	"privrec/internal/private/release"
	"privrec/internal/run"
)

// The two runs that spend from one budget. Each promises epsilon 1 at delta 1e-6.
var spenders = map[string][]string{
	"train dp-als":    {"smoke-dp-als.yaml", "privacy.epsilon=1", "privacy.delta=1e-6"},
	"train dp-sgd-mf": {"smoke-dp-sgd-mf.yaml", "privacy.epsilon=1", "privacy.delta=1e-6", "train.steps=8", "run.save_steps=3"},
}

// spendFrom starts a task that spends from a budget.
func spendFrom(ctx context.Context, name, file, dir string, p run.Progress, more ...string) error {
	for _, task := range Tasks() {
		if task.String() != name {
			continue
		}
		sets := append(append([]string{}, spenders[name][1:]...), "privacy.parent="+file, "run.out="+dir, "run.workers=1")
		_, err := task.Start(ctx, run.Options{Config: filepath.Join("../../configs/private", spenders[name][0]), Sets: append(sets, more...),
			Resume: true, Stdout: io.Discard, Log: slog.New(slog.DiscardHandler), Progress: p})
		return err
	}
	return fmt.Errorf("no task %s", name)
}

// gate stops a process at every moment that its run reports, until the other process lets it go on.
type gate struct {
	run.Silent
	in *bufio.Reader
}

func (g gate) wait() {
	fmt.Println("moment")
	if _, err := g.in.ReadString('\n'); err != nil {
		os.Exit(1)
	}
}
func (g gate) Phase(string)      { g.wait() }
func (g gate) Begin(string, int) { g.wait() }
func (g gate) Add(int)           { g.wait() }
func (g gate) End(string)        { g.wait() }

// TestMain makes this program a process of TestTwoRunsSpend where it is started as one.
func TestMain(m *testing.M) {
	name := os.Getenv("PRIVREC_TEST_SPENDS")
	if name == "" {
		os.Exit(m.Run())
	}
	if err := spendFrom(context.Background(), name, os.Getenv("PRIVREC_TEST_BUDGET"), os.Getenv("PRIVREC_TEST_DIR"), gate{in: bufio.NewReader(os.Stdin)}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// process is a run in a process of its own.
type process struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
	err bytes.Buffer
}

func begin(t *testing.T, name, file, dir string) *process {
	t.Helper()
	p := &process{cmd: exec.Command(os.Args[0])}
	p.cmd.Env = append(os.Environ(), "PRIVREC_TEST_SPENDS="+name, "PRIVREC_TEST_BUDGET="+file, "PRIVREC_TEST_DIR="+dir)
	p.cmd.Stderr = &p.err
	in, err := p.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.in, p.out = in, bufio.NewReader(out)
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return p
}

// next waits for the next moment. It returns false at the end of the process.
func (p *process) next() bool {
	for {
		line, err := p.out.ReadString('\n')
		if err != nil {
			return false
		}
		if strings.HasSuffix(line, "moment\n") {
			return true
		}
	}
}

func (p *process) goOn() { io.WriteString(p.in, "\n") }

// released returns what a ledger on file says was released, as epsilon at the delta for one user.
func released(t *testing.T, dir string) float64 {
	t.Helper()
	l, err := (privacy.Reading{Unfinished: true}).File(filepath.Join(dir, run.LedgerName))
	if errors.Is(err, os.ErrNotExist) {
		return 0
	}
	if err != nil {
		t.Fatal(err)
	}
	a, err := accountant.New(accountant.Contour, release.About.Unit, release.About.Neighbouring)
	if err != nil {
		t.Fatal(err)
	}
	r, err := accountant.Covered(a, l.Entries(), 1e-6)
	if err != nil {
		t.Fatal(err)
	}
	return r.Epsilon
}

// Two runs spend from one budget at once and are killed at ten moments. What is reserved is never less
// than what was released; in the end both are done, and a third run is refused before it releases
// anything, with both numbers.
func TestTwoRunsSpend(t *testing.T) {
	file := filepath.Join(t.TempDir(), "budget.jsonl")
	if err := budget.Create(file, budget.Terms{Epsilon: 2.5, Delta: 1e-5, Unit: privacy.User, Neighbouring: privacy.AddRemove, Data: "standin", Rule: budget.Sum}); err != nil {
		t.Fatal(err)
	}
	dirs, kills := map[string]string{}, 0
	for name := range spenders {
		dirs[name] = filepath.Join(t.TempDir(), "run")
	}
	check := func(what string) {
		t.Helper()
		b, err := budget.Read(file)
		if err != nil {
			t.Fatal(what, err)
		}
		held, seen := 0.0, 0.0
		for _, r := range b.Reservations {
			held += r.Held.Epsilon
		}
		for name, dir := range dirs {
			at := released(t, dir)
			own := 0.0
			for _, r := range b.Reservations {
				if r.Task == name {
					own = max(own, r.Held.Epsilon)
				}
			}
			if at > own {
				t.Errorf("%s: %s released epsilon %v and holds %v", what, name, at, own)
			}
			seen += at
		}
		if spent, limit, err := b.Spent(); err != nil || spent > limit || spent < seen || math.Abs(spent-held) > 1e-12 {
			t.Errorf("%s: spent %v of %v, released %v, held %v, %v", what, spent, limit, seen, held, err)
		}
	}
	for at := 1; ; at += 2 { // both at once, each killed at this moment
		ended := 0
		running := map[string]*process{}
		for name := range spenders {
			running[name] = begin(t, name, file, dirs[name])
		}
		for moment := 1; moment <= at && ended < len(running); moment++ {
			for name, p := range running {
				if p.in == nil {
					continue
				}
				if !p.next() {
					if err := p.cmd.Wait(); err != nil {
						t.Fatalf("%s at moment %d: %v\n%s", name, moment, err, p.err.String())
					}
					p.in = nil
					ended++
					continue
				}
				check(fmt.Sprintf("%s at moment %d of %d", name, moment, at))
				if moment == at {
					p.cmd.Process.Signal(syscall.SIGKILL)
					p.cmd.Wait()
					p.in = nil
					ended++
					kills++
					check(fmt.Sprintf("%s killed at moment %d", name, at))
					continue
				}
				p.goOn()
			}
		}
		all := true
		for _, dir := range dirs {
			m, err := run.ReadManifest(dir)
			all = all && err == nil && m.Status == run.StatusDone
		}
		if all {
			break
		}
	}
	if kills < 10 {
		t.Errorf("killed at %d moments, want at least 10", kills)
	}
	b, err := budget.Read(file)
	if err != nil {
		t.Fatal(err)
	}
	done := 0
	for _, r := range b.Reservations {
		if r.State == budget.Done && r.Held.Epsilon == 1 {
			done++
		}
	}
	if done != 2 || len(b.Reservations) != 2 {
		t.Errorf("%+v", b.Reservations)
	}
	third := filepath.Join(t.TempDir(), "third")
	var no *budget.Refusal
	for want, set := range map[string]string{
		"would spend epsilon 1 at delta 1e-06, and epsilon 0.5 of 2.5": "privacy.items=11",
		"and the budget in " + file + " is for":                        "run.seed=2", // which makes other stand-in data
	} {
		if err := spendFrom(t.Context(), "train dp-als", file, third, run.Silent{}, set); !errors.As(err, &no) || !strings.Contains(err.Error(), want) {
			t.Errorf("the third run with %s: %v, want %q", set, err, want)
		}
	}
	if _, err := os.Stat(third); !os.IsNotExist(err) {
		t.Errorf("the refused run left its directory: %v", err)
	}
}
