package runtest

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
	"privrec/internal/run"
)

// Spenders are runs that spend from one budget at once, each in its own process, and are killed.
type Spenders struct {
	Tasks []run.Task
	// Runs names them, each with its task, its configuration and what is set.
	Runs  map[string]Spending
	Alone map[string]Spending // more of them, which TwoSpend leaves out
	About privacy.Subject     // of the budget
	Delta float64             // of each run
	Each  float64             // epsilon of each run
	Kills int                 // at least as many moments are killed at
}

// Spending describes one such run: its task, its configuration and its settings.
type Spending struct {
	Task, Config string
	Sets         []string
}

// Environment variables that say to a process of a test which run it is.
const spendsRun, spendsBudget, spendsDir = "PRIVREC_TEST_SPENDS", "PRIVREC_TEST_BUDGET", "PRIVREC_TEST_DIR"

// Main runs the tests or, in a process that TwoSpend started, a run that reports its moments on out. It returns the
// exit code of the process. A package that calls TwoSpend calls Main from its TestMain.
func (s Spenders) Main(m *testing.M, out, problems io.Writer) int {
	name := os.Getenv(spendsRun)
	if name == "" {
		return m.Run()
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	if err := s.Start(ctx, name, os.Getenv(spendsBudget), os.Getenv(spendsDir),
		gate{in: bufio.NewReader(os.Stdin), out: out, stop: stop}); err != nil {
		fmt.Fprintln(problems, err)
		return 1
	}
	return 0
}

// Start starts a run that spends from a budget.
func (s Spenders) Start(ctx context.Context, name, file, dir string, p run.Progress, more ...string) error {
	of, ok := s.Runs[name]
	if !ok {
		of = s.Alone[name]
	}
	for _, task := range s.Tasks {
		if task.String() != of.Task {
			continue
		}
		sets := append(append([]string{}, of.Sets...), "privacy.parent="+file, "run.out="+dir, "run.workers=1")
		_, err := task.Start(ctx, run.Options{NoiseSeed: 1, Config: of.Config, Sets: append(sets, more...),
			Resume: true, Stdout: io.Discard, Log: slog.New(slog.DiscardHandler), Progress: p})
		return err
	}
	return fmt.Errorf("no task %q", of.Task)
}

// gate stops a process at every moment that its run reports, until the other process lets it continue or has ended.
type gate struct {
	run.Silent
	in   *bufio.Reader
	out  io.Writer
	stop context.CancelFunc
}

func (g gate) wait() {
	fmt.Fprintln(g.out, "moment")
	if _, err := g.in.ReadString('\n'); err != nil {
		g.stop()
	}
}
func (g gate) Phase(string)      { g.wait() }
func (g gate) Begin(string, int) { g.wait() }
func (g gate) Add(int)           { g.wait() }
func (g gate) End(string)        { g.wait() }

// process is a run in a process of its own.
type process struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
	err bytes.Buffer
}

