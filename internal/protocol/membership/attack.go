package membership

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"privrec/internal/attack/attribute"
	"privrec/internal/attack/membership"
	"privrec/internal/dataset"
	"privrec/internal/experiment"
	"privrec/internal/protocol/imported"
	"privrec/internal/protocol/target"
	"privrec/internal/run"
	"privrec/internal/tensor"
)

// apartShare is the share of users who are attacked if a shadow model is trained; it is trained on the others.
const apartShare = 0.5

// Task returns the attack on runs of others, which it may also train.
func Task(others []run.Task) run.Task {
	return target.Attack[Config]{
		Name: "membership", Method: "membership inference",
		Summary: "tell users or interactions that a model was trained on from others",
		Cite: "Zhang et al., Membership Inference Attacks Against Recommender Systems, CCS 2021, arXiv 2109.08045; " +
			"Carlini et al., S&P 2022, arXiv 2112.03570",
		Flags: []run.Flag{
			{Name: "on", Key: "on.run",
				Usage: "attack the finished run in this directory, which was trained with run.hold_out"},
			{Name: "level", Key: "attack.level", Usage: "what is asked about: interaction or user"},
			{Name: "train", Key: "target.task", With: "recs", WithKey: "files.train",
				Usage: "train this task, such as \"train ease\", and attack it"},
			{Name: "recs", Key: "files.recs",
				Usage: "attack the lists in this file, of a model that another program trained; " +
					"--train is then the file of its training rows"},
			{Name: "truth", Key: "files.truth", Usage: "with --recs, the file of what users took later"},
			{Name: "non-members", Key: "files.non_members",
				Usage: "with --recs, the file of rows that the model was not trained on"},
		},
		Default: Default, Check: Check,
		Parts: func(c *Config) target.Parts {
			return target.Parts{Profile: &c.Profile, On: &c.On, Target: &c.Target, Eval: &c.Eval}
		},
		Drop:  func(c *Config) { c.Files = imported.Source{} },
		Clear: "histories",
		Why: "the attacker is given the histories of the users in the clear, and is told whom the model was trained " +
			"on to be measured; what protects the model is in the account of its own run",
		HoldOut: func(c Config) string {
			if c.Attack.Level == LevelUser {
				return "users"
			}
			return "rows"
		},
		Suits:  Config.nonMembers,
		Brings: func(c Config) bool { return c.Files.Given() }, Brought: opened,
		Find: find,
	}.Task(others)
}

// opened opens the lists of a model that another program trained.
func opened(ctx context.Context, env *run.Env, c Config) (*target.Run, *experiment.Outcome[experiment.Data], error) {
	m, err := c.Files.Open(ctx, env)
	if err != nil {
		return nil, nil, err
	}
	t := target.Brought(m.Listing, m.Outcome, c.Files.Recs, "", env.Seed)
	t.Task = "lists of another program"
	return t, m.Outcome, c.nonMembers(t)
}

// find lists the candidates and scores them by the attacks.
func find(ctx context.Context, c Config, x *target.Attacked) (*target.Found, error) {
	p := &plan{Config: c, Attacked: x}
	var err error
	if p.on, err = c.candidates(x.Run, c.attacked(x.Run)); err != nil {
		return nil, err
	}
	if c.Attack.References > 0 {
		if err := experiment.HoldsRuns(x.Env); err != nil {
			return nil, err
		}
	}
	ways, err := p.ways(ctx)
	if err != nil {
		return nil, err
	}
	return p.found(ways), nil
}

// plan is an attack on one target.
type plan struct {
	Config
	*target.Attacked
	on     *candidates
	models int // reference models that were trained
}

// sees reports whether the attacker sees something.
func (c Config) sees(what string) bool { return slices.Contains(c.Attack.Sees, what) }

// ways returns all attacks that the setting allows, the strongest kind first, then the floors.
func (p *plan) ways(ctx context.Context) (all []target.Way, err error) {
	shown, err := p.shown(ctx)
	if err != nil {
		return nil, err
	}
	if p.sees(SeesScores) && p.Attack.References > 0 {
		if all, err = p.referenced(ctx, shown); err != nil {
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
			all = append(all, target.By(name, sees, how, score))
		}
	}
	switch {
	case p.on.last:
		add("score of the last row", SeesScores,
			"score of the item of the last training row after the rows before it: higher for members", shown.score)
		add("place of the last row", SeesScores, "its place among all items, by score: higher for members", shown.place)
		add("place in the list", SeesLists, "its place in the list, if it is there: higher for members",
			shown.placed(p.on))
	case p.on.level == LevelUser:
		add("place of own items", SeesScores,
			"mean place of the user's items among all items, by score: higher for members", shown.place)
		add("score of own items", SeesScores, "mean score of the user's items: higher for members", shown.score)
	default:
		add("score", SeesScores, "score of the item for the user: higher for members", shown.score)
		add("place", SeesScores, "place of the item among all items, by the user's scores: higher for members",
			shown.place)
		add("missing in the list", SeesLists,
			"lists leave out what a user has: an item that others' lists have and this one lacks is a member",
			shown.missing(p.on, p.Whole.Items))
	}
	if p.sees(SeesVectors) {
		w, err := p.vectors()
		if err != nil {
			return nil, err
		}
		all = append(all, w)
	}
	base, err := floors(ctx, p.on, p.Whole.Items, p.Env.Seed)
	if err != nil {
		return nil, err
	}
	return append(all, base...), nil
}

