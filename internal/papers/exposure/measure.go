package exposure

import (
	"context"
	"fmt"
	"slices"
	"strings"

	attack "privrec/internal/attack/exposure"
	"privrec/internal/dataset/slate"
	"privrec/internal/metrics"
	"privrec/internal/run"
	"privrec/internal/train"
)

// firstItem is the number of tokens that are no items.
const firstItem = int(slate.FirstItem)

// metrics are what the paper reports, at the configured cutoffs.
func (x *experiment) metrics() []metrics.Metric {
	return metrics.Grid([]metrics.Kind{metrics.Recall, metrics.NDCG, metrics.MRR}, x.cfg.Eval.K)
}

// names are those of the metrics.
func (x *experiment) names() (names []string) {
	for _, m := range x.metrics() {
		names = append(names, m.String())
	}
	return names
}

// protocols are every vocabulary under every budget, the main one first.
func (x *experiment) protocols() (list []attack.Protocol) {
	e := x.cfg.Eval
	for _, v := range e.Vocabulary {
		for _, b := range e.Budget {
			list = append(list, attack.Protocol{Vocabulary: v, Budget: b, Cutoffs: e.K, DistinctTargets: x.cfg.dropsRepeated(), DropEnded: e.Early == Drop, Logged: x.set.Logged})
		}
	}
	return list
}

// intervals are those of all means: users are resampled.
func (x *experiment) intervals() attack.Intervals {
	return attack.Intervals{Resamples: x.cfg.Eval.Resamples, Level: x.cfg.Eval.Confidence, Seed: x.env.Seed}
}

// floor is a ranker that no attack may lose to.
type floor struct {
	name string
	attack.Ranker
}

// floors count all training pairs, and where the attack is trained on a sample of them
// the sample too.
func (x *experiment) floors() (list []floor, err error) {
	add := func(name, kind string, pairs *slate.Pairs) {
		if err != nil {
			return
		}
		var r attack.Ranker
		if r, err = attack.NewFloor(kind, pairs, x.set.Vocab, x.env.Seed); err == nil {
			list = append(list, floor{name, r})
		}
	}
	for _, kind := range []string{attack.FloorRandom, attack.FloorPopularity, attack.FloorCooccurrence, attack.FloorKindRatio} {
		add(kind, kind, x.whole)
	}
	if x.train.Len() < x.whole.Len() {
		add(attack.FloorCooccurrence+" of the sample", attack.FloorCooccurrence, x.train)
	}
	return list, err
}

// in is a floor in as many lists as the protocol gives the attack.
func (f floor) in(q attack.Protocol, lists int) (attack.Ranker, error) {
	if q.Budget != attack.BudgetList || lists == 1 {
		return f.Ranker, nil
	}
	return attack.Deal(f.Ranker, lists)
}

// measure ranks the test pairs by the trained attack under every protocol, beside the
// floors, and sweeps what the setting asks for.
func (x *experiment) measure(ctx context.Context, m *attack.Model, r *train.Result) (*Outcome, error) {
	o, err := x.evaluate(ctx, m, r)
	if err != nil {
		return nil, x.interrupted(ctx, err)
	}
	floors := o.Protocols[0].Floors
	main := make([]NamedValues, 0, len(floors))
	for _, f := range floors {
		main = append(main, NamedValues{f.Name, f.Values})
	}
	o.Figures, err = x.figures(ctx, m, main)
	return o, x.interrupted(ctx, err)
}

func (x *experiment) evaluate(ctx context.Context, m *attack.Model, r *train.Result) (*Outcome, error) {
	defer x.env.Stage("evaluate")()
	o := &Outcome{
		Method: x.cfg.method(), Setting: x.text, Data: x.summary(), Metrics: x.metrics(), Definitions: map[string]string{}, Protection: x.protected(),
		Selected: len(r.Epochs), Cap: x.cfg.Train.Epochs, Stopped: r.Stopped, Steps: r.Steps, Epochs: r.Epochs,
	}
	if x.cfg.On.Run == "" {
		o.Short = x.cfg.short(len(r.Epochs), r.Stopped)
	}
	if x.cfg.Train.Select == selectValidation && r.Best >= 0 {
		o.Selected = r.Best + 1
	}
	for _, m := range o.Metrics {
		o.Definitions[m.String()] = m.ListsDefinition()
	}
	floors, err := x.floors()
	if err != nil {
		return nil, err
	}
	for i, q := range x.protocols() {
		p, err := x.under(ctx, q, m, floors, i == 0)
		if err != nil {
			return nil, err
		}
		o.Protocols = append(o.Protocols, *p)
		o.Evaluations = append(o.Evaluations, p.Attack)
	}
	o.Floors = slices.Concat(o.Protocols[0].Floors, o.Protocols[0].Equal)
	return o, nil
}

// interrupted says so where an error is one of a context that ended.
func (x *experiment) interrupted(ctx context.Context, err error) error {
	if err == nil || ctx.Err() == nil || run.WasInterrupted(err) {
		return err
	}
	return fmt.Errorf("%w: %w", run.ErrInterrupted, err)
}

