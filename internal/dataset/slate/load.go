package slate

import (
	"context"
	"fmt"
	"os"
	"strings"

	"privrec/internal/dataset"
)

// source is a set that Load knows.
type source struct {
	Name, Title string
	load        func(ctx context.Context, name string, o Options) (*Set, error)
}

func sources() []source {
	return []source{
		{"exposure-zhihu", "Zhihu pairs extracted from the exposure paper's repository", loadZhihu},
		{"exposure-mind", "MIND pairs extracted from the exposure paper's repository", loadMIND},
	}
}

// Load finds a set by its name, reads it and splits it.
func Load(ctx context.Context, name string, o Options) (*Set, error) {
	if err := o.check(name); err != nil {
		return nil, err
	}
	var known []string
	for _, s := range sources() {
		if s.Name == name {
			return s.load(ctx, name, o)
		}
		known = append(known, s.Name)
	}
	return nil, &dataset.Error{File: name, Msg: "unknown set of slates", Hint: "known are " + strings.Join(known, ", ")}
}

// check fills defaults in.
func (o *Options) check(name string) error {
	if o.T == 0 {
		o.T = 10
	}
	if o.L == 0 {
		o.L = 5
	}
	if o.Split == "" {
		o.Split = SplitUsers
	}
	switch {
	case o.T < 1 || o.L < 1:
		return &dataset.Error{File: name, Msg: fmt.Sprintf("slates and behaviours need at least one item, got %d and %d", o.T, o.L)}
	case o.Split != SplitUsers && o.Split != SplitReleased:
		return &dataset.Error{File: name, Field: "split", Msg: fmt.Sprintf("unknown split %q", o.Split), Hint: "known are users, released"}
	}
	return nil
}

// dataDir is the folder of data sets.
func dataDir(name, dir string) (string, error) {
	if dir == "" {
		dir = os.Getenv("PRIVREC_DATA")
	}
	if dir == "" {
		return "", &dataset.Error{File: name, Msg: "no data folder: PRIVREC_DATA is not set", Err: dataset.ErrNotFound, Hint: "set PRIVREC_DATA to the folder of data sets"}
	}
	if st, err := os.Stat(dir); err != nil || !st.IsDir() {
		return "", &dataset.Error{File: dir, Msg: "no such folder of data sets", Err: dataset.ErrNotFound, Hint: "set PRIVREC_DATA to the folder of data sets"}
	}
	return dir, nil
}
