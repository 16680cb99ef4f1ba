package baseline

import (
	"fmt"

	"privrec/internal/autograd"
	"privrec/internal/dataset"
	"privrec/internal/eval"
	"privrec/internal/model/sasrec"
	"privrec/internal/protocol/nextitem"
	"privrec/internal/run"
	"privrec/internal/tensor"
	"privrec/internal/train"
)

// sasrecLearner binds the model to the samples of a part. It implements nextitem.Learner. A training loop takes users,
// each with the labels of the part in their sequence, or windows of their sequences.
type sasrecLearner struct {
	*sasrec.Model
	part      *nextitem.Part
	lessons   lessons
	negatives *sasrec.Negatives // of the sampled loss; nil: another loss
	windows   []window          // where a training loop takes these and not users; else nil
	stride    int               // of windows

	batch sasrec.Batch
	draws []int32
}

// learnIn sets an experiment to learn the configuration's model.
func (c SASRecConfig) learnIn(x *nextitem.Experiment) {
	x.New = func(q *nextitem.Part) (nextitem.Learner, error) {
		m, err := sasrec.New(x.Items, c.Model, x.Env.Seed)
		if err != nil {
			return nil, err
		}
		l := &sasrecLearner{Model: m, part: q, lessons: newLessons(q), stride: c.Train.Stride}
		if l.stride > 0 {
			l.windows = windows(q.Sequences, c.Model.Length, l.stride)
		}
		if c.Train.Loss == LossSampled {
			// Items that are held out are not negatives either.
			if l.negatives, err = sasrec.NewNegatives(x.Data.Train, x.Items, x.Env.Seed); err != nil {
				return nil, &run.UsageError{Message: err.Error(), Fix: "train.loss=" + LossAll}
			}
		}
		return l, nil
	}
}

// Count implements nextitem.Learner.
func (l *sasrecLearner) Count(p *nextitem.Part) int {
	if l.stride > 0 {
		return len(windows(p.Sequences, l.Config.Length, l.stride))
	}
	return len(newLessons(p).users(p.Sequences, l.Config.Length))
}

// Lessons implements nextitem.Learner. They are the users with a label to learn, or windows.
func (l *sasrecLearner) Lessons(nextitem.Pass) (nextitem.Lessons, error) {
	if l.stride > 0 {
		return nextitem.Lessons{Model: l, Samples: len(l.windows)}, nil
	}
	return nextitem.Lessons{Model: l, List: l.lessons.users(l.part.Sequences, l.Config.Length)}, nil
}

// Loss implements train.Model.
func (l *sasrecLearner) Loss(t *autograd.Tape, b train.Batch) (*autograd.Node, error) {
	l.batch.Reset(l.Config.Length)
	l.draws = l.draws[:0]
	for _, u := range b.Samples {
		if l.stride > 0 {
			w := l.windows[u]
			learn := func(place int) bool { return place >= int(w.first) }
			if err := l.batch.AddSome(l.part.Sequences[w.user][:w.end], learn); err != nil {
				return nil, err
			}
			continue
		}
		before := len(l.batch.Targets)
		if err := l.batch.AddSome(l.part.Sequences[u], l.lessons.of(u)); err != nil {
			return nil, err
		}
		if l.negatives != nil {
			l.draws = l.negatives.Draw(l.draws, b.Step, u, len(l.batch.Targets)-before)
		}
	}
	if l.negatives != nil {
		return l.Sampled(t, &l.batch, l.draws, b.Step), nil
	}
	return l.CrossEntropy(t, &l.batch, b.Step), nil
}

// Scorer implements nextitem.Learner.
func (l *sasrecLearner) Scorer(p *nextitem.Part, _ nextitem.Pass, _ bool) (eval.Scorer, error) {
	return &sasrecScorer{model: l.Model, part: p}, nil
}

// lessons holds the labels of a part, by the user's sequence and the place in it.
type lessons struct {
	start []int  // of users, in held
	held  []bool // the item at a place is the label of no sample; nil: each but the first is one
}

func newLessons(p *nextitem.Part) lessons {
	var l lessons
	if p.Samples.Len() == dataset.Prefixes(p.Sequences).Len() {
		return l
	}
	n := 0
	for _, s := range p.Sequences {
		l.start = append(l.start, n)
		n += len(s)
	}
	l.held = make([]bool, n)
	for i := range l.held {
		l.held[i] = true
	}
	for i, u := range p.Samples.User {
		l.held[l.start[u]+int(p.Samples.Length[i])] = false
	}
	return l
}

// of returns a function that reports which places of a user's sequence are learned; nil: all but the first.
func (l lessons) of(u int32) func(place int) bool {
	if l.held == nil {
		return nil
	}
	return func(place int) bool { return !l.held[l.start[u]+place] }
}

// users lists the users with a label to learn among their latest length items.
func (l lessons) users(sequences [][]int32, length int) []int32 {
	users := []int32{}
	for u, s := range sequences {
		learn := l.of(int32(u))
		for place := max(1, len(s)-length); place < len(s); place++ {
			if learn == nil || learn(place) {
				users = append(users, int32(u))
				break
			}
		}
	}
	return users
}

// sasrecScorer scores all items after the prefix of each sample of a part.
type sasrecScorer struct {
	model *sasrec.Model
	part  *nextitem.Part
	batch sasrec.Batch
}

// Items implements eval.Scorer.
func (s *sasrecScorer) Items() int { return s.model.Items() }

// Score implements eval.Scorer.
func (s *sasrecScorer) Score(t *autograd.Tape, samples []int32, scores tensor.Matrix) error {
	s.batch.Reset(s.model.Config.Length)
	for _, i := range samples {
		if err := s.batch.Add(s.part.Prefix(i)); err != nil {
			return fmt.Errorf("sample %d: %w", i, err)
		}
	}
	s.model.Score(t, &s.batch, scores)
	return nil
}
