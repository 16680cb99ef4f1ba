package target

import (
	"privrec/internal/experiment"
	"privrec/internal/run"
)

// Begun is what an attack on a finished run, or on one that it trains, has before anything is trained.
type Begun struct {
	Env      *run.Env
	Tasks    []run.Task // that can be attacked
	Task     run.Task   // to be trained; none where a run is attacked
	Standing experiment.Standing
}

// Begin checks what can be checked before anything is trained. It fails where neither a run nor a task
// is named. Standing is left to the caller, who knows the type of its configuration.
func Begin(env *run.Env, tasks []run.Task, on On, t Training) (b Begun, err error) {
	if env.Rehearsing() {
		return b, run.ErrNoForecast
	}
	b = Begun{Env: env, Tasks: tasks}
	switch {
	case t.Task != "":
		b.Task, err = experiment.Find(tasks, t.Task, "attacked")
	case on.Run == "":
		err = &run.UsageError{Message: "nothing to attack is named", Fix: "name a finished run with --on, or a task to train with --train"}
	}
	return b, err
}
