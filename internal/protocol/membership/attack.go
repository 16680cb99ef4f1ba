package membership

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"privrec/internal/attack/attribute"
	"privrec/internal/attack/detect"
	"privrec/internal/attack/membership"
	"privrec/internal/dataset"
	"privrec/internal/experiment"
	"privrec/internal/protocol/target"
	"privrec/internal/run"
	"privrec/internal/tensor"
)

// apartShare is the share of the users who are attacked where a shadow model is trained, on
// others.
const apartShare = 0.5

// way is an attack with what it sees and how it decides.
type way struct {
	detect.Attack
	sees, how string
}

// plan is an attack on one target.
type plan struct {
	Config
	env   *run.Env
	tasks []run.Task
	*target.Run
	on     *candidates
	models int // reference models that were trained
}

// sees reports whether the attacker sees something.
func (c Config) sees(what string) bool { return slices.Contains(c.Attack.Sees, what) }

// ways makes all attacks that the setting allows, the strongest kind first, then the floors.
func (p *plan) ways(ctx context.Context) (all []way, err error) {
	shown, err := p.shown(ctx)
	if err != nil {
		return nil, err
	}
	if p.sees(SeesScores) && p.Attack.References > 0 {
		if all, err = p.lira(ctx, shown); err != nil {
			return nil, err
		}
	}
	if p.on.level == LevelUser && p.sees(SeesLists) && !p.on.last {
		made, err := p.lists(ctx, shown)
		if err != nil {
			return nil, err
		}
		all = append(all, made...)
	}
	add := func(name, sees, how string, score []float64) {
		if p.sees(sees) {
			all = append(all, way{Attack: detect.Attack{Name: name, Score: score}, sees: sees, how: how})
		}
	}
	switch {
	case p.on.last:
		add("score of the last row", SeesScores, "score of the item of the last training row after the rows before it: higher for members", shown.score)
		add("place of the last row", SeesScores, "its place among all items, by score: higher for members", shown.place)
		add("place in the list", SeesLists, "its place in the list, if it is there: higher for members", shown.placed(p.on))
	case p.on.level == LevelUser:
		add("place of own items", SeesScores, "mean place of the user's items among all items, by score: higher for members", shown.place)
		add("score of own items", SeesScores, "mean score of the user's items: higher for members", shown.score)
	default:
		add("score", SeesScores, "score of the item for the user: higher for members", shown.score)
		add("place", SeesScores, "place of the item among all items, by the user's scores: higher for members", shown.place)
		add("missing in the list", SeesLists, "lists leave out what a user has: an item that others' lists have and this one lacks is a member", shown.missing(p.on, p.Whole.Items))
	}
	if p.sees(SeesVectors) {
		w, err := p.vectors()
		if err != nil {
			return nil, err
		}
		all = append(all, w)
	}
	base, err := floors(ctx, p.on, p.Whole.Items, p.env.Seed)
	if err != nil {
		return nil, err
	}
	for _, f := range base {
		all = append(all, way{Attack: f, sees: "no model", how: "floor"})
	}
	return all, nil
}

// shown looks at the target: at its lists where it shows nothing else.
func (p *plan) shown(ctx context.Context) (*seen, error) {
	if l, ok := p.Imported.(experiment.Listing); ok {
		return p.lookAtLists(l, p.on, p.Whole)
	}
	return p.look(p.Asks(ctx), p.tasks, p.Dir, p.On.Release, p.Given, p.on, p.Whole)
}

// lira trains reference models and makes the likelihood ratio attacks.
func (p *plan) lira(ctx context.Context, shown *seen) ([]way, error) {
	defer p.env.Stage("reference models")()
	var r membership.References
	p.env.Progress.Begin("reference models", p.Attack.References)
	defer p.env.Progress.End("")
	for k := range p.Attack.References {
		dir, h, err := reference(ctx, p.Run, p.env.Dir, k, p.on.level)
		if err != nil {
			return nil, err
		}
		given, err := p.Without(ctx, h)
		if err != nil {
			return nil, err
		}
		s, err := p.look(p.Asks(ctx), p.tasks, dir, p.On.Release, given, p.on, p.Whole)
		if err != nil {
			return nil, err
		}
		r.Score, r.In = append(r.Score, s.standard), append(r.In, p.on.memberOf(given))
		p.models++
		p.env.Progress.Add(1)
	}
	how := fmt.Sprintf("score less the user's mean, over their deviation, against %d reference models on random halves", p.Attack.References)
	online, err := r.Online(shown.standard)
	if err != nil {
		return nil, err
	}
	offline, err := r.Offline(shown.standard)
	if err != nil {
		return nil, err
	}
	return []way{
		{Attack: detect.Attack{Name: "LiRA, online", Score: online}, sees: SeesScores, how: how + ", with and without the candidate"},
		{Attack: detect.Attack{Name: "LiRA, offline", Score: offline}, sees: SeesScores, how: how + ", without the candidate"},
	}, nil
}

