package imported

import (
	"context"

	"privrec/internal/config"
	"privrec/internal/experiment"
	"privrec/internal/lists"
	"privrec/internal/run"
)

// Source names the files of a model, for attacks on what is no run of this program.
type Source struct {
	Recs        string `yaml:"recs"` // file of lists; empty: a run is attacked
	FilesConfig `yaml:",inline"`
}

// Opened holds a model read from files.
type Opened struct {
	experiment.Listing
	Outcome *experiment.Outcome[experiment.Data] // what is known of it
}

// Given reports whether files are named.
func (s Source) Given() bool { return s.Recs != "" }

// Check reports files without lists, and files given together with a run. on is the key of the run.
func (s Source) Check(v *config.Checker, on string, run bool) {
	v.Check(s.Recs != "" || s.FilesConfig == FilesConfig{}, "files.recs",
		"must name the file of lists that the other files belong to")
	v.Check(s.Recs == "" || !run, "files.recs", "is not read with %s: attack the lists and the run one after the other",
		on)
}

// Open reads the files, and records their hashes in the manifest of the run that attacks them.
func (s Source) Open(ctx context.Context, env *run.Env) (*Opened, error) {
	c := Common{Name: s.Recs, Rows: s.FilesConfig, K: DefaultCommon().K}
	m, err := load(ctx, c, func(ids *lists.IDs) (Parsed, error) { return readLists(ctx, s.Recs, ids) })
	if err != nil {
		return nil, err
	}
	m.Counts.warn(env)
	for _, f := range m.Rows.Data.Source.Files {
		if err := env.RecordData(f.Path, f.SHA256); err != nil {
			return nil, err
		}
	}
	o, _, err := m.outcome(ctx)
	if err != nil {
		return nil, run.Interrupted(ctx, err)
	}
	plain := &experiment.Outcome[experiment.Data]{Version: o.Version, Method: o.Method, Protocol: o.Protocol,
		Setting: o.Setting, Data: o.Data.Data}
	return &Opened{m.Shown.Answers(&Answers{Model: m, Dir: s.Recs}).(experiment.Listing), plain}, nil
}