// under is one protocol: attack and floors, then each floor with as many distinct guesses
// as the attack made for every pair.
func (x *experiment) under(ctx context.Context, q attack.Protocol, m *attack.Model, floors []floor, main bool) (*ProtocolOutcome, error) {
	p := &ProtocolOutcome{Name: q.String(), Vocabulary: q.Vocabulary, Budget: q.Budget, Gains: []Gain{}, Counts: []Counted{}, FloorGuesses: x.guesses(q, m.Lists())}
	x.env.Progress.Phase(p.Name)
	got, err := attack.Evaluate(ctx, m, x.test, q)
	if err != nil {
		return nil, fmt.Errorf("%s: attack: %w", p.Name, err)
	}
	if p.Attack, err = x.scores(x.cfg.method()+"; "+p.Name, got); err != nil {
		return nil, fmt.Errorf("%s: attack: %w", p.Name, err)
	}
	p.Pairs, p.Left = len(got.Rows), x.test.Len()-len(got.Rows)
	p.Users = len(slices.Compact(slices.Sorted(slices.Values(got.Users))))
	p.Candidates = x.candidates(q, got)
	for _, f := range floors {
		r, err := f.in(q, m.Lists())
		if err != nil {
			return nil, err
		}
		alone, err := attack.Evaluate(ctx, r, x.test, q)
		if err != nil {
			return nil, fmt.Errorf("%s: %s: %w", p.Name, f.name, err)
		}
		s, err := x.scores(f.name, alone)
		if err != nil {
			return nil, fmt.Errorf("%s: %s: %w", p.Name, f.name, err)
		}
		p.Floors = append(p.Floors, s)
		if readsSlates(f.name) {
			c, err := x.counted(ctx, f.name, floors, alone)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", p.Name, err)
			}
			p.Counts = append(p.Counts, c)
		}
		equal, gains, err := x.held(ctx, f, x.test, got)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.Name, err)
		}
		p.Gains = append(p.Gains, gains...)
		if !x.fewer(q, m.Lists()) {
			continue
		}
		if s, err = x.scores(f.name+asMany, equal); err != nil {
			return nil, fmt.Errorf("%s: %s: %w", p.Name, s.Name, err)
		}
		p.Equal = append(p.Equal, s)
	}
	return p, x.perUser(q, got, main)
}

// scores are the means of a result.
func (x *experiment) scores(name string, r *attack.Result) (Scores, error) {
	s := Scores{Name: name, Values: map[string]float64{}, Users: map[string]float64{}, Intervals: map[string][2]float64{}, Guesses: map[string]float64{}}
	all, err := r.Summary(x.intervals())
	if err != nil {
		return s, err
	}
	for _, m := range all.Scores {
		s.Values[m.Metric.String()], s.Users[m.Metric.String()] = m.Pairs.Value, m.Users.Value
		s.Intervals[m.Metric.String()] = [2]float64{m.Pairs.Lo, m.Pairs.Hi}
		s.Guesses[cutoff(m.Metric.K)] = m.Guesses
	}
	return s, nil
}

// candidates is how many items there are to guess for a pair, 0 for all.
func (x *experiment) candidates(q attack.Protocol, r *attack.Result) float64 {
	if q.Vocabulary != attack.VocabularyLogged || len(r.Users) == 0 {
		return 0
	}
	of := map[int32]int{}
	sum := 0
	for _, u := range r.Users {
		if _, ok := of[u]; !ok {
			of[u] = len(slices.Compact(slices.Sorted(slices.Values(x.set.Logged[u]))))
		}
		sum += of[u]
	}
	return float64(sum) / float64(len(r.Users))
}

// perUser keeps each user's mean scores of the attack.
func (x *experiment) perUser(q attack.Protocol, r *attack.Result, main bool) error {
	users := slices.Compact(slices.Sorted(slices.Values(r.Users)))
	at := make(map[int32]int, len(users))
	ids, pairs := make([]string, len(users)), make([]int64, len(users))
	for i, u := range users {
		at[u], ids[i] = i, x.set.Users[u]
	}
	for _, u := range r.Users {
		pairs[at[u]]++
	}
	columns := []run.Column{{Name: "user_id", Values: ids}, {Name: "pairs", Values: pairs}}
	for m, metric := range r.Metrics {
		means := make([]float64, len(users))
		for i, u := range r.Users {
			means[at[u]] += r.Values[m][i]
		}
		for i := range means {
			means[i] /= float64(pairs[i])
		}
		columns = append(columns, run.Column{Name: metric.String(), Values: means})
	}
	name := "scores"
	if !main {
		name += "-" + q.Vocabulary + "-" + budgetFile(q.Budget)
	}
	return x.env.WriteScores(name, columns...)
}

// budgetFile is a budget as part of a file's name.
func budgetFile(b string) string { return strings.ToLower(strings.ReplaceAll(b, "*", "")) }

// mainFloors are the floors of the main protocol, by their names and how many guesses they
// have where the attack may have fewer.
func (x *experiment) mainFloors(ctx context.Context, lists int) (all []NamedValues, err error) {
	floors, err := x.floors()
	if err != nil {
		return nil, err
	}
	q := x.protocols()[0]
	for _, f := range floors {
		r, err := f.in(q, lists)
		if err != nil {
			return nil, err
		}
		got, err := attack.Evaluate(ctx, r, x.test, q)
		if err != nil {
			return nil, err
		}
		all = append(all, NamedValues{f.name + x.guesses(q, lists), means(got)})
	}
	return all, nil
}