// shown returns what the target shows of the candidates: its lists if it shows nothing else.
func (p *plan) shown(ctx context.Context) (*seen, error) {
	if l, ok := p.Imported.(experiment.Listing); ok {
		return p.lookAtLists(l, p.on, p.Whole)
	}
	return p.look(ctx, p.Dir, p.Given, p.on)
}

// referenced trains reference models and returns the attacks by the statistics that are asked for.
func (p *plan) referenced(ctx context.Context, shown *seen) (all []target.Way, err error) {
	defer p.Env.Stage("reference models")()
	var r membership.References
	p.Env.Progress.Begin("reference models", p.Attack.References)
	defer p.Env.Progress.End("")
	for k := range p.Attack.References {
		dir, h, err := reference(ctx, p.Run, p.Env.Dir, k, p.on.level)
		if err != nil {
			return nil, err
		}
		given, err := p.Without(ctx, h)
		if err != nil {
			return nil, err
		}
		s, err := p.look(ctx, dir, given, p.on)
		if err != nil {
			return nil, err
		}
		r.Score, r.In = append(r.Score, s.standard), append(r.In, p.on.memberOf(given))
		p.models++
		p.Env.Progress.Add(1)
	}
	how := fmt.Sprintf("score less the user's mean, over their deviation, against %d reference models on random halves",
		p.Attack.References)
	if len(p.Attack.Statistics) == 0 || slices.Contains(p.Attack.Statistics, LiRA) {
		online, err := r.Online(shown.standard)
		if err != nil {
			return nil, err
		}
		offline, err := r.Offline(shown.standard)
		if err != nil {
			return nil, err
		}
		all = append(all, target.By("LiRA, online", SeesScores, how+", with and without the candidate", online),
			target.By("LiRA, offline", SeesScores, how+", without the candidate", offline))
	}
	if slices.Contains(p.Attack.Statistics, RMIA) {
		made, err := rmia(r, shown.standard, how)
		if err != nil {
			return nil, err
		}
		all = append(all, made...)
	}
	return all, nil
}

// rmia returns the relative likelihood ratio attacks, online and offline. Each score is the share of the other
// candidates with a ratio of at most the candidate's own.
func rmia(r membership.References, score []float64, how string) ([]target.Way, error) {
	online, err := r.Relative(score, 1)
	if err != nil {
		return nil, err
	}
	a, err := r.Correction()
	if err != nil {
		return nil, err
	}
	offline, err := r.RelativeOffline(score, 1, a)
	if err != nil {
		return nil, err
	}
	how = "share of other candidates whose likelihood rose less: " + how
	return []target.Way{
		target.By("RMIA, online", SeesScores, how+", with and without the candidate", online),
		target.By("RMIA, offline", SeesScores, fmt.Sprintf("%s, without the candidate; a = %.1f by the first of them",
			how, a), offline),
	}, nil
}

// lists returns the attacks of Zhang et al. on users, with a shadow model where models are trained.
func (p *plan) lists(ctx context.Context, shown *seen) (all []target.Way, err error) {
	v, err := itemVectors(ctx, p.Whole, p.Env.Seed)
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
	const how = "cosine of the centres of what a user has and is recommended: higher for members"
	return append(all, target.By("likeness of history and list", SeesLists, how, alike)), nil
}

// practised trains the shadow model and the classifier, and returns their attack. x holds the differences of the
// attacked users.
func (p *plan) practised(ctx context.Context, items, x tensor.Matrix) (w target.Way, err error) {
	defer p.Env.Stage("shadow model")()
	dir, h, err := shadow(ctx, p.Run, p.Env.Dir, apartShare)
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
			others.users, others.items, others.at = append(others.users, int32(u)), append(others.items, rows),
				append(others.at, len(others.at))
		}
	}
	others.Count = len(others.users)
	others.Positive = make([]bool, others.Count)
	others.Positive = others.memberOf(given)
	s, err := p.look(ctx, dir, given, others)
	if err != nil {
		return w, err
	}
	practice, _ := differences(items, others.items, s.lists)
	how := fmt.Sprintf("Zhang et al.: %s on the difference of the centres of what a user has and is recommended, "+
		"trained on a shadow model of %d other users", p.Attack.Classifier, others.Count)
	w = target.By("shadow model and classifier", SeesLists, how, nil)
	w.Score, err = shadowAttack(ctx, p.Attack.Classifier, practice, others.Positive, x, p.Env.Seed)
	if no := (*attribute.UnsuitableError)(nil); errors.As(err, &no) {
		return w, &run.UsageError{Message: "attack.classifier: " + no.Error(),
			Fix: "take dnn, which works on any numbers"}
	}
	return w, run.Interrupted(ctx, err)
}

// vectors returns the attack on the vectors of a run.
func (p *plan) vectors() (w target.Way, err error) {
	v, err := experiment.OpenVectors(p.Dir, p.Kept, p.Whole.Users, p.Whole.Items)
	if err != nil {
		return w, run.WithHint(fmt.Errorf("attack.sees: %s: the run keeps no vectors that can be read: %w", SeesVectors,
			err), "leave "+SeesVectors+" out of attack.sees")
	}
	how := "cosine of the vectors of user and item: higher for members"
	if p.on.level == LevelUser {
		how = "mean " + how
	}
	w = target.By("angle of the vectors", SeesVectors, how, nil)
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

// attacked tells which users can be candidates: those kept apart from the shadow model's users.
func (c Config) attacked(t *target.Run) []bool {
	if c.Attack.Level != LevelUser || c.Attack.References == 0 || !c.sees(SeesLists) {
		return nil
	}
	return dataset.HoldOut{Apart: apartShare, Seed: t.Held.Seed}.UsersApart(t.Whole.UserIDs)
}
