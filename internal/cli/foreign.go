package cli

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"privrec/internal/config"
	"privrec/internal/reproduce"
	"privrec/internal/run"
)

// manyUnknown is the number of unknown keys from which on a file is one of another task; fewer
// may be slips.
const manyUnknown = 2

// nameOwner adds to the error of a task that refused a configuration file which other task, or
// grid of a table, takes that file as it is. Other errors stay as they are.
func (a *App) nameOwner(err error, t run.Task, file string) error {
	var bad config.Errors
	if file == "" || !errors.As(err, &bad) || t.Check(file, nil) == nil { // then an override is wrong
		return err
	}
	unknown := 0
	for _, e := range bad {
		if e.Message == config.UnknownKey && e.Set == "" {
			unknown++
		}
	}
	owners := a.owners(file)
	switch {
	case len(owners) == 0:
		return err
	case unknown >= manyUnknown:
		return usagef(fmt.Sprintf("take it with privrec %s; privrec %s --defaults prints a configuration to begin with", owners[0], t),
			"%s: this is a configuration of %s, not of %s", file, strings.Join(owners, ", or "), t)
	case hint(err) == "":
		return run.WithHint(err, "the file is right as a configuration of "+strings.Join(owners, ", or "))
	}
	return err
}

// owners names the tasks that take a file, or the command that makes its table. Of several it
// takes those that the file is named after, as in ml-1m-srgnn.yaml, else those that its folder is
// named after, as in dipsgnn/ml-1m.yaml. Of these it takes those with the fewest keys: a task may
// have all keys of another.
func (a *App) owners(file string) (names []string) {
	name, folder := strings.TrimSuffix(filepath.Base(file), filepath.Ext(file)), filepath.Base(filepath.Dir(file))
	rank := func(t run.Task) [2]int {
		switch {
		case t.Name == name || strings.HasSuffix(name, "-"+t.Name):
			return [2]int{0, len(t.Keys())}
		case t.Name == folder || t.Verb == folder:
			return [2]int{1, len(t.Keys())}
		}
		return [2]int{2, len(t.Keys())}
	}
	var best [2]int
	for _, t := range a.Tasks {
		if t.Check(file, nil) != nil {
			continue
		}
		r := rank(t)
		switch c := slices.Compare(r[:], best[:]); {
		case len(names) == 0 || c < 0:
			names, best = []string{t.String()}, r
		case c == 0:
			names = append(names, t.String())
		}
	}
	if len(names) == 0 {
		if _, err := reproduce.Load(file, a.Tasks); err == nil {
			names = []string{"reproduce --grid"}
		}
	}
	return names
}
