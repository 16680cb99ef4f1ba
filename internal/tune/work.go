package tune

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"privrec/internal/config"
	"privrec/internal/dataset"
	"privrec/internal/experiment"
	"privrec/internal/metrics"
	"privrec/internal/run"
)

// Options says where and how to search. They change no result.
type Options struct {
	Out      string // folder of the log, the trials and the winners
	Jobs     int    // trials at a time; 0: one
	Workers  int    // threads of them together, 0: all cores
	Resume   bool   // go on with the search in Out
	Log      *slog.Logger
	Progress run.Progress
}

// Run runs the search, and writes the log, the winning configurations and the result to o.Out. With o.Resume an
// interrupted search continues, to the same log.
func Run(ctx context.Context, s *Study, o Options) (*Result, error) {
	all := map[string][]candidate{}
	for i := range s.Tasks { // all settings are checked before anything runs
		t := &s.Tasks[i]
		rungs, err := s.rungs(t)
		if err != nil {
			return nil, err
		}
		for n := range rungs[0].size {
			c, err := s.candidate(t, n+1)
			if err != nil {
				return nil, err
			}
			all[t.Name] = append(all[t.Name], c)
		}
		if _, err := s.final(t, trial{at: rungs[len(rungs)-1], candidate: all[t.Name][0]}, 1); err != nil {
			return nil, err
		}
	}
	text, err := s.text()
	if err != nil {
		return nil, err
	}
	j, err := openJournal(o.Out, text, o.Resume)
	if err != nil {
		return nil, err
	}
	defer j.close()
	w := &worker{study: s, o: o, log: j}
	r := &Result{study: s, out: o.Out}
	for i := range s.Tasks {
		t := &s.Tasks[i]
		lines, err := w.search(ctx, t, all[t.Name])
		if err != nil {
			return nil, err
		}
		r.tasks = append(r.tasks, searched{Task: t, lines: lines})
	}
	return r, r.finish()
}

// text returns the study in the form that is kept. It names configurations without their folders, which differ between
// machines; the hash of every trial covers their content.
func (s *Study) text() ([]byte, error) {
	c := *s
	c.Tasks = slices.Clone(s.Tasks)
	for i := range c.Tasks {
		if p := &c.Tasks[i].Config; *p != "" {
			*p = filepath.Base(*p)
		}
	}
	return config.Encode(c)
}

// worker runs the trials of a search.
type worker struct {
	study *Study
	o     Options
	log   *journal
	next  int // number of the last trial that was begun
}

// search runs the trials of a task, rung by rung, and returns their lines.
func (w *worker) search(ctx context.Context, t *Task, all []candidate) (lines []Line, err error) {
	rungs, err := w.study.rungs(t)
	if err != nil {
		return nil, err
	}
	for k, r := range rungs {
		trials := make([]trial, min(r.size, len(all)))
		for i := range trials {
			w.next++
			trials[i] = trial{number: w.next, task: t, rung: k, at: r, candidate: all[i]}
		}
		made, err := w.make(ctx, fmt.Sprintf("%s, rung %d of %d", t.Name, k+1, len(rungs)), trials)
		if err != nil {
			return nil, err
		}
		lines = append(lines, made...)
		if k+1 < len(rungs) {
			all = ordered(all, made)
		}
	}
	return lines, nil
}

// ordered returns the settings of a rung, the best first. Failed ones are last.
func ordered(all []candidate, lines []Line) (out []candidate) {
	lines = slices.Clone(lines)
	slices.SortStableFunc(lines, func(a, b Line) int {
		switch {
		case better(a, b):
			return -1
		case better(b, a):
			return 1
		}
		return 0
	})
	for _, l := range lines {
		at := slices.IndexFunc(all, func(c candidate) bool { return c.number == l.Candidate })
		out = append(out, all[at])
	}
	return out
}

// better reports whether a trial beats another one.
func better(a, b Line) bool {
	if a.Status != b.Status {
		return a.Status == done
	}
	return a.Status == done && a.Score > b.Score
}

// outcome holds a trial that has ended.
type outcome struct {
	line Line
	took time.Duration
	err  error
	new  bool // it is not in the log yet
}