// lists makes the attacks of Zhang et al. on users, with a shadow model where models are trained.
func (p *plan) lists(ctx context.Context, shown *seen) (all []way, err error) {
	v, err := itemVectors(ctx, p.Whole, p.env.Seed)
	if err := run.Interrupted(ctx, err); err != nil {
		return nil, err
	}
	defer v.Close()
	x, alike := differences(v.Items, p.on.items, shown.lists)
	if p.Attack.References > 0 {
		w, err := p.practised(ctx, v.Items, x)
		if err != nil {
			return nil, err
		}
		all = append(all, w)
	}
	return append(all, way{Attack: detect.Attack{Name: "likeness of history and list", Score: alike}, sees: SeesLists,
		how: "cosine of the centres of what a user has and is recommended: higher for members"}), nil
}

// practised trains the shadow model and the classifier. x has the differences of the attacked
// users.
func (p *plan) practised(ctx context.Context, items, x tensor.Matrix) (w way, err error) {
	defer p.env.Stage("shadow model")()
	dir, h, err := shadow(ctx, p.Run, p.env.Dir, apartShare)
	if err != nil {
		return w, err
	}
	p.models++
	given, err := p.Without(ctx, h)
	if err != nil {
		return w, err
	}
	others := &candidates{level: LevelUser}
	for u, apart := range h.UsersApart(p.Whole.UserIDs) {
		if rows := p.Whole.Train[u]; !apart && len(rows) > 0 {
			others.users, others.items, others.at = append(others.users, int32(u)), append(others.items, rows), append(others.at, len(others.at))
		}
	}
	others.Count = len(others.users)
	others.Positive = make([]bool, others.Count)
	others.Positive = others.memberOf(given)
	s, err := p.look(p.Asks(ctx), p.tasks, dir, p.On.Release, given, others, p.Whole)
	if err != nil {
		return w, err
	}
	practice, _ := differences(items, others.items, s.lists)
	w = way{Attack: detect.Attack{Name: "shadow model and classifier"}, sees: SeesLists,
		how: fmt.Sprintf("Zhang et al.: %s on the difference of the centres of what a user has and is recommended, trained on a shadow model of %d other users", p.Attack.Classifier, others.Count)}
	w.Score, err = shadowAttack(ctx, p.Attack.Classifier, practice, others.Positive, x, p.env.Seed)
	if no := (*attribute.UnsuitableError)(nil); errors.As(err, &no) {
		return w, &run.UsageError{Message: "attack.classifier: " + no.Error(), Fix: "take dnn, which works on any numbers"}
	}
	return w, run.Interrupted(ctx, err)
}

// vectors makes the attack on the vectors of a run.
func (p *plan) vectors() (w way, err error) {
	v, err := experiment.OpenVectors(p.Dir, p.Kept, p.Whole.Users, p.Whole.Items)
	if err != nil {
		return w, run.WithHint(fmt.Errorf("attack.sees: %s: the run keeps no vectors that can be read: %w", SeesVectors, err), "leave "+SeesVectors+" out of attack.sees")
	}
	w = way{Attack: detect.Attack{Name: "angle of the vectors"}, sees: SeesVectors, how: "cosine of the vectors of user and item: higher for members"}
	if p.on.level == LevelUser {
		w.how = "mean " + w.how
	}
	for k, u := range p.on.users {
		sum := 0.0
		for _, i := range p.on.items[k] {
			x := target.Cosine(tensor.Row(v.Users, int(u)), tensor.Row(v.Items, int(i)))
			if sum += x; p.on.level == LevelInteraction {
				w.Score = append(w.Score, x)
			}
		}
		if p.on.level == LevelUser {
			w.Score = append(w.Score, sum/float64(len(p.on.items[k])))
		}
	}
	return w, nil
}

// attacked returns the users among whom the candidates are: those apart from the shadow model's.
func (c Config) attacked(t *target.Run) []bool {
	if c.Attack.Level != LevelUser || c.Attack.References == 0 || !c.sees(SeesLists) {
		return nil
	}
	return dataset.HoldOut{Apart: apartShare, Seed: t.Held.Seed}.UsersApart(t.Whole.UserIDs)
}
