package inference

import (
	"context"
	"fmt"
	"slices"

	"privrec/internal/dataset"
	"privrec/internal/run"
	"privrec/internal/tensor"
)

// Target describes an attacked run or file.
type Target struct {
	Name    string `json:"name"`
	Task    string `json:"task,omitempty"`   // of a run, and below
	Method  string `json:"method,omitempty"` // as its result calls it
	Setting string `json:"setting,omitempty"`
	Data    string `json:"data,omitempty"`
	Recipe  string `json:"recipe,omitempty"`
	Release string `json:"release,omitempty"` // that was asked for
	// of what was read: a file of lists, interactions and lists of a run, or the data
	Hash  string        `json:"sha256"`
	Order string        `json:"-"` // what the order of interactions rests on
	Level dataset.Level `json:"evidence_level"`
	// on the files of a model that another program trained
	Remarks []string `json:"remarks,omitempty"`
	Had     int      `json:"interactions"`                   // of the attacked users
	Same    string   `json:"same_interactions_as,omitempty"` // the first target with the same; empty: this one
	Lists   int      `json:"lists"`                          // of the attacked users
	Others  int      `json:"other_users"`                    // that are not attacked: without attributes
	// of the lists, that their user had: the input counts them once
	Again int `json:"known_items"`
	Width int `json:"vector_length"` // of a user's vector; 0: vectors are not attacked
}

// victims holds the attacked users and what is known of them.
type victims struct {
	users      []string // ascending
	attributes []*Attribute
	targets    []*target
	items      int // columns of the input
}

// target holds a source as numbers, by attacked user.
type target struct {
	Target
	had     [][]int32 // columns, ascending; nil: not known
	lists   [][]int32 // best first; nil: none
	vectors tensor.Matrix
	same    int // the first target with the same interactions, or itself
}

// load reads the targets and the attacked users.
func (c Config) load(ctx context.Context, env *run.Env, tasks []run.Task) (*victims, error) {
	a := asked{release: c.On.Release, vectors: slices.Contains(c.Attack.Sees, SeesVectors)}
	if c.Attack.lists() {
		a.depth = slices.Max(c.Attack.K)
	}
	all, err := c.sources(ctx, env, tasks, a)
	if err != nil {
		return nil, err
	}
	for _, sees := range c.Attack.Sees {
		lacks := ""
		switch {
		case sees == SeesVectors && len(c.On.Runs) == 0:
			lacks = "vectors of users, which only a run has: bring them with privrec import --vectors"
		case sees != SeesLists && sees != SeesVectors && all[0].had == nil:
			lacks = "interactions: name a file of them with --interactions"
		case sees != SeesInteractions && all[0].lists == nil && len(c.On.Runs) == 0:
			lacks = "lists: name a run with --on, or a file of lists with --lists"
		}
		if lacks != "" {
			return nil, &run.UsageError{Message: fmt.Sprintf("attack.sees: %s: there are no %s", sees, lacks),
				Fix: "or leave " + sees + " out of attack.sees"}
		}
	}
	var t *table
	switch {
	case c.Files.Attributes != "":
		if t, err = readAttributes(ctx, c.Files.Attributes, c.Attributes); err != nil {
			return nil, err
		}
		if err := env.RecordData("attributes "+c.Files.Attributes, t.hash); err != nil {
			return nil, err
		}
		t = t.among(func(string) bool { return true })
	case all[0].data != "" && !all[0].imported:
		if t, err = ofFeatures(ctx, all[0], c.Attributes); err != nil {
			return nil, err
		}
		first := all[0]
		t = t.among(func(user string) bool { _, ok := first.had[user]; return ok })
	default:
		return nil, &run.UsageError{Message: "files.attributes: is empty, and the lists name no data set that has " +
			"attributes", Fix: "name a table of users and their attributes with --attributes"}
	}
	v := &victims{users: t.users}
	for i, wanted := range c.Attributes {
		made, err := t.classes(i, wanted)
		if err != nil {
			return nil, err
		}
		v.attributes = append(v.attributes, made)
	}
	at := columns(all, t.items)
	v.items = len(at)
	for _, s := range all {
		made, err := s.number(t, at, a)
		if err != nil {
			return nil, err
		}
		v.targets = append(v.targets, made)
		for made.same = 0; !slices.EqualFunc(v.targets[made.same].had, made.had, slices.Equal); {
			made.same++
		}
		if first := v.targets[made.same]; first != made {
			made.Same = first.Name
		}
	}
	return v, nil
}

// sources reads the targets, and records their identity in the manifest.
func (c Config) sources(ctx context.Context, env *run.Env, tasks []run.Task, a asked) (all []*source, err error) {
	switch {
	case len(c.On.Runs) > 0:
		dirs := c.On.dirs(env.Dir)
		if all, err = ofRuns(ctx, tasks, dirs, a); err != nil {
			return nil, err
		}
		if c.Data.Name != "" && c.Data.Name != all[0].data {
			return nil, &run.UsageError{Message: fmt.Sprintf("data.name: is %s, but the run in %s is on %s",
				c.Data.Name, dirs[0], all[0].data), Fix: "leave data.name out: the run has its data"}
		}
		for _, s := range all {
			s.Hash = s.digest()
			if err := env.RecordData("recommendations of "+s.dir, s.Hash); err != nil {
				return nil, err
			}
		}
		return all, env.RecordData(all[0].data, all[0].hash)
	case c.Files.Recs != "":
		s, err := ofFiles(ctx, env, c.Files, a)
		if err != nil {
			return nil, err
		}
		s.Hash = s.digest()
		return []*source{s}, nil
	case c.Files.Lists != "":
		s, err := ofLists(ctx, c.Files.Lists, max(a.depth, 1))
		if err != nil {
			return nil, err
		}
		s.Hash = s.hash
		if err := env.RecordData("lists "+c.Files.Lists, s.Hash); err != nil {
			return nil, err
		}
		if c.Data.Name != "" {
			d, err := ofData(ctx, c.Data, env.View())
			if err != nil {
				return nil, err
			}
			s.had, s.data, s.recipe, s.view, s.Data, s.Recipe, s.Level = d.had, d.data, d.recipe, d.view, d.Data,
				d.Recipe, max(s.Level, d.Level)
			return []*source{s}, env.RecordData(s.data, d.hash)
		}
		if c.Files.Interactions != "" {
			hash := ""
			if s.had, hash, err = readHad(ctx, c.Files.Interactions); err != nil {
				return nil, err
			}
			if err := env.RecordData("interactions "+c.Files.Interactions, hash); err != nil {
				return nil, err
			}
		}
		return []*source{s}, nil
	case c.Data.Name != "":
		s, err := ofData(ctx, c.Data, env.View())
		if err != nil {
			return nil, err
		}
		s.Hash = s.hash
		return []*source{s}, env.RecordData(s.data, s.hash)
	}
	return nil, &run.UsageError{Message: "nothing to attack is named",
		Fix: "name a finished run with --on, a file of recommendations with --lists, or a data set with data.name " +
			"for interactions alone"}
}
