package membership

import (
	"cmp"
	"context"
	"slices"

	"privrec/internal/attack/detect"
	"privrec/internal/protocol/target"
	"privrec/internal/run"
)

// Observed holds the scores of every candidate of a run by the attacks of a setting that see the model.
type Observed struct {
	detect.Candidates
	Attacks []detect.Attack
}

// Observe queries the finished run of a setting and returns the scores of its attacks, for measures other than the
// attack's own. Runs that differ in their held-out rows have the same candidates in the same order. coins "" are those
// that the attack asks with, others those of run.Serve.
func Observe(ctx context.Context, env *run.Env, c Config, tasks []run.Task, coins string) (*Observed, error) {
	t, of, err := target.Open(ctx, target.Where(c.On, c.Target, env.Dir), c.On.Release, tasks, c.nonMembers)
	if err != nil {
		return nil, err
	}
	t.Coins = cmp.Or(coins, t.Coins)
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
