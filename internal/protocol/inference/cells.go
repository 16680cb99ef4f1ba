package inference

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	"privrec/internal/attack/attribute"
	"privrec/internal/run"
	"privrec/internal/tensor"
)

// plan holds the work of a run. A cell is an input, an attribute and a split, on which every attacker is trained and
// tested.
type plan struct {
	*victims
	cfg       Config
	env       *run.Env
	inputs    []input
	attackers []attribute.Attacker // of the configuration, without the majority
	majority  attribute.Attacker
	splits    [][]attribute.Split // by attribute and repeat
}

// cellOf identifies a cell of a plan.
type cellOf struct{ input, attribute, repeat int }

// cell holds the results of the attackers of a cell, in their order.
type cell []found

// found holds the result of one attacker on the test users of a split.
type found struct {
	Scores scores `json:"scores"`
	Right  []byte `json:"right"` // a bit a test user: its class was predicted
	// Unsuitable gives the reason why the attacker cannot work on the input; empty if it can.
	Unsuitable string `json:"unsuitable,omitempty"`
}

// newPlan returns a plan with the users split for every attribute.
func newPlan(env *run.Env, c Config, v *victims) (p *plan, err error) {
	p = &plan{victims: v, cfg: c, env: env, inputs: c.inputs(v)}
	for _, name := range c.Attack.Attackers {
		if name == Majority {
			continue
		}
		a, err := attribute.ByName(name)
		if err != nil {
			return nil, err
		}
		p.attackers = append(p.attackers, a)
	}
	if p.majority, err = attribute.ByName(Majority); err != nil {
		return nil, err
	}
	for _, a := range v.attributes {
		var list []attribute.Split
		for r := range c.Attack.Repeats {
			s, err := attribute.Stratified(a.class, len(a.Values), c.Attack.Share,
				env.Seed.Stream("inference.split."+a.Name, uint64(r)))
			if err != nil {
				return nil, &run.UsageError{Message: fmt.Sprintf("attack.share: %v, for attribute %s: %v",
					c.Attack.Share, a.Name, err), Fix: "take a share that leaves users to train on and users to test"}
			}
			list = append(list, s)
		}
		p.splits = append(p.splits, list)
	}
	return p, nil
}

// cells lists all cells.
func (p *plan) cells() (all []cellOf) {
	for i := range p.inputs {
		for a := range p.attributes {
			for r := range p.cfg.Attack.Repeats {
				all = append(all, cellOf{i, a, r})
			}
		}
	}
	return all
}

// index returns the place of a cell in cells.
func (p *plan) index(at cellOf) int {
	return (at.input*len(p.attributes)+at.attribute)*p.cfg.Attack.Repeats + at.repeat
}

// of returns the attackers that are tried on an input.
func (p *plan) of(input int) []attribute.Attacker {
	if p.inputs[input].sees == "" {
		return []attribute.Attacker{p.majority}
	}
	return p.attackers
}

// fits returns the number of trainings in all cells.
func (p *plan) fits() (n int) {
	for i := range p.inputs {
		n += len(p.of(i)) * len(p.attributes) * p.cfg.Attack.Repeats
	}
	return n
}

// fit trains and tests the attackers of a cell. Random choices depend on the attribute, the attacker and the split, and
// not on the input, so two inputs differ in nothing else.
func (p *plan) fit(ctx context.Context, at cellOf) (cell, error) {
	in, a, split := p.inputs[at.input], p.attributes[at.attribute], p.splits[at.attribute][at.repeat]
	train, test := p.rows(in, split.Train), p.rows(in, split.Test)
	classes := len(a.Values)
	known, asked := make([]int32, len(split.Train)), make([]int32, len(split.Test))
	for i, u := range split.Train {
		known[i] = a.class[u]
	}
	for i, u := range split.Test {
		asked[i] = a.class[u]
	}
	probabilities := make([][]float64, len(asked))
	all := make([]float64, len(asked)*classes)
	for i := range probabilities {
		probabilities[i] = all[i*classes : (i+1)*classes : (i+1)*classes]
	}
	var out cell
	for _, attacker := range p.of(at.input) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		m, err := p.try(ctx, attacker, at, train, known, test, probabilities, asked)
		if no := (*attribute.UnsuitableError)(nil); errors.As(err, &no) {
			nan := math.NaN()
			out = append(out, found{Scores: scores{nan, nan, nan, nan, nan}, Unsuitable: no.Reason})
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("%s on %s, %s: %w", attacker.Name(), a.Name, in.text(), err)
		}
		f := found{Scores: scores{m.Micro, m.Macro, m.Weighted, m.Balanced, m.AUC},
			Right: make([]byte, (len(asked)+7)/8)}
		for i, q := range probabilities {
			if best(q) == asked[i] {
				f.Right[i/8] |= 1 << (i % 8)
			}
		}
		out = append(out, f)
	}
	return out, nil
}

