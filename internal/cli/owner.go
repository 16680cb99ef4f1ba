package cli

import (
	"errors"
	"fmt"
	"slices"

	"privrec/internal/config"
	"privrec/internal/reproduce/grid"
	"privrec/internal/run"
)

// taskCalled returns the task of a name, as in "train lightgcn".
func (a *App) taskCalled(name string) (run.Task, error) {
	for _, t := range a.Tasks {
		if t.String() == name {
			return t, nil
		}
	}
	fix := "privrec list shows the tasks"
	var names []string
	for _, t := range a.Tasks {
		names = append(names, t.String())
	}
	if best := config.Nearest(name, names); best != "" {
		fix = fmt.Sprintf("did you mean %q?", best)
	}
	return run.Task{}, usagef(fix, "no task is called %q", name)
}

// taskOfFile returns the task that a configuration file names.
func (a *App) taskOfFile(file string) (run.Task, error) {
	name, err := config.Top(file, "task")
	if err != nil {
		return run.Task{}, err
	}
	if name != "" {
		return a.taskCalled(name)
	}
	if owner := a.owner(file); owner != "" {
		return run.Task{}, usagef("privrec "+owner+" "+file, "%s: this is not the configuration of a task", file)
	}
	return run.Task{}, usagef(`write a line such as task: train lightgcn; privrec list shows the tasks`,
		"%s: it names no task", file)
}

// nameOwner says of a configuration file that a task refused that it is one of another task, or the grid of a table.
// Other errors stay as they are.
func (a *App) nameOwner(err error, t run.Task, file string) error {
	var bad config.Errors
	if file == "" || !errors.As(err, &bad) {
		return err
	}
	owner := a.owner(file)
	if owner == "" || owner == t.String() {
		return err
	}
	return usagef(fmt.Sprintf("take it with privrec %s; privrec %s --defaults prints a configuration to begin with",
		owner, t),
		"%s: this is a configuration of %s, not of %s", file, owner, t)
}

// owner returns the task that a file is a configuration of, as its key task says, or the command that makes its table;
// "" for other files.
func (a *App) owner(file string) string {
	name, err := config.Top(file, "task")
	if err != nil {
		return ""
	}
	if slices.ContainsFunc(a.Tasks, func(t run.Task) bool { return t.String() == name }) {
		return name
	}
	if _, err := grid.Load(file, a.Tasks); err == nil {
		return "reproduce --grid"
	}
	return ""
}
