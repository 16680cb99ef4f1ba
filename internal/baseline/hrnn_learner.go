package baseline

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"privrec/internal/autograd"
	"privrec/internal/dataset/registry"
	"privrec/internal/eval"
	"privrec/internal/model/hrnn"
	"privrec/internal/protocol/nextitem"
	"privrec/internal/tensor"
	"privrec/internal/train"
)

// hrnnLearner binds the model to the samples of a part. It implements nextitem.Learner. A training loop takes lessons
// in the order of their schedule. States carry over from one mini-batch to the next, so checkpoints hold them.
type hrnnLearner struct {
	*hrnn.Model
	x     *nextitem.Experiment
	rule  SessionRule
	width int // users side by side
	plan  []hrnn.Lesson

	step   int        // of the last mini-batch, -1 before the first one
	before hrnn.State // that it began with
	after  hrnn.State

	items, targets, learned []int32
	begins                  []hrnn.Begin
}

// learnIn sets an experiment to learn the configuration's model.
func (c HRNNConfig) learnIn(x *nextitem.Experiment) error {
	rule, made, err := c.Data.Sessions.on(x.Data)
	if err != nil {
		return err
	}
	if registry.IsOwn(x.Data.Name) { // published data are in seconds, or their files say how they are divided
		x.Data.Source.Notes = append(slices.Clip(x.Data.Source.Notes), made)
	}
	x.Env.Progress.Phase(made)
	keep := new(hrnnStates)
	x.Extra = keep
	x.New = func(q *nextitem.Part) (nextitem.Learner, error) {
		m, err := hrnn.New(x.Items, c.Model, x.Env.Seed)
		if err != nil {
			return nil, err
		}
		d := c.Model.Dim
		l := &hrnnLearner{Model: m, x: x, rule: rule, width: c.Train.Batch, step: -1,
			before: hrnn.NewState(c.Train.Batch, d), after: hrnn.NewState(c.Train.Batch, d)}
		l.plan = l.schedule(q)
		keep.of = l
		return l, nil
	}
	return nil
}

// timesOf returns the times of a user's rows of a part; nil where the rule needs none.
func (l *hrnnLearner) timesOf(p *nextitem.Part, u int) []int64 {
	switch t := l.x.Data.Times; {
	case t == nil:
		return nil
	case p == l.x.Test:
		return t.Test[u]
	default: // what others than the test part hold of a user begins with training rows
		return t.Train[u]
	}
}

// sequence returns the first rows of a user in a part, divided into sessions.
func (l *hrnnLearner) sequence(p *nextitem.Part, u, rows int) hrnn.Sequence {
	return hrnn.Sequence{Items: p.Sequences[u][:rows], Begins: l.rule.begins(rows, l.timesOf(p, u))}
}

// schedule returns the lessons of a part in their order.
func (l *hrnnLearner) schedule(p *nextitem.Part) []hrnn.Lesson {
	labels := newLessons(p)
	users := make([][]hrnn.Lesson, len(p.Sequences))
	for u, items := range p.Sequences {
		if len(items) == 0 {
			continue
		}
		s := l.sequence(p, u, len(items))
		users[u] = hrnn.Lessons(nil, items, func(place int) bool { return s.Begins[place] }, labels.of(int32(u)))
	}
	return hrnn.Schedule(users, l.width)
}

// Count implements nextitem.Learner.
func (l *hrnnLearner) Count(p *nextitem.Part) int { return len(l.schedule(p)) }

// Lessons implements nextitem.Learner. They are those of the schedule, in its order.
func (l *hrnnLearner) Lessons(nextitem.Pass) (nextitem.Lessons, error) {
	return nextitem.Lessons{Model: l, Samples: len(l.plan), InOrder: true}, nil
}

// Loss implements train.Model. A mini-batch continues from the states of the one before. The same mini-batch may be
// asked for again.
func (l *hrnnLearner) Loss(t *autograd.Tape, b train.Batch) (*autograd.Node, error) {
	if b.Step == l.step+1 {
		l.before, l.after = l.after, l.before
	} else if b.Step != l.step {
		return nil, fmt.Errorf("hrnn: step %d after step %d: its states are lost", b.Step, l.step)
	}
	l.step = b.Step
	l.items, l.begins, l.targets, l.learned = l.items[:0], l.begins[:0], l.targets[:0], l.learned[:0]
	for k, i := range b.Samples {
		e := l.plan[i]
		l.items, l.begins = append(l.items, e.In), append(l.begins, e.Begin)
		if e.Out != 0 {
			l.targets, l.learned = append(l.targets, e.Out), append(l.learned, int32(k))
		}
	}
	session, user := l.Step(t, l.before, l.items, l.begins, uint64(b.Step))
	for k := range l.items {
		copy(tensor.Row(l.after.Session, k), tensor.Row(session.V, k))
		copy(tensor.Row(l.after.User, k), tensor.Row(user.V, k))
	}
	if len(l.learned) == 0 { // all next items are held out
		return session.SumAll().Scale(0), nil
	}
	return l.Model.Loss(t, session.Gather(l.learned), l.targets), nil
}

