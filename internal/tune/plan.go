package tune

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"

	"privrec/internal/dataset"
	"privrec/internal/privacy/accountant/rdp"
	"privrec/internal/rng"
	"privrec/internal/run"
)

// rung is a step of successive halving; random search has one.
type rung struct {
	resource int // of the study's key; 0: what the configuration says
	size     int // settings
}

// rungs returns the rungs of a task. If the choice is private, the number of trials is random.
func (s *Study) rungs(t *Task) ([]rung, error) {
	switch {
	case s.Rows == Private:
		law, err := rdp.SelectionFor(s.Selection.Eta, float64(s.Trials))
		if err != nil {
			return nil, err
		}
		stream := rng.Seed(s.Seed).Stream("tune.number." + t.Name)
		return []rung{{size: int(law.Draw(stream.Float64()))}}, nil
	case s.Search == Random || t.Search == Random:
		return []rung{{size: s.Trials}}, nil
	}
	return halvings(s.Halving, s.Trials*s.Halving.Most), nil
}

// halvings returns the rungs with the largest number of settings that a budget of the resource allows: every rung has
// keep times the resource of the one before, and a keep-th of its settings.
func halvings(h Halving, budget int) []rung {
	var resources []int
	for r := h.Most; ; r = (r + h.Keep - 1) / h.Keep {
		resources = append([]int{max(r, h.Least)}, resources...)
		if r <= h.Least {
			break
		}
	}
	at := func(first int) (out []rung, spent int) {
		size := first
		for _, r := range resources {
			out, spent = append(out, rung{r, size}), spent+size*r
			size = max(1, size/h.Keep)
		}
		return out, spent
	}
	n := 1
	for {
		if _, spent := at(n + 1); spent > budget {
			break
		}
		n++
	}
	out, spent := at(n)
	if spent > budget { // a single setting cannot climb all rungs
		return []rung{{h.Most, max(1, budget/h.Most)}}
	}
	return out
}

// candidate is a setting of a task.
type candidate struct {
	number   int // from 1
	settings map[string]string
}

// sets returns the overrides that set the candidate's values.
func (c candidate) sets(t *Task) (sets []string) {
	for _, k := range t.keys() {
		if v, ok := c.settings[k]; ok {
			sets = append(sets, k+"="+v)
		}
	}
	return sets
}

// attempts bounds how often a setting is drawn again that the task refuses, since keys may exclude each other.
const attempts = 100

// candidate returns a setting that the task accepts. The first one is the configuration as it stands, unless the choice
// is private: all settings must then have the same distribution.
func (s *Study) candidate(t *Task, number int) (c candidate, err error) {
	for try := range attempts {
		c = candidate{number, map[string]string{}}
		if number > 1 || s.Rows == Private {
			for _, k := range t.keys() {
				c.settings[k] = t.Space[k].draw(rng.Seed(s.Seed).Stream("tune."+t.Name+"."+k, uint64(number),
					uint64(try)))
			}
		}
		if _, err = t.task.Plan(s.options(t, c, rung{}, "unused")); err == nil || len(c.settings) == 0 {
			break
		}
	}
	if err != nil {
		return c, fmt.Errorf("task %s, setting %d (%v): %w", t.Name, number, c.sets(t), err)
	}
	return c, nil
}

// options returns the options of a trial in a directory.
func (s *Study) options(t *Task, c candidate, r rung, dir string) run.Options {
	sets := slices.Concat(s.Set, t.Set, c.sets(t))
	if r.resource > 0 {
		sets = append(sets, fmt.Sprintf("%s=%d", s.Halving.Key, r.resource))
	}
	if t.has(refit) { // it would learn the rows that are measured
		sets = append(sets, refit+"=false")
	}
	quoted, _ := json.Marshal(dir) // a string; JSON's quoting is YAML's too
	sets = append(sets, fmt.Sprintf("run.seed=%d", s.seed(t, c)), "run.out="+string(quoted))
	return run.Options{Config: t.Config, Sets: sets, NoiseSeed: run.NoiseSeedOf(s.seed(t, c)),
		Withhold: &dataset.Withholding{Seed: rng.Seed(s.Seed), Share: s.Cut}}
}

// refit is the key of a second training on all rows, for configurations that have one.
const refit = "train.refit"

// seed returns the seed of a trial. If the choice is private, every trial has its own noise, even if the same setting
// is drawn twice.
func (s *Study) seed(t *Task, c candidate) uint64 {
	if s.Rows != Private {
		return s.Seed
	}
	stream := rng.Seed(s.Seed).Stream("tune.seed."+t.Name, uint64(c.number))
	return stream.Uint64() >> 1
}

// trial is one run of the search.
type trial struct {
	number int // in the log, from 1
	task   *Task
	rung   int // from 0
	at     rung
	candidate
}

// dir returns the trial's directory.
func (x trial) dir(out string) string {
	name := fmt.Sprintf("%s-%04d", x.task.Name, x.candidate.number)
	if x.at.resource > 0 {
		name += fmt.Sprintf("-%d", x.at.resource)
	}
	return filepath.Join(out, "trials", name)
}

// line returns the trial's line of the log before it has run.
func (s *Study) line(x trial) (Line, error) {
	p, err := x.task.task.Plan(s.options(x.task, x.candidate, x.at, "unused"))
	return Line{Trial: x.number, Task: x.task.Name, Candidate: x.candidate.number, Rung: x.rung,
		Resource: x.at.resource,
		Settings: x.settings, Config: p.Hash}, err
}
