package run

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"privrec/internal/dataset"
	"privrec/internal/rng"
	"privrec/internal/system"
)

// open claims the run directory and prepares it. If the run was already complete, it shows the result again and returns
// a nil Env without an error.
func open(dir string, t Task, b *bound, o Options) (env *Env, err error) {
	yaml, err := b.yaml()
	if err != nil {
		return nil, err
	}
	made, err := makeDir(dir)
	if err != nil {
		return nil, err
	}
	defer func() {
		if env == nil {
			removeEmpty(made)
		}
	}()
	// Check twice: before anything is changed, and once no other process can change it.
	if _, err := inspect(dir, yaml); err != nil {
		return nil, err
	}
	l, err := acquire(dir)
	if err != nil {
		return nil, err
	}
	defer func() {
		if env == nil {
			l.release()
		}
	}()
	found, err := inspect(dir, yaml)
	if err != nil {
		return nil, err
	}
	if err := system.Sweep(dir, filepath.Join(dir, "checkpoint")); err != nil {
		return nil, fmt.Errorf("sweep run directory: %w", err)
	}
	old, fresh := found.manifest, found.manifest == nil
	if !fresh { // the process that wrote the directory has ended: the lock is this one's
		old.killed()
	}
	switch {
	case !fresh && old.Final:
		return nil, &UsageError{
			Message: fmt.Sprintf("the run in %s failed for good: %s", dir, old.Error),
			Fix:     "start again with another --out",
		}
	case !fresh && !o.Resume:
		for _, name := range results {
			if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
				return nil, &UsageError{
					Message: fmt.Sprintf("run directory %s already holds a run (%s, %s)", dir, old.Task, old.Status),
					Fix:     "continue it with --resume, or choose another --out",
				}
			}
		}
		if releasedForGood(filepath.Join(dir, LedgerName), b.key) {
			return nil, &UsageError{
				Message: fmt.Sprintf("the run in %s has made releases whose noise cannot be drawn again: to begin "+
					"anew would be a second release, in no ledger", dir),
				Fix: "continue it with --resume, or choose another --out, whose releases then come on top",
			}
		}
		if err := checkNoise(dir, old, b); err != nil {
			return nil, err
		}
		fresh = true // an earlier attempt left nothing to keep
	case !fresh && old.ConfigHash != b.hash:
		return nil, &UsageError{
			Message: fmt.Sprintf("run directory %s was made by another configuration%s", dir,
				firstDifference(dir, yaml)),
			Fix: "resume with the config.yaml in it, or choose another --out",
		}
	case !fresh && old.Status == StatusDone:
		if err := settleDone(dir, b.key); err != nil {
			o.Log.Warn("the run is done, and the budget that it spends from could not be told so", "why", err)
		}
		return nil, showAgain(dir, o)
	case !fresh && old.Draws != ByID:
		return nil, &UsageError{
			Message: fmt.Sprintf("the run in %s was begun by an earlier program, which drew users and rows by their "+
				"place and not by their ids: this program would go on with other rows", dir),
			Fix: "start again with another --out",
		}
	}
	if o.Resume && fresh {
		o.Log.Warn("nothing to resume yet, starting from the beginning", "dir", dir)
	}
	e := &Env{
		Dir: dir, Seed: rng.Seed(b.settings.Seed), ConfigHash: b.hash, Resume: o.Resume && !fresh,
		Save: b.settings.saving(), Log: o.Log, Progress: o.Progress,
		opening:  openingFor(running, dataset.View{Seed: rng.Seed(b.settings.Seed), Withheld: o.Withhold}),
		noise:    b.noise(o.OnNoise),
		books:    books{key: b.key, spends: spending{from: b.parent}},
		manifest: b.manifest(t, o), from: o.From, corrects: o.Corrects,
		writing: writing{
			folder: folder{lock: l, made: made, fresh: fresh, userConfig: found.config, kept: !fresh},
			events: eventFile{wanted: o.Events}, out: o.Stdout, json: o.JSON, cpu: system.CPUSeconds(),
		},
	}
	now := Attempt{Started: time.Now().UTC(), Resumed: e.Resume, Status: StatusRunning, Build: BuildInfo(),
		Machine: ThisMachine()}
	if !fresh {
		e.noise.kind, e.manifest.Results = old.Noise, old.Results
	}
	e.manifest.Noise = e.noise.kind
	if !fresh {
		if _, err := e.verify(); err != nil {
			return nil, err
		}
		if err := b.key.Opens(filepath.Join(dir, LedgerName)); err != nil {
			return nil, otherKey(err)
		}
		if n := len(old.Attempts); n > 0 {
			warnOfOther(o.Log, old.Attempts[n-1].Build, now.Build)
		}
		e.manifest.Data, e.manifest.Notes, e.manifest.Attempts = old.Data, old.Notes, old.Attempts
	}
	e.manifest.Attempts = append(e.manifest.Attempts, now)
	for _, n := range o.Notes {
		if !slices.Contains(e.manifest.Notes, n) {
			e.manifest.Notes = append(e.manifest.Notes, n)
		}
	}
	if note := secureNote(b.settings.Seed); e.noise.secure && !slices.Contains(e.manifest.Notes, note) {
		e.manifest.Notes = append(e.manifest.Notes, note)
	}
	if err := e.prepare(yaml); err != nil {
		e.abandon()
		return nil, err
	}
	return e, nil
}

// manifest returns the manifest of a new run, without its noise and its attempts.
func (b *bound) manifest(t Task, o Options) Manifest {
	m := Manifest{
		Task: t.String(), Cite: t.Cite, Status: StatusRunning, Seed: b.settings.Seed, ConfigFile: o.Config,
		ConfigHash: b.hash, Draws: ByID, Results: ResultsOf(t.String()), Stages: map[string]float64{},
		Secure: b.settings.Secure, Forgotten: b.settings.Forgotten,
	}
	if h := b.settings.HoldOut; h.active() {
		m.HoldOut = &h
	}
	if p := b.settings.Plant; p != (Plant{}) {
		m.Plant = &p
	}
	return m
}

