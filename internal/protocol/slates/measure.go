package slates

import (
	"context"
	"fmt"
	"slices"
	"strings"

	attack "privrec/internal/attack/exposure"
	"privrec/internal/config"
	"privrec/internal/dataset/slate"
	"privrec/internal/experiment"
	"privrec/internal/metrics"
	"privrec/internal/run"
)

// FirstItem is the first token of an item; lower tokens stand for no item.
const FirstItem = int(slate.FirstItem)

// Metrics returns the paper's metrics at the configured cutoffs.
func (b *Bench) Metrics() []metrics.Metric {
	return metrics.Grid([]metrics.Kind{metrics.Recall, metrics.NDCG, metrics.MRR}, b.Eval.K)
}

// Names returns the names of the metrics.
func (b *Bench) Names() (names []string) {
	for _, m := range b.Metrics() {
		names = append(names, m.String())
	}
	return names
}

// Protocols lists every set of candidates with every budget of guesses, the main protocol first.
func (b *Bench) Protocols() (list []attack.Protocol) {
	e := b.Eval
	for _, v := range e.Vocabulary {
		for _, budget := range e.Budget {
			list = append(list, attack.Protocol{Vocabulary: v, Budget: budget, Cutoffs: e.K,
				DistinctTargets: b.DropsRepeated, DropEnded: e.Early == Drop, Logged: b.Set.Logged})
		}
	}
	return list
}

// intervals returns the settings for the intervals of all means: users are resampled.
func (b *Bench) intervals() attack.Intervals {
	return attack.Intervals{Resamples: b.Eval.Resamples, Level: b.Eval.Confidence, Seed: b.Env.Seed}
}

// Floor is a ranker without a trained model, to compare attacks with.
type Floor struct {
	name string
	attack.Ranker
}

// Floors returns the floors. They count all training pairs, and if the attack is trained on a sample of them, also the
// pairs of the sample.
func (b *Bench) Floors() (list []Floor, err error) {
	add := func(name, kind string, pairs *slate.Pairs) {
		if err != nil {
			return
		}
		var r attack.Ranker
		if r, err = attack.NewFloor(kind, pairs, b.Set.Vocab, b.Env.Seed); err == nil {
			list = append(list, Floor{name, r})
		}
	}
	for _, kind := range []string{attack.FloorRandom, attack.FloorPopularity, attack.FloorCooccurrence,
		attack.FloorKindRatio} {
		add(kind, kind, b.Whole)
	}
	if b.Train.Len() < b.Whole.Len() {
		add(attack.FloorCooccurrence+" of the sample", attack.FloorCooccurrence, b.Train)
	}
	return list, err
}

// in returns a floor with as many lists as the protocol gives the attack.
func (f Floor) in(q attack.Protocol, lists int) (attack.Ranker, error) {
	if q.Budget != attack.BudgetList || lists == 1 {
		return f.Ranker, nil
	}
	return attack.Deal(f.Ranker, lists)
}

// Attack ranks the test pairs by an attack, and returns its results under every protocol, in the order of Protocols.
func (b *Bench) Attack(ctx context.Context, m *attack.Model) ([]*attack.Result, error) {
	return attack.EvaluateAll(ctx, m, b.Test, b.Protocols())
}

// Under compares an attack of so many lists under one protocol, where got is its result: with the floors, then with
// each floor with as many distinct guesses for every pair as the attack made.
func (b *Bench) Under(ctx context.Context, q attack.Protocol, got *attack.Result, lists int, floors []Floor,
	main bool) (*Outcome, error) {
	p := &Outcome{Name: q.String(), Vocabulary: q.Vocabulary, Budget: q.Budget, Gains: []Gain{}, Counts: []Counted{},
		FloorGuesses: b.Guesses(q, lists)}
	b.Env.Progress.Phase(p.Name)
	var err error
	if p.Attack, err = b.scores(b.Method+"; "+p.Name, got); err != nil {
		return nil, fmt.Errorf("%s: attack: %w", p.Name, err)
	}
	p.Pairs, p.Left = len(got.Rows), b.Test.Len()-len(got.Rows)
	p.Users = len(slices.Compact(slices.Sorted(slices.Values(got.Users))))
	p.Candidates = b.candidates(q, got)
	for _, f := range floors {
		r, err := f.in(q, lists)
		if err != nil {
			return nil, err
		}
		alone, err := attack.Evaluate(ctx, r, b.Test, q)
		if err != nil {
			return nil, fmt.Errorf("%s: %s: %w", p.Name, f.name, err)
		}
		s, err := b.scores(f.name, alone)
		if err != nil {
			return nil, fmt.Errorf("%s: %s: %w", p.Name, f.name, err)
		}
		p.Floors = append(p.Floors, s)
		if readsSlates(f.name) {
			c, err := b.counted(ctx, f.name, floors, alone)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", p.Name, err)
			}
			p.Counts = append(p.Counts, c)
		}
		equal, gains, err := b.held(ctx, f, b.Test, got)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.Name, err)
		}
		p.Gains = append(p.Gains, gains...)
		if !b.Fewer(q, lists) {
			continue
		}
		if s, err = b.scores(f.name+AsMany, equal); err != nil {
			return nil, fmt.Errorf("%s: %s: %w", p.Name, s.Name, err)
		}
		p.Equal = append(p.Equal, s)
	}
	return p, b.perUser(q, got, main)
}

