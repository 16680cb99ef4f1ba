package inference

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"privrec/internal/dataset"
	"privrec/internal/dataset/registry"
	"privrec/internal/experiment"
	"privrec/internal/protocol/imported"
	"privrec/internal/rng"
	"privrec/internal/run"
	"privrec/internal/system"
	"privrec/internal/tensor"
)

// source holds the interactions and recommendations of one target's users, by their names in the data.
type source struct {
	Target
	hash   string // of what was read of it: data, or file
	dir    string // of a run
	data   string // registered name of the data set
	recipe string
	source dataset.Source // of the data of a run
	view   dataset.View   // of the data
	had    map[string][]string
	lists  map[string][]string // best first

	imported bool // of a model that another program trained: data names no data set

	vectors tensor.Matrix // of users; no rows where they are not asked for
	rows    map[string]int32
}

// asked says what to read of every target.
type asked struct {
	depth   int    // items of a list; 0: no lists
	vectors bool   // of users
	release string // "": the first one of a run
}

// ofRuns reads the targets of finished runs. All must have the same data.
func ofRuns(ctx context.Context, tasks []run.Task, dirs []string, a asked) (all []*source, err error) {
	workers := tensor.Workers() // opening a run sets those of its own configuration
	defer func() { tensor.SetWorkers(workers) }()
	for i, dir := range dirs {
		s, err := ofRun(ctx, tasks, dir, a)
		if err != nil {
			return nil, fmt.Errorf("on.runs: %s: %w", dir, err)
		}
		for _, other := range dirs[:i] {
			if system.SamePath(dir, other) {
				return nil, &run.UsageError{Message: fmt.Sprintf("on.runs: %s is the same run as %s", dir, other),
					Fix: "name every run once"}
			}
		}
		if len(all) > 0 && (s.hash != all[0].hash || s.data != all[0].data) {
			return nil, &run.UsageError{Message: fmt.Sprintf(
				"on.runs: %s ran on other data (%s, %.12s) than %s (%s, %.12s)", dir, s.data, s.hash, all[0].dir,
				all[0].data, all[0].hash),
				Fix: "attack runs of different data one after the other: no user is in both"}
		}
		all = append(all, s)
	}
	distinguish(all)
	return all, nil
}

// ofRun returns the interactions and recommendations of a finished run's users.
func ofRun(ctx context.Context, tasks []run.Task, dir string, a asked) (*source, error) {
	answers, err := experiment.Ask(ctx, tasks, dir)
	if err != nil {
		return nil, err
	}
	defer answers.Close()
	m, err := run.ReadManifest(dir)
	if err != nil {
		return nil, err
	}
	o, err := experiment.ReadOutcome(dir)
	if err != nil {
		return nil, err
	}
	s := &source{dir: dir, data: o.Data.Name, recipe: o.Data.Recipe, hash: o.Data.Source.Hash, source: o.Data.Source,
		view: m.View(rng.Seed(m.Seed)),
		Target: Target{Name: m.Task, Task: m.Task, Method: o.Method, Setting: o.Setting, Data: o.Data.Name,
			Recipe: o.Data.Recipe, Release: a.release, Level: o.Data.Level}}
	return s, s.take(ctx, answers, o.Protocol, a)
}

// ofFiles reads the lists of a model that another program trained, and its training rows.
func ofFiles(ctx context.Context, env *run.Env, c FilesConfig, a asked) (*source, error) {
	m, err := imported.Source{Recs: c.Recs, FilesConfig: imported.FilesConfig{Train: c.Train}}.Open(ctx, env)
	if err != nil {
		return nil, err
	}
	defer m.Close()
	o := m.Outcome
	s := &source{dir: c.Recs, data: o.Data.Name, hash: o.Data.Source.Hash,
		Target: Target{Name: filepath.Base(c.Recs), Setting: o.Setting, Data: o.Data.Name, Level: o.Data.Level}}
	return s, s.take(ctx, m, o.Protocol, a)
}

// take reads the interactions and recommendations of a model's users. An imported model brings its own rows, and its
// data are in no registry.
func (s *source) take(ctx context.Context, answers experiment.Answers, protocol string, a asked) error {
	_, s.imported = answers.(experiment.Carrying)
	s.Remarks = experiment.RemarksOn(answers)
	list, order, err := answers.Histories(ctx)
	if err != nil {
		return err
	}
	s.Order = order
	s.had = make(map[string][]string, len(list))
	for _, h := range list {
		s.had[h.User] = h.Items
	}
	if a.depth > 0 {
		if err := s.ask(ctx, answers, a); err != nil {
			return err
		}
	}
	if a.vectors {
		if err := s.openVectors(ctx, answers, protocol, a.release); err != nil {
			return err
		}
	}
	return nil
}

