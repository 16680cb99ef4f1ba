package matrix

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"privrec/internal/dataset"
	"privrec/internal/dataset/registry"
	"privrec/internal/experiment"
	"privrec/internal/protocol/nextitem"
	"privrec/internal/protocol/target"
	"privrec/internal/protocol/topn"
	"privrec/internal/reproduce/grid"
	"privrec/internal/rng"
	"privrec/internal/run"
	"privrec/internal/tensor"
)

// grids makes a grid of every attack: its rows are attacks on the trainings of the matrix's rows,
// which the grids share.
func (m *Matrix) grids() ([]*grid.Grid, error) {
	var list []grid.Grid
	for i := range m.Attacks {
		a := &m.Attacks[i]
		g := grid.Grid{Name: m.Name + "-" + a.Name, Title: m.Title + ": " + a.Heading,
			Metrics: []grid.Metric{{Name: a.Metric}}, Data: slices.Clone(m.Data), Sizes: m.Sizes,
			Unfit: func(_ string, about []string) string {
				return a.unfit(m.tasks, about[0],
					m.attributesFor(a, about[0]))
			}}
		for k := range m.Rows {
			if r := &m.Rows[k]; r.without(a.Name) == "" {
				g.Rows = append(g.Rows, m.gridRow(a, r, k))
			}
		}
		if len(g.Rows) == 0 {
			return nil, m.doc.Errorf(fmt.Sprintf("attacks.%d", i), "no row has a cell of it")
		}
		list = append(list, g)
	}
	return grid.In(m.doc, m.tree, m.file, m.tasks, list...)
}

// gridRow is an attack on a row.
func (m *Matrix) gridRow(a *Attack, r *Row, at int) grid.Row {
	out := grid.Row{Method: r.Model, Variant: r.Defence, Data: r.Data, Setting: a.Setting, Finished: r.finished,
		Place: fmt.Sprintf("rows.%d", at)}
	for _, o := range r.Attack {
		if o.Name == a.Name {
			out.Set = slices.Concat(a.Set, o.Set)
		}
	}
	if m.Attributes != "" && r.imported && slices.Contains(a.Needs, needAttributes) {
		out.Set = append(slices.Clone(out.Set), attributesKey+"="+m.Attributes)
	}
	if r.finished == "" {
		on := r.Setting
		if !r.Whole {
			on.Set = slices.Concat(m.HoldOut, on.Set)
		}
		out.On = []grid.Setting{on}
	}
	return out
}

// attributesKey is the key of an attack on attributes that names a table of them.
const attributesKey = "files.attributes"

// attributesFor reports whether a table of attributes is named for an attack on a finished run: for all imported runs,
// or in the overrides of the attack or of the row.
func (m *Matrix) attributesFor(a *Attack, dir string) bool {
	sets := slices.Clone(a.Set)
	for _, r := range m.Rows {
		if r.finished != dir {
			continue
		}
		for _, o := range r.Attack {
			if o.Name == a.Name {
				sets = append(sets, o.Set...)
			}
		}
	}
	return m.Attributes != "" ||
		slices.ContainsFunc(sets, func(s string) bool { return strings.HasPrefix(s, attributesKey+"=") })
}

// unfit says in words why the attack cannot be made on a finished run, "" where it can. attributes says that a table of
// attributes is named for it.
func (a *Attack) unfit(tasks []run.Task, dir string, attributes bool) string {
	o, err := experiment.ReadOutcome(dir)
	if err != nil {
		return "" // the attack says what is wrong
	}
	m, err := run.ReadManifest(dir)
	if err != nil {
		return ""
	}
	hold := run.HoldOut{}
	if m.HoldOut != nil {
		hold = *m.HoldOut
	}
	users, rows := hold.Users > 0, hold.Rows > 0
	own, lists := experiment.IsImported(m.Task), false
	if own {
		if users, rows, lists, err = brought(tasks, dir); err != nil {
			return "" // likewise
		}
	}
	for _, n := range a.Needs {
		switch {
		case n == needScores && lists:
			return "the model shows lists and no scores"
		case n == needAttributes && own && !attributes:
			return "an imported run has no attributes: --attributes names a table of them"
		case n == needAttributes && !attributes && !hasAttributes(o.Data.Name, m.Seed):
			return "no attributes of users in these data"
		case n == needVectors && (o.Protocol != topn.Name || !experiment.HasVectors(dir)):
			return "the model keeps no vectors of users"
		case (n == needRows || n == needUsers) && o.Protocol != topn.Name && o.Protocol != nextitem.Name:
			return "nothing can be held out of a model of protocol " + o.Protocol
		case n == needInputs && o.Protocol == nextitem.Name:
			return "a model of sequences: a graph of it joins items, and not users with items"
		case n == needInputs && !takesInputs(tasks, dir):
			return "the model computes nothing from the inputs of users"
		case n == needRows && !rows:
			return "trained on all interactions: none is left to ask about"
		case n == needUsers && !users:
			return "trained on all users: none is left to ask about"
		}
	}
	if slices.Contains(a.Needs, needScores) && o.Protocol != topn.Name && o.Protocol != nextitem.Name {
		return "no scores are asked of a model of protocol " + o.Protocol
	}
	return ""
}

// brought reports whether an imported run has users, or rows of others, that its model was not trained on, and whether
// it shows lists and nothing else.
func brought(tasks []run.Task, dir string) (users, rows, lists bool, err error) {
	workers := tensor.Workers() // opening a run sets those of its own configuration
	defer tensor.SetWorkers(workers)
	answers, err := experiment.Ask(context.Background(), tasks, dir)
	if err != nil {
		return false, false, false, err
	}
	defer answers.Close()
	c, ok := answers.(experiment.Carrying)
	if !ok {
		return false, false, false, fmt.Errorf("the imported run in %s answers by %T, without rows", dir, answers)
	}
	o, err := experiment.ReadOutcome(dir)
	if err != nil {
		return false, false, false, err
	}
	users, rows = target.Brought(c, o, dir, "", 0).Holds()
	_, lists = answers.(experiment.Listing)
	return users, rows, lists, nil
}

// takesInputs reports whether a finished run gives answers that it computes from inputs of users.
func takesInputs(tasks []run.Task, dir string) bool {
	workers := tensor.Workers() // opening a run sets those of its own configuration
	defer tensor.SetWorkers(workers)
	answers, err := experiment.Ask(context.Background(), tasks, dir)
	if err != nil {
		return true // the attack says what is wrong
	}
	defer answers.Close()
	d, ok := answers.(experiment.Deploying)
	if !ok {
		return false
	}
	made, err := d.Deploy(context.Background(), "")
	if err == nil {
		made.Close()
	}
	var no *run.UsageError
	return !errors.As(err, &no)
}

// hasAttributes reports whether a data set knows anything of its users. Where its files are missing,
// the attack says so.
func hasAttributes(data string, seed uint64) bool {
	_, f, err := registry.LoadLog(context.Background(), data, dataset.View{Seed: rng.Seed(seed)},
		registry.Options{})
	return f != nil || errors.Is(err, dataset.ErrNotFound)
}