// make runs trials, several at a time, and writes their lines in the order of their numbers.
func (w *worker) make(ctx context.Context, what string, trials []trial) ([]Line, error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	ended := make([]chan outcome, len(trials))
	for i := range ended {
		ended[i] = make(chan outcome, 1)
	}
	jobs := max(1, w.o.Jobs)
	var wg sync.WaitGroup
	next := make(chan int)
	for range min(jobs, len(trials)) {
		wg.Go(func() {
			for i := range next {
				ended[i] <- w.one(ctx, trials[i])
			}
		})
	}
	defer wg.Wait()
	defer stop()
	go func() {
		defer close(next)
		for i := range trials {
			select {
			case next <- i:
			case <-ctx.Done():
				for ; i < len(trials); i++ {
					ended[i] <- outcome{err: fmt.Errorf("%w: %w", run.ErrInterrupted, context.Cause(ctx))}
				}
				return
			}
		}
	}()
	w.o.Progress.Begin(what, len(trials))
	var lines []Line
	best := Line{}
	for i := range trials {
		r := <-ended[i]
		if r.err != nil {
			w.o.Progress.End("")
			return nil, r.err
		}
		if r.new {
			if err := w.log.add(r.line, r.took); err != nil {
				return nil, err
			}
		}
		if better(r.line, best) {
			best = r.line
		}
		lines = append(lines, r.line)
		w.o.Progress.Add(1)
	}
	w.o.Progress.End(fmt.Sprintf("%s: best of %d trials %.4f, trial %d", what, len(trials), best.Score, best.Trial))
	return lines, nil
}

// one runs a trial, or reads it from the log.
func (w *worker) one(ctx context.Context, x trial) (r outcome) {
	if ctx.Err() != nil {
		return outcome{err: fmt.Errorf("%w: %w", run.ErrInterrupted, context.Cause(ctx))}
	}
	l, err := w.study.line(x)
	if err != nil {
		return outcome{err: err}
	}
	if l, ok, err := w.log.find(l); ok || err != nil {
		return outcome{line: l, err: err}
	}
	start := time.Now()
	dir := x.dir(w.o.Out)
	o := w.study.options(x.task, x.candidate, x.at, dir)
	o.Sets = append(o.Sets, fmt.Sprintf("run.workers=%d", w.o.Workers))
	o.Stdout, o.Log, o.Progress, o.Resume = io.Discard, slog.New(slog.DiscardHandler), run.Silent{}, true
	o.Notes = []string{"a trial of privrec tune: validation rows are measured, test rows were withheld"}
	_, err = x.task.task.Start(ctx, o)
	if err != nil && stops(err) {
		return outcome{err: fmt.Errorf("trial %d, %s: %w", x.number, x.task.Name, err)}
	}
	if err != nil {
		l.Status, l.Error = failed, strings.ReplaceAll(err.Error(), dir, "the trial")
		return outcome{line: l, took: time.Since(start), new: true}
	}
	if err := w.study.score(x, dir, &l); err != nil {
		return outcome{err: err}
	}
	return outcome{line: l, took: time.Since(start), new: true}
}

// stops reports whether an error is not about the setting of a trial: an interruption, a request that no trial could
// carry out, a problem of data or files.
func stops(err error) bool {
	var (
		usage *run.UsageError
		data  *dataset.Error
		path  *fs.PathError
	)
	return run.WasInterrupted(err) || run.IsBusy(err) || config.Is(err) ||
		errors.As(err, &usage) || errors.As(err, &data) || errors.As(err, &path)
}

// score reads the measurements of a trial. It fails unless validation rows were measured.
func (s *Study) score(x trial, dir string, l *Line) error {
	o, err := experiment.ReadOutcome(dir)
	if err != nil {
		return err
	}
	if o.Data.InPlace != experiment.Validation {
		return run.Usagef("settings can be chosen under the protocols top-n and next-item",
			"%s measured other rows than validation rows, under protocol %s", x.task.Task, o.Protocol)
	}
	at := slices.IndexFunc(o.Evaluations,
		func(e experiment.Scores) bool { return x.task.Release == "" || e.Release == x.task.Release })
	if at < 0 {
		return run.Usagef("leave release out, or name one of its releases", "%s has no release %q", x.task.Task,
			x.task.Release)
	}
	m, err := metrics.Parse(s.Objective)
	if err != nil {
		return err
	}
	values := o.Evaluations[at].Values
	v, ok := values[m.String()]
	if !ok {
		return run.Usagef(fmt.Sprintf("it has %v; cutoffs are set by eval.k", o.Metrics),
			"%s does not measure the objective %s", x.task.Task, m)
	}
	l.Status, l.Score, l.Metrics, l.Epoch = done, v, values, o.Selected
	if s.Rows == Private {
		return s.blur(x, dir, o.Protocol, l)
	}
	return nil
}