// try trains an attacker and measures it. probabilities are its answers.
func (p *plan) try(ctx context.Context, a attribute.Attacker, at cellOf, train tensor.Matrix, known []int32,
	test tensor.Matrix, probabilities [][]float64, asked []int32) (m attribute.Scores, err error) {
	of := p.attributes[at.attribute]
	g, err := a.Fit(ctx, train, known, len(of.Values), p.env.Seed.Stream("inference.attack."+of.Name+"."+a.Name(),
		uint64(at.repeat)))
	if err != nil {
		return m, err
	}
	if err := g.Probabilities(test, probabilities); err != nil {
		return m, err
	}
	return attribute.Measure(probabilities, asked, len(of.Values))
}

// best returns the class with the highest probability, the first of several.
func best(q []float64) int32 {
	k := 0
	for c, x := range q {
		if x > q[k] {
			k = c
		}
	}
	return int32(k)
}

// sweep computes all cells. Cells are independent, so results do not depend on the number of workers. It saves finished
// cells as often as the run's settings say, and continues from saved ones.
func (p *plan) sweep(ctx context.Context) ([]cell, error) {
	places := p.cells()
	done, err := p.restore(len(places))
	if err != nil {
		return nil, err
	}
	var todo []cellOf
	for i, c := range done {
		if c == nil {
			todo = append(todo, places[i])
		}
	}
	var mu sync.Mutex
	var failed error
	since, saved := int64(0), time.Now()
	p.env.Progress.Begin(fmt.Sprintf("attack, %d fits", p.fits()), len(places))
	p.env.Progress.Add(len(places) - len(todo))
	tensor.Parallel(len(todo), 1, func(_, lo, _ int) {
		mu.Lock()
		stop := failed != nil
		mu.Unlock()
		if stop {
			return
		}
		c, err := p.fit(ctx, todo[lo])
		mu.Lock()
		defer mu.Unlock()
		if err != nil {
			if failed == nil {
				failed = err
			}
			return
		}
		done[p.index(todo[lo])] = c
		p.env.Progress.Add(1)
		since++
		if p.env.Save.Due(since, saved) {
			since, saved = 0, time.Now()
			if err := p.save(done); err != nil && failed == nil {
				failed = err
			}
		}
	})
	p.env.Progress.End("")
	// Errors of cells come in any order: the context's is the one that says why.
	if err := p.save(done); err != nil {
		return nil, err
	}
	return done, run.Interrupted(ctx, failed)
}

// state holds the content of a checkpoint.
type state struct {
	Cells []cell `json:"cells"` // null: to do
}

func (p *plan) save(cells []cell) error {
	b, err := json.Marshal(state{cells})
	if err != nil {
		return err
	}
	return p.env.SaveCheckpoint(run.Checkpoint{State: b})
}

// restore returns the finished cells of the checkpoint, nil for the unfinished ones.
func (p *plan) restore(n int) ([]cell, error) {
	c, ok, err := p.env.LoadCheckpoint()
	if !ok || err != nil {
		return make([]cell, n), err
	}
	var s state
	if err := json.Unmarshal(c.State, &s); err != nil {
		return nil, fmt.Errorf("load checkpoint: %w", err)
	}
	if len(s.Cells) != n {
		return nil, fmt.Errorf("load checkpoint: it has %d cells, the setting %d", len(s.Cells), n)
	}
	return s.Cells, nil
}

// scores holds shares in the order of metrics.ClassScores. NaN: not defined, such as an AUC where the test users have
// one class.
type scores [5]float64

// MarshalJSON writes NaN as null.
func (s scores) MarshalJSON() ([]byte, error) {
	var out [5]*float64
	for i := range s {
		if !math.IsNaN(s[i]) {
			out[i] = &s[i]
		}
	}
	return json.Marshal(out)
}

// UnmarshalJSON reads the output of MarshalJSON.
func (s *scores) UnmarshalJSON(b []byte) error {
	var in [5]*float64
	if err := json.Unmarshal(b, &in); err != nil {
		return err
	}
	for i, x := range in {
		if s[i] = math.NaN(); x != nil {
			s[i] = *x
		}
	}
	return nil
}