func started(t *testing.T, name, file, dir string) *process {
	t.Helper()
	p := &process{cmd: exec.Command(os.Args[0])}
	p.cmd.Env = append(os.Environ(), spendsRun+"="+name, spendsBudget+"="+file, spendsDir+"="+dir)
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

// released returns the epsilon of the releases in a ledger on disk, for one unit of the budget. known caches results by
// the text of the ledger.
func (s Spenders) released(t *testing.T, dir string, known map[string]float64) float64 {
	t.Helper()
	path := filepath.Join(dir, run.LedgerName)
	text, err := settled(path)
	if errors.Is(err, os.ErrNotExist) {
		return 0
	}
	if err != nil {
		t.Fatal(err)
	}
	// A line that is being written, or was cut by a kill, is of a release that was not made yet.
	text = text[:bytes.LastIndexByte(text, '\n')+1]
	if len(text) == 0 {
		return 0
	}
	if eps, ok := known[string(text)]; ok {
		return eps
	}
	l, err := (privacy.Reading{Unfinished: true}).Parse(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	a, err := accountant.New(accountant.Contour, s.About.Unit, s.About.Neighbouring)
	if err != nil {
		t.Fatal(err)
	}
	r, err := accountant.Covered(a, l.Entries(), s.Delta)
	if err != nil {
		t.Fatal(err)
	}
	known[string(text)] = r.Epsilon
	return r.Epsilon
}

// check compares the reservations with the releases.
func (s Spenders) check(t *testing.T, file string, dirs map[string]string, known map[string]float64, what string) {
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
		at, own := s.released(t, dir, known), 0.0
		for _, r := range b.Reservations {
			if r.Run == dir {
				own = max(own, r.Held.Epsilon)
			}
		}
		if at > own*(1+1e-12) {
			t.Errorf("%s: %s released epsilon %v and holds %v", what, name, at, own)
		}
		seen += at
	}
	if spent, limit, err := b.Spent(); err != nil || spent > limit || spent < seen*(1-1e-12) ||
		math.Abs(spent-held) > 1e-12 {
		t.Errorf("%s: spent %v of %v, released %v, held %v, %v", what, spent, limit, seen, held, err)
	}
}

// settled returns the content of a file that nobody changed while it was read: two readings are the same. A run that
// goes on cuts its ledger and writes on, and one reading may fall between the two.
func settled(path string) ([]byte, error) {
	was, err := os.ReadFile(path)
	for err == nil {
		var is []byte
		if is, err = os.ReadFile(path); err == nil && bytes.Equal(is, was) {
			break
		}
		was = is
	}
	return was, err
}

// TwoSpend starts the runs at once and kills them at every second moment until all are done. The reservations must
// never be less than the releases. The budget has room for half a run more. It returns the path of the budget.
func (s Spenders) TwoSpend(t *testing.T) (file string) {
	file = filepath.Join(t.TempDir(), "budget.jsonl")
	limit := s.Each * (float64(len(s.Runs)) + 0.5) // room for half a run more
	if err := budget.Create(file, budget.Terms{Epsilon: limit, Delta: 10 * s.Delta, Unit: s.About.Unit,
		Neighbouring: s.About.Neighbouring, Data: "standin", Rule: budget.Sum}); err != nil {
		t.Fatal(err)
	}
	dirs, known, kills := map[string]string{}, map[string]float64{}, 0
	for name := range s.Runs {
		dirs[name] = filepath.Join(t.TempDir(), "run")
	}
	for at := 1; !s.done(dirs); at += 2 { // all at once, each killed at this moment
		ended := 0
		running := map[string]*process{}
		for name := range s.Runs {
			running[name] = started(t, name, file, dirs[name])
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
				s.check(t, file, dirs, known, fmt.Sprintf("%s at moment %d of %d", name, moment, at))
				if moment == at {
					p.cmd.Process.Signal(syscall.SIGKILL)
					p.cmd.Wait()
					p.in = nil
					ended++
					kills++
					s.check(t, file, dirs, known, fmt.Sprintf("%s killed at moment %d", name, at))
					continue
				}
				p.goOn()
			}
		}
	}
	if kills < s.Kills {
		t.Errorf("killed at %d moments, want at least %d", kills, s.Kills)
	}
	b, err := budget.Read(file)
	if err != nil {
		t.Fatal(err)
	}
	done := 0
	for _, r := range b.Reservations {
		if r.State == budget.Done && math.Abs(r.Held.Epsilon/s.Each-1) <= 2*privacy.PlanMargin {
			done++
		}
	}
	if done != len(s.Runs) || len(b.Reservations) != done {
		t.Errorf("%+v", b.Reservations)
	}
	return file
}

func (s Spenders) done(dirs map[string]string) bool {
	for _, dir := range dirs {
		if m, err := run.ReadManifest(dir); err != nil || m.Status != run.StatusDone {
			return false
		}
	}
	return true
}