// scores returns the means of a result as a row.
func (b *Bench) scores(name string, r *attack.Result) (experiment.Scores, error) {
	s := experiment.Scores{Name: name, Values: map[string]float64{}, Users: map[string]float64{},
		Intervals: map[string][2]float64{}, Guesses: map[string]float64{}}
	all, err := r.Summary(b.intervals())
	if err != nil {
		return s, err
	}
	for _, m := range all.Scores {
		s.Values[m.Metric.String()], s.Users[m.Metric.String()] = m.Pairs.Value, m.Users.Value
		s.Intervals[m.Metric.String()] = [2]float64{m.Pairs.Lo, m.Pairs.Hi}
		s.Guesses[Cutoff(m.Metric.K)] = m.Guesses
	}
	return s, nil
}

// candidates returns the mean number of candidates for a pair, 0 if all items are candidates.
func (b *Bench) candidates(q attack.Protocol, r *attack.Result) float64 {
	if q.Vocabulary != attack.VocabularyLogged || len(r.Users) == 0 {
		return 0
	}
	of := map[int32]int{}
	sum := 0
	for _, u := range r.Users {
		if _, ok := of[u]; !ok {
			of[u] = len(slices.Compact(slices.Sorted(slices.Values(b.Set.Logged[u]))))
		}
		sum += of[u]
	}
	return float64(sum) / float64(len(r.Users))
}

// perUser writes each user's mean scores of the attack.
func (b *Bench) perUser(q attack.Protocol, r *attack.Result, main bool) error {
	users := slices.Compact(slices.Sorted(slices.Values(r.Users)))
	at := make(map[int32]int, len(users))
	ids, pairs := make([]string, len(users)), make([]int64, len(users))
	for i, u := range users {
		at[u], ids[i] = i, b.Set.Users[u]
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
	return b.Env.WriteScores(name, columns...)
}

// budgetFile returns a budget as part of a file's name.
func budgetFile(b string) string { return strings.ToLower(strings.ReplaceAll(b, "*", "")) }

// MainFloors returns the means of the floors under the main protocol. Their names say how many guesses they have if the
// attack may have fewer.
func (b *Bench) MainFloors(ctx context.Context, lists int) (all []NamedValues, err error) {
	floors, err := b.Floors()
	if err != nil {
		return nil, err
	}
	q := b.Protocols()[0]
	for _, f := range floors {
		r, err := f.in(q, lists)
		if err != nil {
			return nil, err
		}
		got, err := attack.Evaluate(ctx, r, b.Test, q)
		if err != nil {
			return nil, err
		}
		all = append(all, NamedValues{f.name + b.Guesses(q, lists), Means(got)})
	}
	return all, nil
}

// Eval sets how guesses are ranked and counted (section 3).
type Eval struct {
	K []int `yaml:"k"`
	// candidates: full (all items), logged (a user's own log, which holds the answers); the first is the main one
	Vocabulary []string `yaml:"vocabulary" limit:"some of full|logged"`
	// guesses for each pair: k*L, k, or list (k in every list); the first is the main one
	Budget []string `yaml:"budget" limit:"some of k*L|k|list"`
	// Repeated says what happens to a pair with the same click twice: keep, or drop under the sequence-wise decoders.
	// The point-wise decoder always keeps it.
	Repeated string `yaml:"repeated" limit:"keep|drop"`
	// Early says what happens to a pair whose decoder ended before L steps: keep leaves the missing lists empty, drop
	// leaves out the pair.
	Early      string  `yaml:"early" limit:"keep|drop"`
	Confidence float64 `yaml:"confidence" limit:"(0,1)"`       // level of the intervals over users
	Resamples  int     `yaml:"resamples" limit:"100..1000000"` // number of resamples of users for the intervals
	// Sample is the chance that a user of the validation or test pairs is measured, with all of their pairs. 0, or
	// left out: all are measured.
	Sample float64 `yaml:"sample,omitempty" limit:"[0,1)"`
}

// Values of the choices above.
const (
	Keep = "keep"
	Drop = "drop"
)

// Check reports settings that cannot be measured.
func (e Eval) Check(v *config.Checker) {
	v.Check(len(e.K) > 0, "eval.k", "must name at least one cutoff")
	for i, k := range e.K {
		v.Between("eval.k", k, 1, 1000)
		v.Check(i == 0 || k > e.K[i-1], "eval.k", "must ascend, %d follows %d", k, e.K[max(0, i-1)])
	}
}

// Name is the protocol in results.
const Name = "slates"

// Bench holds the pairs of slates and clicks to measure attackers on, and how guesses are counted. A copy may have
// other pairs.
type Bench struct {
	Env    *run.Env
	Method string // names the attack in results
	Set    *slate.Set
	Eval   Eval

	Train, Valid, Test *slate.Pairs // what the attack sees of them
	Whole              *slate.Pairs // all training pairs, what the floors count

	DropsRepeated bool // pairs with a click that comes twice leave the averages
	StopAtEnd     bool // lists may end early
}