// noise returns the source of the noise of a new run.
func (b *bound) noise(on func(paper, purpose string, s rng.Stream)) noise {
	n := noise{kind: NoiseOfKey, secure: b.settings.Secure, seed: b.settings.NoiseSeed, told: b.told, on: on}
	switch {
	case b.secure:
		n.kind = NoiseOfSystem
	case n.seed != 0:
		n.kind = NoiseOfSeed
	}
	return n
}

// warnOfOther warns if another build of the program continues the run. The same source gives the same bytes, but a
// program cannot check its source.
func warnOfOther(log *slog.Logger, was, now Build) {
	if was.Commit != now.Commit {
		log.Warn("the run was begun by a program of another commit", "was", was.Commit, "now", now.Commit)
	}
	if was.Go != now.Go {
		log.Warn("the run was begun by a program built with another Go", "was", was.Go, "now", now.Go)
	}
}

// prepare writes the first files of a run directory, the manifest before all others.
func (e *Env) prepare(yaml []byte) (err error) {
	if err := e.saveManifest(); err != nil {
		return err
	}
	mode := os.O_CREATE | os.O_WRONLY | os.O_APPEND
	if e.writing.fresh {
		if err := removeIfThere(filepath.Join(e.Dir, LedgerName)); err != nil {
			return err
		}
		mode |= os.O_TRUNC
	}
	f, err := os.OpenFile(filepath.Join(e.Dir, "log.jsonl"), mode, system.Shown)
	if err != nil {
		return fmt.Errorf("open log: %w", err)
	}
	e.writing.log = &logFile{f: f}
	e.writing.lines = slog.New(slog.NewJSONHandler(e.writing.log, nil))
	if e.writing.userConfig {
		return nil
	}
	return system.WriteFile(filepath.Join(e.Dir, configName), func(w io.Writer) error {
		_, err := w.Write(yaml)
		return err
	})
}

// close ends the run: it makes ledger and log durable, writes status and timings to the
// manifest and releases the lock. It returns taskErr joined with its own errors.
func (e *Env) close(taskErr error) error {
	final := isFinal(taskErr)
	if taskErr != nil && !e.writing.kept && !final {
		bad := e.books.giveBack(e.Resume)
		e.abandon()
		err := errors.Join(taskErr, bad, e.writing.lock.release())
		removeEmpty(e.writing.made)
		return err
	}
	err := taskErr
	ledger, bad := e.books.close(taskErr == nil)
	if bad = errors.Join(bad, e.writing.log.close(), e.writing.events.close()); bad != nil {
		err = errors.Join(&unsaved{bad}, taskErr)
	}
	e.manifest.Status, e.manifest.Final = StatusDone, final
	switch {
	case WasInterrupted(err):
		e.manifest.Status = StatusInterrupted
	case err != nil:
		e.manifest.Status, e.manifest.Error = StatusFailed, err.Error()
	default:
		e.manifest.Ledger = ledger
	}
	a := &e.manifest.Attempts[len(e.manifest.Attempts)-1]
	a.Seconds, a.CPUSeconds = time.Since(a.Started).Seconds(), system.CPUSeconds()-e.writing.cpu
	a.Status, a.PeakRSSBytes = e.manifest.Status, system.PeakMemory()
	bad = e.saveManifest()
	if err == nil && bad == nil {
		err = e.books.settle()
	}
	if bad = errors.Join(bad, e.writing.lock.release()); bad != nil {
		err = errors.Join(&unsaved{bad}, err)
	}
	return err
}

// abandon removes the files of a run that has nothing to keep.
func (e *Env) abandon() {
	e.books.close(false) // removed below
	if e.writing.log != nil {
		e.writing.log.f.Close()
	}
	if !e.writing.fresh {
		return
	}
	os.Remove(filepath.Join(e.Dir, "checkpoint")) // empty: nothing was kept
	for _, name := range owned {
		if name != configName || !e.writing.userConfig {
			os.Remove(filepath.Join(e.Dir, name))
		}
	}
}

// unhashed lists the prefixes of configuration lines that do not affect results.
var unhashed = []string{"  workers:", "  out:", "  save_seconds:", "  save_steps:", "  ledger_key:"}

// firstDifference describes the first line in which the directory's configuration differs from
// the current one.
func firstDifference(dir string, now []byte) string {
	was, err := system.ReadFile(filepath.Join(dir, configName), system.MostOfRun)
	if err != nil {
		return ""
	}
	a, b := hashedLines(was), hashedLines(now)
	for i := range min(len(a), len(b)) {
		if x, y := strings.TrimSpace(a[i]), strings.TrimSpace(b[i]); x != y {
			return fmt.Sprintf(": it has %q, this one %q", x, y)
		}
	}
	return ""
}

// hashedLines returns the lines of a configuration that affect results.
func hashedLines(yaml []byte) []string {
	return slices.DeleteFunc(strings.Split(string(yaml), "\n"), func(line string) bool {
		return slices.ContainsFunc(unhashed, func(start string) bool { return strings.HasPrefix(line, start) })
	})
}

// showAgain shows the result of a complete run again.
func showAgain(dir string, o Options) error {
	o.Log.Info("the run is complete already", "dir", dir)
	name := "result.txt"
	if o.JSON {
		name = "result.json"
	}
	b, err := system.ReadFile(filepath.Join(dir, name), system.MostOfRun)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = o.Stdout.Write(b)
	return err
}
