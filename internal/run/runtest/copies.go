package runtest

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"privrec/internal/privacy"
	"privrec/internal/privacy/budget"
	"privrec/internal/rng"
	"privrec/internal/run"
)

// room makes a budget with room for one run.
func (s Spenders) room(t *testing.T) (file string) {
	file = filepath.Join(t.TempDir(), "budget.jsonl")
	err := budget.Create(file, budget.Terms{Epsilon: s.Each, Delta: s.Delta, Unit: s.About.Unit,
		Neighbouring: s.About.Neighbouring, Data: "standin", Rule: budget.Sum})
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// listed returns how many releases the ledger of a directory lists.
func listed(t *testing.T, dir string) int64 {
	t.Helper()
	x, err := (privacy.Reading{}).Extent(filepath.Join(dir, run.LedgerName))
	if err != nil {
		t.Fatal(err)
	}
	return x.Releases
}

// until lets a process run until its ledger lists the given number of releases. It fails if that never happens.
func (p *process) until(t *testing.T, dir string, releases int64) {
	t.Helper()
	for p.next() {
		if listed(t, dir) >= releases {
			return
		}
		p.goOn()
	}
	t.Fatalf("the run ended before %d releases: %v\n%s", releases, p.cmd.Wait(), p.err.String())
}

func (p *process) kill() {
	p.cmd.Process.Signal(syscall.SIGKILL)
	p.cmd.Wait()
}

// copyOf copies a directory.
func copyOf(t *testing.T, dir string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "copy")
	if err := os.CopyFS(to, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	return to
}

// spentOnce fails unless one run has spent all of a budget.
func (s Spenders) spentOnce(t *testing.T, file string) {
	t.Helper()
	b, err := budget.Read(file)
	if err != nil {
		t.Fatal(err)
	}
	if spent, limit, err := b.Spent(); err != nil || len(b.Reservations) != 1 ||
		b.Reservations[0].State != budget.Done || math.Abs(spent/s.Each-1) > 1e-6 || spent > limit {
		t.Errorf("spent %v of %v, %+v, %v", spent, limit, b.Reservations, err)
	}
}

// refused resumes a directory that must be refused, and fails if the attempt released anything.
func (s Spenders) refused(t *testing.T, name, file, dir, what string) {
	t.Helper()
	ledger := filepath.Join(dir, run.LedgerName)
	before, err := os.ReadFile(ledger)
	if err != nil {
		t.Fatal(err)
	}
	err = s.Start(t.Context(), name, file, dir, run.Silent{})
	var no *budget.Refusal
	if !errors.Is(err, budget.ErrElsewhere) || !errors.As(err, &no) || no.Hint() == "" {
		t.Errorf("%s: %v", what, err)
	}
	if after, err := os.ReadFile(ledger); err != nil || !bytes.Equal(before, after) {
		t.Errorf("%s: its ledger changed, %v", what, err)
	}
}

// Copies kills a run after some of its releases, copies its directory, and resumes all copies. One copy ends; all
// others must be refused before they release anything.
func (s Spenders) Copies(t *testing.T, name string, copies int) {
	file, dir := s.room(t), filepath.Join(t.TempDir(), "run")
	p := started(t, name, file, dir)
	p.until(t, dir, 4)
	p.kill()
	dirs := []string{dir}
	for range copies - 1 {
		dirs = append(dirs, copyOf(t, dir))
	}
	first := len(dirs) - 1 // any of them, here not the one that was copied
	if err := s.Start(t.Context(), name, file, dirs[first], run.Silent{}); err != nil {
		t.Fatal(err)
	}
	s.spentOnce(t, file)
	for i, d := range dirs[:first] {
		s.refused(t, name, file, d, fmt.Sprintf("copy %d of %d", i+1, copies))
	}
	s.spentOnce(t, file)
	if err := s.Start(t.Context(), name, file, dirs[first], run.Silent{}); err != nil { // shows its result again
		t.Error(err)
	}
}

// OlderCopy copies the directory of a running run. The copy has not seen all releases and must be refused; the run,
// killed, must continue.
func (s Spenders) OlderCopy(t *testing.T, name string) {
	file, dir := s.room(t), filepath.Join(t.TempDir(), "run")
	p := started(t, name, file, dir)
	p.until(t, dir, 3)
	older := copyOf(t, dir)
	p.goOn()
	p.until(t, dir, 5)
	p.kill()
	s.refused(t, name, file, older, "an older copy")
	if err := s.Start(t.Context(), name, file, dir, run.Silent{}); err != nil {
		t.Fatal(err)
	}
	s.spentOnce(t, file)
	s.refused(t, name, file, older, "an older copy, after the end")
}

// Overtaken copies the directory of a running run and runs the copy to its end. The run must stop before its next
// release.
func (s Spenders) Overtaken(t *testing.T, name string) {
	file, dir := s.room(t), filepath.Join(t.TempDir(), "run")
	p := started(t, name, file, dir)
	p.until(t, dir, 4)
	copied := copyOf(t, dir)
	if err := s.Start(t.Context(), name, file, copied, run.Silent{}); err != nil {
		t.Fatal(err)
	}
	s.spentOnce(t, file)
	for p.goOn(); p.next(); {
		p.goOn()
	}
	if err := p.cmd.Wait(); err == nil || !strings.Contains(p.err.String(), budget.ErrElsewhere.Error()) {
		t.Errorf("the run that was overtaken: %v\n%s", err, p.err.String())
	}
	if m, err := run.ReadManifest(dir); err != nil || m.Status != run.StatusFailed {
		t.Errorf("the run that was overtaken is %s, %v", m.Status, err)
	}
	s.spentOnce(t, file)
	s.refused(t, name, file, dir, "the run that was overtaken, resumed")
}

// Killed kills a run at random moments, set by a seed, until it ends. The reservation must never be less than what was
// released, and must be paid once in the end.
func (s Spenders) Killed(t *testing.T, name string, kills int, seed uint64) {
	file, dir, known := s.room(t), filepath.Join(t.TempDir(), "run"), map[string]float64{}
	dirs, moments, done := map[string]string{name: dir}, rng.Seed(seed).Stream("moments of kills"), 0
	for !s.done(dirs) {
		p := started(t, name, file, dir)
		for left := 1 + moments.IntN(14); ; left-- {
			if !p.next() {
				if err := p.cmd.Wait(); err != nil {
					t.Fatalf("after %d kills: %v\n%s", done, err, p.err.String())
				}
				break
			}
			if left == 0 && done < kills {
				p.kill()
				done++
				break
			}
			p.goOn()
		}
		if _, err := os.Stat(file); err == nil {
			s.check(t, file, dirs, known, fmt.Sprintf("after kill %d", done))
		}
	}
	if done < kills {
		t.Errorf("the run ended after %d kills, want %d", done, kills)
	}
	s.spentOnce(t, file)
}

// CopiesAtOnce kills a run, copies its directory, and resumes all copies at once, each in its own process. Exactly one
// must end.
func (s Spenders) CopiesAtOnce(t *testing.T, name string, copies int) {
	file, dir := s.room(t), filepath.Join(t.TempDir(), "run")
	p := started(t, name, file, dir)
	p.until(t, dir, 4)
	p.kill()
	dirs := []string{dir}
	for range copies - 1 {
		dirs = append(dirs, copyOf(t, dir))
	}
	running := make([]*process, copies)
	for i, d := range dirs {
		running[i] = started(t, name, file, d)
	}
	for left := copies; left > 0; { // a moment of each in turn
		for i, p := range running {
			switch {
			case p == nil:
			case p.next():
				p.goOn()
			default:
				if err := p.cmd.Wait(); err != nil && !strings.Contains(p.err.String(), budget.ErrElsewhere.Error()) {
					t.Errorf("copy %d: %v\n%s", i, err, p.err.String())
				}
				running[i] = nil
				left--
			}
		}
	}
	ended := 0
	for _, d := range dirs {
		if m, err := run.ReadManifest(d); err == nil && m.Status == run.StatusDone {
			ended++
		}
	}
	if ended != 1 {
		t.Errorf("%d of %d copies ended", ended, copies)
	}
	s.spentOnce(t, file)
}