// ask reads the lists of all users.
func (s *source) ask(ctx context.Context, answers experiment.Answers, a asked) error {
	users := slices.Sorted(maps.Keys(s.had))
	lists, err := experiment.ListsOf(ctx, answers, users, a.depth, a.release)
	if err != nil {
		err = fmt.Errorf("lists of %d (attack.k): %w", a.depth, err)
		if l, ok := answers.(experiment.Listing); ok && l.Longest() < a.depth {
			err = run.WithHint(err, fmt.Sprintf("--set attack.k=[%d] takes the whole of the longest list; or bring "+
				"longer ones: nothing is behind them to rank further", l.Longest()))
		}
		return err
	}
	s.lists = make(map[string][]string, len(users))
	for i, list := range lists {
		if len(list) > 0 {
			s.lists[users[i]] = list
		}
	}
	return nil
}

// openVectors reads the vectors of the users from the model of the run.
func (s *source) openVectors(ctx context.Context, answers experiment.Answers, protocol, release string) error {
	if _, ok := answers.(experiment.Listing); ok {
		return &run.UsageError{Message: fmt.Sprintf(
			"attack.sees: %s: the model of %s shows lists and nothing behind them", SeesVectors, s.dir), Fix: "leave " +
			SeesVectors + " out, or bring the vectors with privrec import --vectors"}
	}
	if protocol != "top-n" {
		return &run.UsageError{Message: fmt.Sprintf(
			"attack.sees: %s: it is a run of protocol %s, which keeps no vectors of users", SeesVectors, protocol),
			Fix: "leave " + SeesVectors + " out"}
	}
	var d *dataset.Interactions
	var err error
	if c, ok := answers.(experiment.Carrying); ok {
		d, _ = c.Rows()
	} else if d, err = registry.LoadInteractions(ctx, s.data, s.recipe, s.view,
		registry.Again(s.source)); err != nil {
		return err
	}
	v, err := experiment.OpenVectors(s.dir, release, d.Users, d.Items)
	if err != nil {
		return run.WithHint(fmt.Errorf("attack.sees: %s: the run keeps no vectors of users that can be read: %w",
			SeesVectors, err), "leave "+SeesVectors+" out, or name the run's release with on.release")
	}
	s.vectors, s.rows = v.Users, make(map[string]int32, d.Users)
	for u, id := range d.UserIDs {
		s.rows[id] = int32(u)
	}
	return nil
}

// ofData reads the training rows of a data set, without any lists.
func ofData(ctx context.Context, c DataConfig, v dataset.View) (*source, error) {
	d, err := registry.LoadInteractions(ctx, c.Name, c.Recipe, v, registry.Options{})
	if err != nil {
		return nil, err
	}
	s := &source{data: c.Name, recipe: c.Recipe, hash: d.Source.Hash, view: v,
		had:    make(map[string][]string, d.Users),
		Target: Target{Name: c.Name, Data: c.Name, Recipe: c.Recipe, Level: d.Source.Level}}
	for u, items := range d.Train {
		for _, i := range items {
			s.had[d.UserIDs[u]] = append(s.had[d.UserIDs[u]], d.ItemIDs[i])
		}
	}
	return s, nil
}

// distinguish gives targets of one task different names: the last part of their directory, or all of it.
func distinguish(all []*source) {
	for _, name := range []func(s *source) string{
		func(s *source) string { return fmt.Sprintf("%s (%s)", s.Task, filepath.Base(filepath.Clean(s.dir))) },
		func(s *source) string { return fmt.Sprintf("%s (%s)", s.Task, filepath.Clean(s.dir)) },
	} {
		count := map[string]int{}
		for _, s := range all {
			count[s.Name]++
		}
		for _, s := range all {
			if count[s.Name] > 1 {
				s.Name = name(s)
			}
		}
	}
}

// columns numbers the items of all sources and of the data set, as the columns of the
// attacker's input.
func columns(all []*source, items []string) map[string]int32 {
	at := map[string]int32{}
	ids := slices.Clone(items)
	for _, i := range items {
		at[i] = 0
	}
	add := func(list []string) {
		for _, i := range list {
			if _, ok := at[i]; !ok {
				at[i], ids = 0, append(ids, i)
			}
		}
	}
	for _, s := range all {
		for _, user := range slices.Sorted(maps.Keys(s.had)) {
			add(s.had[user])
		}
		for _, user := range slices.Sorted(maps.Keys(s.lists)) {
			add(s.lists[user])
		}
	}
	_, ids = dataset.Ascending(ids)
	for i, id := range ids {
		at[id] = int32(i)
	}
	return at
}
