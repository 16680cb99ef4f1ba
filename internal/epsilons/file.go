package epsilons

import (
	"errors"
	"fmt"
	"io/fs"

	"privrec/internal/config"
	"privrec/internal/config/schema"
	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant"
	"privrec/internal/system"
)

// Paper is a paper with a list of settings.
type Paper struct {
	Name string
	Rows func(files fs.FS) ([]Row, error) // reads the list and computes the rows
	File func() schema.File               // what the file of the list is
}

// Row holds the claim of one setting and the epsilon of its releases.
type Row struct {
	Paper        string               `json:"paper"`
	Setting      string               `json:"setting"`
	Place        string               `json:"place,omitempty"` // of the claim in the paper
	Unit         privacy.Unit         `json:"unit"`
	Neighbouring privacy.Neighbouring `json:"neighbouring"`
	Delta        float64              `json:"delta"`             // 0: pure
	Claimed      *privacy.Number      `json:"claimed,omitempty"` // nil: nothing is claimed
	Written      *Reading             `json:"as_written,omitempty"`
	Released     *Reading             `json:"as_released,omitempty"`
	Repaired     *Reading             `json:"as_repaired,omitempty"`
}

// file is a list of settings with readings of type S.
type file[S Source] struct {
	Paper    string     `yaml:"paper" limit:"filled"`
	Settings []entry[S] `yaml:"settings"`
}

// entry holds one setting of a list.
type entry[S Source] struct {
	Setting    string               `yaml:"setting" limit:"filled"`
	Place      string               `yaml:"place"`
	Claimed    float64              `yaml:"claimed"` // epsilon that the paper claims; 0: none
	Unit       privacy.Unit         `yaml:"unit"`
	Neighbours privacy.Neighbouring `yaml:"neighbours"`
	Delta      float64              `yaml:"delta"` // delta of the setting; 0: pure
	// reading of the paper's text; left out: the setting has no such reading, as with the next two
	Written  *S `yaml:"written"`
	Released *S `yaml:"released"`
	Repaired *S `yaml:"repaired"`
}

// Of returns the paper whose list is in configs/epsilon/NAME.yaml, with readings of type S.
func Of[S Source](name string) Paper {
	return Paper{Name: name, File: func() schema.File {
		return schema.FileOf("epsilon-"+name, "Settings of the paper "+name+", for privrec account epsilon.", file[S]{})
	}, Rows: func(files fs.FS) ([]Row, error) {
		path := "epsilon/" + name + ".yaml"
		text, err := fs.ReadFile(files, path)
		if err != nil {
			return nil, fmt.Errorf("read the settings of %s: %w", name, err)
		}
		return Read[S](path, text)
	}}
}

// Read computes the rows of a list. path is for messages.
func Read[S Source](path string, text []byte) ([]Row, error) {
	f, doc, err := config.Parse(path, text, nil, file[S]{})
	if err != nil {
		return nil, err
	}
	v := config.NewChecker(doc)
	v.Declared(f)
	v.Check(len(f.Settings) > 0, "settings", "must not be empty")
	seen := map[string]bool{}
	for i, e := range f.Settings {
		e.check(v, fmt.Sprintf("settings.%d", i), seen)
	}
	if err := v.Err(); err != nil {
		return nil, err
	}
	// Rows do not depend on each other, so the number of workers changes no result.
	rows, bad := make([]Row, len(f.Settings)), make([]error, len(f.Settings))
	p := &pricer{known: map[string]accountant.Result{}}
	_ = system.Together(len(rows), func(i int) error {
		if rows[i], bad[i] = f.Settings[i].row(f.Paper, p); bad[i] != nil {
			bad[i] = fmt.Errorf("%s: settings.%d, %s: %w", path, i, f.Settings[i].Setting, bad[i])
		}
		return nil
	})
	return rows, errors.Join(bad...)
}

// check reports faults of an entry.
func (e entry[S]) check(v *config.Checker, key string, seen map[string]bool) {
	v.Check(!seen[e.Setting], key+".setting", "is there twice: %q", e.Setting)
	seen[e.Setting] = true
	v.Check(e.Claimed == 0 || e.Place != "", key+".claimed", "needs a place, which says where the claim stands")
	v.Check(e.Claimed >= 0, key+".claimed", "must be at least 0, got %v", e.Claimed)
	v.Check(e.Delta >= 0 && e.Delta < 1, key+".delta", "must be at least 0 and below 1, got %v", e.Delta)
	for _, err := range []error{e.Unit.Validate(), e.Neighbours.Validate()} {
		v.Check(err == nil, key+".unit", "%v", err)
	}
	v.Check(e.Written != nil || e.Released != nil || e.Repaired != nil, key, "must have a reading")
}

// row returns the row of an entry.
func (e entry[S]) row(paper string, p *pricer) (Row, error) {
	r := Row{Paper: paper, Setting: e.Setting, Place: e.Place, Unit: e.Unit, Neighbouring: e.Neighbours, Delta: e.Delta}
	if e.Claimed > 0 {
		r.Claimed = number(e.Claimed)
	}
	s := Setting{Claimed: e.Claimed, Delta: e.Delta, Subject: privacy.Subject{Unit: e.Unit, Neighbouring: e.Neighbours}}
	var bad []error
	certified := false
	for _, x := range []struct {
		name string
		from *S
		to   **Reading
	}{{"written", e.Written, &r.Written}, {"released", e.Released, &r.Released},
		{"repaired", e.Repaired, &r.Repaired}} {
		if x.from == nil {
			continue
		}
		var err error
		if *x.to, err = p.read(*x.from, s, !certified); err != nil {
			bad = append(bad, fmt.Errorf("%s: %w", x.name, err))
		}
		certified = true
	}
	return r, errors.Join(bad...)
}
