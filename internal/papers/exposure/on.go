package exposure

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"privrec/internal/dataset"
	"privrec/internal/dataset/slate"
	"privrec/internal/experiment"
	"privrec/internal/rng"
	"privrec/internal/run"
	"privrec/internal/tensor"
)

// attackOn returns pairs from a finished run: a user's slate is the T items that the run recommends to the user, and
// the behaviour the last L items of the user that its model was given.
func attackOn(ctx context.Context, tasks []run.Task, c Config, seed rng.Seed) (*slate.Set, error) {
	workers := tensor.Workers() // opening the run sets those of its own configuration
	s, err := experiment.Ask(ctx, tasks, c.On.Run)
	tensor.SetWorkers(workers)
	if err != nil {
		return nil, fmt.Errorf("on.run: %w", err)
	}
	defer s.Close()
	m, err := run.ReadManifest(c.On.Run)
	if err != nil {
		return nil, fmt.Errorf("on.run: %w", err)
	}
	level, err := levelOf(c.On.Run)
	if err != nil {
		return nil, err
	}
	set, err := c.pairsOf(ctx, s, m.Task, seed)
	if err != nil {
		return nil, fmt.Errorf("on.run: %w", err)
	}
	set.Level, set.StandIn = level, level == dataset.LevelD
	return set, nil
}

// attackFiles is attackOn for the lists of a model that another program trained.
func attackFiles(ctx context.Context, env *run.Env, c Config) (*slate.Set, error) {
	m, err := c.Files.Open(ctx, env)
	if err != nil {
		return nil, err
	}
	defer m.Close()
	set, err := c.pairsOf(ctx, m, c.Files.Recs, env.Seed)
	if err != nil {
		return nil, fmt.Errorf("files.recs: %w", err)
	}
	set.Level = m.Outcome.Data.Level
	return set, nil
}

// pairsOf returns pairs from answers. name names their source.
func (c Config) pairsOf(ctx context.Context, s experiment.Answers, name string, seed rng.Seed) (*slate.Set, error) {
	all, order, err := s.Histories(ctx)
	if err != nil {
		return nil, err
	}
	v := &victims{t: c.Data.Slate, l: c.Data.Behaviour, log: slate.Log{Name: "recommendations of " + name}}
	v.ladder = append(v.ladder, countUsers("users of the run", all))
	var kept []experiment.History
	for _, u := range all {
		if len(u.Items) >= v.l {
			kept = append(kept, u)
		}
	}
	v.ladder = append(v.ladder, countUsers(fmt.Sprintf("with %d items or more", v.l), kept))
	if err := v.ask(ctx, s, kept, c.On.Release); err != nil {
		return nil, err
	}
	set, err := slate.Build(&v.log, slate.Options{Split: c.Data.Split, Seed: seed, T: v.t, L: v.l,
		Unknown: c.Data.Unknown})
	if err != nil {
		return nil, err
	}
	set.Ladder = append(v.ladder, set.Ladder...)
	set.Notes = append(set.Notes, order,
		fmt.Sprintf("slates are what %s recommends: each user has one, after the last of their items", name))
	set.Notes = append(set.Notes, experiment.RemarksOn(s)...)
	if c, ok := s.(experiment.Carrying); ok {
		d, _ := c.Rows()
		set.Doubts = d.Source.Notes
	}
	return set, nil
}

func countUsers(name string, list []experiment.History) dataset.Rung {
	items := map[string]bool{}
	r := dataset.Rung{Name: name, Users: len(list)}
	for _, u := range list {
		r.Rows += len(u.Items)
		for _, i := range u.Items {
			items[i] = true
		}
	}
	r.Items = len(items)
	return r
}

// victims holds the users of a run as a log: the last L items clicked one after the other, then the slate.
type victims struct {
	t, l   int
	log    slate.Log
	items  map[string]int32
	ladder dataset.Ladder
}

// ask adds the slates of the users; a user whose slate is shorter than T is left out.
func (v *victims) ask(ctx context.Context, s experiment.Answers, users []experiment.History, release string) error {
	if len(users) == 0 {
		return &dataset.Error{File: v.log.Name, Msg: fmt.Sprintf("no user has %d items", v.l),
			Hint: "choose a smaller data.behaviour"}
	}
	names := make([]string, len(users))
	for i, u := range users {
		names[i] = u.User
	}
	slates, err := experiment.ListsOf(ctx, s, names, v.t, release)
	if err != nil {
		return err
	}
	sum := sha256.New()
	for i, u := range users {
		if len(slates[i]) < v.t {
			continue
		}
		behaviour := u.Items[len(u.Items)-v.l:]
		fmt.Fprintf(sum, "%q %q %q\n", u.User, behaviour, slates[i])
		v.add(u.User, behaviour, slates[i])
	}
	v.log.Hash = hex.EncodeToString(sum.Sum(nil))
	v.ladder = append(v.ladder, dataset.Rung{Name: fmt.Sprintf("with a slate of %d", v.t), Users: len(v.log.UserIDs),
		Items: len(v.log.ItemIDs), Rows: len(v.log.Users)})
	return nil
}

// add appends a user's rows.
func (v *victims) add(user string, behaviour, slate []string) {
	u := int32(len(v.log.UserIDs))
	v.log.UserIDs = append(v.log.UserIDs, user)
	if v.items == nil {
		v.items = map[string]int32{}
	}
	for k, name := range slices.Concat(behaviour, slate) {
		i, ok := v.items[name]
		if !ok {
			i = int32(len(v.log.ItemIDs))
			v.items[name], v.log.ItemIDs = i, append(v.log.ItemIDs, name)
		}
		time, clicked := int64(k+1), int64(0)
		if k < len(behaviour) {
			clicked = time
		}
		v.log.Users, v.log.Items = append(v.log.Users, u), append(v.log.Items, i)
		v.log.Shown, v.log.Clicked = append(v.log.Shown, time), append(v.log.Clicked, clicked)
	}
}

// levelOf returns the level of evidence for the pairs of a run: D stays D, and otherwise C, the best level without
// printed counts.
func levelOf(dir string) (dataset.Level, error) {
	m, err := experiment.ReadOutcome(dir)
	if err != nil {
		return 0, fmt.Errorf("on.run: %w", err)
	}
	if m.Data.Level == dataset.LevelD {
		return dataset.LevelD, nil
	}
	return dataset.LevelC, nil
}
