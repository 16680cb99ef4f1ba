package baseline

import (
	"fmt"

	"privrec/internal/autograd"
	"privrec/internal/config"
	"privrec/internal/eval"
	"privrec/internal/model/gru4rec"
	"privrec/internal/protocol/nextitem"
	"privrec/internal/tensor"
	"privrec/internal/train"
)

// deepGRU4Rec is GRU4Rec under leave-one-out, at the setting that RecBole's benchmark found on
// MovieLens 1M. The batch counts windows, about 4,096 labels. The stride is ours: RecBole has 1,
// which costs 7 times as much for states that begin up to 9 items earlier.
func deepGRU4Rec() lastItemMethod[gru4rec.Config] {
	return lastItemMethod[gru4rec.Config]{
		profile: "recbole",
		config: func() SessionConfig[gru4rec.Config] {
			return SessionConfig[gru4rec.Config]{
				Profile: "recbole", Protocol: ProtocolLeaveOneOut,
				Data:  nextitem.Data{Name: "ml-1m", Recipe: "recbole", Candidates: nextitem.CandidatesTrain},
				Model: gru4rec.Config{Dim: 64, Hidden: 128, Layers: 2, Dropout: 0.3, Length: 50},
				Train: nextitem.Training{
					Epochs: 500, Batch: 300, Rate: 0.005, DecayBy: 1, DecayEvery: 1, Patience: 10,
					Select: nextitem.SelectValidation, ValidationSplit: nextitem.SplitSample, Stride: 10,
				},
				Eval: nextitem.Ranking{K: []int{5, 10, 20}},
			}
		},
		check: func(v *config.Checker, c SessionConfig[gru4rec.Config]) {
			m := c.Model
			v.Between("model.hidden", m.Hidden, 1, 4096)
			v.Between("model.layers", m.Layers, 1, 100)
			v.Below("model.dropout", m.Dropout, 0, 1)
			v.Between("model.length", m.Length, 1, 10_000)
			v.Between("train.stride", c.Train.Stride, 1, max(1, m.Length))
		},
		learn: func(x *nextitem.Experiment,
			c SessionConfig[gru4rec.Config]) func(q *nextitem.Part) (nextitem.Learner, error) {
			return func(q *nextitem.Part) (nextitem.Learner, error) {
				m, err := gru4rec.NewDeep(x.Items, c.Model, x.Env.Seed)
				if err != nil {
					return nil, err
				}
				return &deepLearner{Deep: m, part: q, stride: c.Train.Stride,
					windows: windows(q.Sequences, c.Model.Length, c.Train.Stride)}, nil
			}
		},
		printed: map[string]float64{"HR@10": 0.2776, "NDCG@10": 0.1545, "MRR@10": 0.1171},
	}
}

// shallow reports keys of the deep model that the session model does not have.
func shallow(v *config.Checker, m gru4rec.Config) {
	for key, set := range map[string]bool{
		"model.hidden": m.Hidden != 0, "model.layers": m.Layers != 0, "model.dropout": m.Dropout != 0,
		"model.length": m.Length != 0,
	} {
		v.Check(!set, key, "belongs to protocol %s, must be left out", ProtocolLeaveOneOut)
	}
}

// deepLearner binds the model to the windows of a part. It implements nextitem.Learner.
type deepLearner struct {
	*gru4rec.Deep
	part    *nextitem.Part
	stride  int
	windows []window

	batch gru4rec.Batch
}

// Count implements nextitem.Learner.
func (l *deepLearner) Count(p *nextitem.Part) int {
	return len(windows(p.Sequences, l.Config.Length, l.stride))
}

// Lessons implements nextitem.Learner. They are the windows.
func (l *deepLearner) Lessons(nextitem.Pass) (nextitem.Lessons, error) {
	return nextitem.Lessons{Model: l, Samples: len(l.windows)}, nil
}

// Loss implements train.Model.
func (l *deepLearner) Loss(t *autograd.Tape, b train.Batch) (*autograd.Node, error) {
	l.batch.Reset()
	for _, i := range b.Samples {
		w := l.windows[i]
		if err := l.batch.AddPairs(l.part.Sequences[w.user][w.start:w.end], int(w.first-w.start)); err != nil {
			return nil, err
		}
	}
	return l.CrossEntropy(t, &l.batch, b.Step), nil
}

// Scorer implements nextitem.Learner.
func (l *deepLearner) Scorer(p *nextitem.Part, _ nextitem.Pass, _ bool) (eval.Scorer, error) {
	return &deepScorer{model: l.Deep, part: p}, nil
}

// deepScorer scores all items after the prefix of each sample of a part.
type deepScorer struct {
	model *gru4rec.Deep
	part  *nextitem.Part
	batch gru4rec.Batch
}

// Items implements eval.Scorer.
func (s *deepScorer) Items() int { return s.model.Items() }

// Score implements eval.Scorer.
func (s *deepScorer) Score(t *autograd.Tape, samples []int32, scores tensor.Matrix) error {
	s.batch.Reset()
	for _, i := range samples {
		prefix := s.part.Prefix(i)
		if err := s.batch.Add(prefix[max(0, len(prefix)-s.model.Config.Length):]); err != nil {
			return fmt.Errorf("sample %d: %w", i, err)
		}
	}
	s.model.Score(t, &s.batch, scores)
	return nil
}
