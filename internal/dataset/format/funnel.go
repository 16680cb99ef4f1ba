package format

import (
	"strconv"

	"privrec/internal/dataset"
)

// Funnel counts rows that a reader drops while reading. So a log of billions of bytes needs memory only for the rows
// that are kept, and its ladder still begins at the raw file.
type Funnel struct {
	stages []stage
}

// stage counts the rows that passed one test and all tests before it.
type stage struct {
	name         string
	rows         int
	users, items marks
}

// marks records for each number of an id whether it occurred.
type marks []bool

func (m *marks) set(i int32) {
	for int(i) >= len(*m) {
		*m = append(*m, false)
	}
	(*m)[i] = true
}

func (m marks) count() int {
	n := 0
	for _, set := range m {
		if set {
			n++
		}
	}
	return n
}

// NewFunnel returns a funnel with the named stages. The first is the raw file.
func NewFunnel(names ...string) *Funnel {
	f := &Funnel{}
	for _, n := range names {
		f.stages = append(f.stages, stage{name: n})
	}
	return f
}

// Count counts a row that passed the first n stages.
func (f *Funnel) Count(n int, user, item int32) {
	for i := range f.stages[:n] {
		s := &f.stages[i]
		s.rows++
		s.users.set(user)
		s.items.set(item)
	}
}

// Ladder returns a ladder with one rung per stage.
func (f *Funnel) Ladder() dataset.Ladder {
	var out dataset.Ladder
	for _, s := range f.stages {
		out = append(out, dataset.Rung{Name: s.name, Users: s.users.count(), Items: s.items.count(), Rows: s.rows})
	}
	return out
}

// FinishFunnel returns the log of Finish for a reader that drops rows: the log starts with the funnel's ladder. It
// fails if no row of the file passes, and names the stage that dropped the last ones.
func (in *Input) FinishFunnel(b *dataset.Builder, f *Funnel) (*dataset.Log, error) {
	if len(b.UserOf) == 0 && f.stages[0].rows > 0 {
		return nil, f.empty(in.file)
	}
	l, err := in.Finish(b)
	if err != nil {
		return nil, err
	}
	l.Ladder = f.Ladder()
	return l, nil
}

// empty returns an error that names the stage that no row passed.
func (f *Funnel) empty(file string) error {
	for i, s := range f.stages {
		if s.rows == 0 {
			return &dataset.Error{File: file, Msg: "no rows left after step " + dataset.Quote([]byte(s.name)) + " (" +
				strconv.Itoa(f.stages[i-1].rows) + " rows before it)",
				Hint: "is this the whole file, and the one the recipe is for?"}
		}
	}
	return nil
}
