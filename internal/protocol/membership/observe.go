package membership

import (
	"context"
	"slices"

	"privrec/internal/attack/detect"
	"privrec/internal/protocol/target"
	"privrec/internal/run"
)

// Observed is what the attacks of a setting, which see the model, say of every candidate of a run.
type Observed struct {
	detect.Candidates
	Attacks []detect.Attack
}

// Observe asks the finished run of a setting and makes the attacks on it, for measures other than
// those of the attack itself. Candidates of runs that differ in what they hold out are the same, in
// the same order.
func Observe(ctx context.Context, env *run.Env, c Config, tasks []run.Task) (*Observed, error) {
	t, of, err := target.Open(ctx, target.Where(c.On, c.Target, env.Dir), c.On.Release, tasks, c.nonMembers)
	if err != nil {
		return nil, err
	}
	p := &plan{Config: c, Attacked: &target.Attacked{Run: t, Env: env, Tasks: tasks, Of: of}}
	if p.on, err = c.candidates(t, c.attacked(t)); err != nil {
		return nil, err
	}
	ways, err := p.ways(ctx)
	if err != nil {
		return nil, err
	}
	out := &Observed{Candidates: p.on.Candidates}
	for _, w := range slices.DeleteFunc(ways, func(w target.Way) bool { return w.Floor }) {
		out.Attacks = append(out.Attacks, w.Attack)
	}
	return out, nil
}
