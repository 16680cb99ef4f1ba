package dataset

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"privrec/internal/rng"
)

// Options says where to look for files and what to keep between runs.
type Options struct {
	Dir  string   // folder with one folder a data set; "" takes $PRIVREC_DATA
	Seed rng.Seed // of a stand-in's rows; no other data set has anything random
}

// Load finds a data set, reads it and runs a recipe on it.
func Load(ctx context.Context, name, recipe string, opts Options) (*Sequential, error) {
	set, err := Find(name)
	if err != nil {
		return nil, err
	}
	r, err := set.Recipe(recipe)
	if err != nil {
		return nil, err
	}
	if set.StandIn != nil {
		log, features, err := set.StandIn.Generate(ctx, opts.Seed)
		if err != nil {
			return nil, err
		}
		s, err := r.Apply(log, features, true)
		if err != nil {
			return nil, err
		}
		s.Source.Title = set.Title
		return s, nil
	}
	layout, paths, err := set.locate(opts.Dir)
	if err != nil {
		return nil, err
	}
	log, features, err := layout.Read(ctx, paths)
	if err != nil {
		return nil, err
	}
	log.Name = set.Name
	s, err := r.Apply(log, features, false)
	if err != nil {
		return nil, err
	}
	s.Source.Title = set.Title
	return s, nil
}

// locate returns the first layout whose files are all present.
func (s Set) locate(dir string) (Layout, []string, error) {
	if dir == "" {
		dir = os.Getenv("PRIVREC_DATA")
	}
	get := fmt.Sprintf("get it from %s", s.Address)
	if dir == "" {
		return Layout{}, nil, &Error{File: s.Name, Msg: "no data folder given", Err: ErrNotFound,
			Hint: "set PRIVREC_DATA to a folder that holds " + s.Name + "/" + strings.Join(s.Layouts[0].Files, ", ") + "; " + get}
	}
	folder := filepath.Join(dir, s.Name)
	var wanted []string
	for _, l := range s.Layouts {
		if paths, ok := l.in(folder); ok {
			return l, paths, nil
		}
		wanted = append(wanted, strings.Join(l.Files, " and "))
	}
	return Layout{}, nil, &Error{File: folder, Msg: "looked for " + strings.Join(wanted, ", or ") + " (plain, .gz or .zst)", Err: ErrNotFound, Hint: get}
}

// in returns the paths of the layout's files in folder.
func (l Layout) in(folder string) ([]string, bool) {
	var paths []string
	for _, f := range l.Files {
		found := false
		for _, ext := range []string{"", ".gz", ".zst"} {
			p := filepath.Join(folder, f+ext)
			if st, err := os.Stat(p); err == nil && st.Mode().IsRegular() {
				paths, found = append(paths, p), true
				break
			}
		}
		if !found {
			return nil, false
		}
	}
	return paths, true
}