// hrnnStates saves the states of a learner in checkpoints. It implements train.Extra.
type hrnnStates struct{ of *hrnnLearner }

// matrices lists the matrices of a checkpoint.
func (k *hrnnStates) matrices() []tensor.Matrix {
	return []tensor.Matrix{k.of.after.Session, k.of.after.User}
}

// Save implements train.Extra.
func (k *hrnnStates) Save() ([]byte, error) {
	out := binary.LittleEndian.AppendUint64(nil, uint64(k.of.step))
	for _, m := range k.matrices() {
		for i := range m.Rows {
			for _, v := range tensor.Row(m, i) {
				out = binary.LittleEndian.AppendUint64(out, math.Float64bits(float64(v)))
			}
		}
	}
	return out, nil
}

// Load implements train.Extra.
func (k *hrnnStates) Load(b []byte) error {
	want := 8
	for _, m := range k.matrices() {
		want += 8 * m.Rows * m.Cols
	}
	if len(b) != want {
		return fmt.Errorf("hrnn: states of %d bytes, want %d", len(b), want)
	}
	k.of.step, b = int(int64(binary.LittleEndian.Uint64(b))), b[8:]
	for _, m := range k.matrices() {
		for i := range m.Rows {
			row := tensor.Row(m, i)
			for j := range row {
				row[j], b = tensor.Float(math.Float64frombits(binary.LittleEndian.Uint64(b))), b[8:]
			}
		}
	}
	return nil
}

// Scorer implements nextitem.Learner. Test sessions continue from the states that the user's training sessions left.
func (l *hrnnLearner) Scorer(p *nextitem.Part, _ nextitem.Pass, _ bool) (eval.Scorer, error) {
	s := &hrnnScorer{hrnnLearner: l, part: p}
	if p == l.x.Test {
		s.remember()
	}
	return s, nil
}

// hrnnScorer scores all items after the prefix of each sample of a part.
type hrnnScorer struct {
	*hrnnLearner
	part *nextitem.Part
	past hrnn.Memory // of every user, before the part; no users: nothing is known of any
}

// remember reads the training sequences of all users.
func (s *hrnnScorer) remember() {
	const together = 256
	users := s.x.Data.Users
	s.past = hrnn.NewMemory(users, s.Config.Dim)
	t := autograd.NewTape()
	t.NoGrad = true
	t.SetTraining(false)
	for lo := 0; lo < users; lo += together {
		hi := min(lo+together, users)
		var all []hrnn.Sequence
		for u := lo; u < hi; u++ {
			all = append(all, s.sequence(s.x.Train, u, len(s.x.Train.Sequences[u])))
		}
		mem := hrnn.Memory{
			State: hrnn.State{Session: tensor.RowsView(s.past.Session, lo, hi),
				User: tensor.RowsView(s.past.User, lo, hi)},
			Known: s.past.Known[lo:hi],
		}
		s.Read(t, mem, all, func(int, []int32, tensor.Matrix) {})
	}
}

// Score implements eval.Scorer. It reads every user of the samples once.
func (s *hrnnScorer) Score(t *autograd.Tape, samples []int32, scores tensor.Matrix) error {
	var users []int32
	at := map[int32]int{}          // a user's place in users
	var wanted []map[int32][]int32 // by it: rows of scores, by the place of the last item read
	for k, i := range samples {
		u, last := s.part.Samples.User[i], s.part.Samples.Length[i]-1
		if _, ok := at[u]; !ok {
			at[u] = len(users)
			users, wanted = append(users, u), append(wanted, map[int32][]int32{})
		}
		w := wanted[at[u]]
		w[last] = append(w[last], int32(k))
	}
	mem := hrnn.NewMemory(len(users), s.Config.Dim)
	var all []hrnn.Sequence
	for k, u := range users {
		rows := int32(0)
		for last := range wanted[k] {
			rows = max(rows, last+1)
		}
		all = append(all, s.sequence(s.part, int(u), int(rows)))
		if s.past.Known != nil {
			mem.Known[k] = s.past.Known[u]
			copy(tensor.Row(mem.Session, k), tensor.Row(s.past.Session, int(u)))
			copy(tensor.Row(mem.User, k), tensor.Row(s.past.User, int(u)))
		}
	}
	states := tensor.New(len(samples), s.Config.Dim)
	s.Read(t, mem, all, func(place int, read []int32, h tensor.Matrix) {
		for k, u := range read {
			for _, row := range wanted[u][int32(place)] {
				copy(tensor.Row(states, int(row)), tensor.Row(h, k))
			}
		}
	})
	s.ScoreAll(states, scores)
	return nil
}
