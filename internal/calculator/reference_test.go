package calculator

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"privrec/internal/privacy"
	below "privrec/internal/privacy/reference"
	"privrec/internal/rng"
	"privrec/internal/run"
)

// ledgers is how many are drawn: go test ./internal/calculator -run AgainstReference -ledgers 10000.
var ledgers = flag.Uint64("ledgers", 120, "random ledgers that are held against the reference")

// A printed epsilon is never below a reference that shares no code with the accountants
// and knows which unit contains which: of finished ledgers, and of interrupted ones. A
// ledger that lost lines at its end has no epsilon.
func TestLedgersAgainstReference(t *testing.T) {
	n := *ledgers
	var c ledgerTally
	var next atomic.Uint64
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			dir := t.TempDir()
			for i := next.Add(1) - 1; i < n; i = next.Add(1) - 1 {
				c.one(t, filepath.Join(dir, fmt.Sprint(i)), i)
			}
		})
	}
	wg.Wait()
	t.Logf("%d ledgers: %d epsilons finite and at least the reference, %d of them within 10 %% of it, %d infinite; %d ledgers refused as beyond every accountant, %d units without a reference; %d cut, all refused; %d interrupted",
		n, c.answered.Load(), c.close.Load(), c.infinite.Load(), c.refused.Load(), c.skipped.Load(), c.cut.Load(), c.interrupted.Load())
	if c.answered.Load() < int64(n)/4 || c.close.Load() < int64(n)/8 || c.infinite.Load() < int64(n)/8 {
		t.Error("too few of these are answered, close to the reference, or infinite, to say anything")
	}
	if c.cut.Load() < int64(n)/8 || c.interrupted.Load() < int64(n)/8 {
		t.Error("too few ledgers are cut or interrupted")
	}
}

// ledgerTally counts what came of random ledgers.
type ledgerTally struct {
	answered, infinite, close, refused, skipped, cut, interrupted atomic.Int64
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// one draws a run, writes its ledger, and asks what it amounts to.
func (c *ledgerTally) one(t *testing.T, dir string, i uint64) {
	s := rng.Seed(15).Stream("ledgers", i)
	drawn := below.Draw(&s)
	delta := []float64{1e-6, 1e-5, 1e-3}[s.IntN(3)]
	interrupted := s.Float64() < .3
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Error(err)
		return
	}
	path := filepath.Join(dir, run.LedgerName)
	if err := record(path, drawn, interrupted, int(s.IntN(31))); err != nil {
		t.Errorf("ledger %d: %v", i, err)
		return
	}
	if interrupted {
		c.interrupted.Add(1)
		text := must(json.Marshal(run.Manifest{Task: "train drawn", ConfigHash: "0", Status: run.StatusInterrupted}))
		if err := os.WriteFile(filepath.Join(dir, "manifest.json"), text, 0o644); err != nil {
			t.Error(err)
			return
		}
	} else if s.Float64() < .3 {
		c.cut.Add(1)
		short := filepath.Join(dir, "cut.jsonl")
		text := strings.SplitAfter(string(must(os.ReadFile(path))), "\n")
		text = text[:len(text)-1] // SplitAfter ends with ""
		keep := 1 + s.IntN(len(text)-1)
		if err := os.WriteFile(short, []byte(strings.Join(text[:keep], "")), 0o644); err != nil {
			t.Error(err)
			return
		}
		if out, err := ask(t, fmt.Sprintf("account ledger %s --delta %v --json", short, delta)); kind(err) != data || out != "" {
			t.Errorf("ledger %d without its last %d lines: %v, %s", i, len(text)-keep, err, out)
		}
	}
	out, err := ask(t, fmt.Sprintf("account ledger %s --delta %v --json", path, delta))
	if kind(err) == failed { // what only Rényi divergences cover
		out, err = ask(t, fmt.Sprintf("account ledger %s --delta %v --json --accountant rdp", path, delta))
	}
	if err != nil {
		if kind(err) != failed || !strings.Contains(err.Error(), "account of") {
			t.Errorf("ledger %d: %s: %v", i, kind(err), err)
		}
		c.refused.Add(1)
		return
	}
	var said struct {
		Guarantees []struct {
			Unit         privacy.Unit
			Neighbouring privacy.Neighbouring
			Epsilon      any
		}
	}
	if err := json.Unmarshal([]byte(out), &said); err != nil {
		t.Errorf("ledger %d: %v", i, err)
		return
	}
	covered := map[privacy.Unit]bool{}
	for _, g := range said.Guarantees {
		covered[g.Unit] = true
		eps, finite := g.Epsilon.(float64)
		if !finite {
			eps = math.Inf(1)
		}
		least, err := below.AtLeast(drawn.Entries, below.Question{Unit: g.Unit, Relation: g.Neighbouring, Delta: delta, Holdings: drawn.Holdings})
		switch {
		case errors.Is(err, below.ErrNoLaw):
			c.skipped.Add(1)
		case err != nil:
			t.Errorf("ledger %d: %v", i, err)
		case least > eps*(1+1e-6)+1e-9:
			t.Errorf("ledger %d, one %s under %s at delta %v: epsilon %v is printed, and at least %v is true: %+v %+v", i, g.Unit, g.Neighbouring, delta, eps, least, drawn.Entries, drawn.Holdings)
		case !finite:
			c.infinite.Add(1)
		default:
			c.answered.Add(1)
			if least > .9*eps-1e-3 {
				c.close.Add(1)
			}
		}
	}
	for _, e := range drawn.Entries {
		for _, s := range privacy.Subjects(e.Event) {
			if s.Unit != "" && !covered[s.Unit] {
				t.Errorf("ledger %d: nothing is said of one %s", i, s.Unit)
			}
		}
	}
}

// record writes a ledger as a run does: of one that is interrupted the last releases are
// on file as those of an open period.
func record(path string, drawn below.Drawn, interrupted bool, flushed int) error {
	l, err := privacy.CreateLedger(path, privacy.Research, nil)
	if err != nil {
		return err
	}
	for _, h := range drawn.Holdings {
		if err := l.Hold(h); err != nil {
			return err
		}
	}
	for i, e := range drawn.Entries {
		if e.PerUnit > 0 {
			if err := l.Bound(e.Purpose, e.PerUnit); err != nil {
				return err
			}
		}
		if err := l.Record(e.Purpose, e.Event, e.Count); err != nil {
			return err
		}
		if i == flushed {
			if err := l.Flush("1"); err != nil {
				return err
			}
		}
	}
	if interrupted {
		_, err := l.State() // as before a checkpoint
		return errors.Join(err, l.Leave())
	}
	return l.Close()
}
