package dataset

// funnel counts rows that a reader sees and drops while it reads, so that a log of
// billions of bytes needs memory only for the rows that are kept, and the ladder
// still begins at the raw file.
type funnel struct {
	stages []stage
}

// stage is what passed one test and all before it.
type stage struct {
	name         string
	rows         int
	users, items marks
}

// marks says which ids occurred.
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

// newFunnel names the stages, the first of which is the raw file.
func newFunnel(names ...string) *funnel {
	f := &funnel{}
	for _, n := range names {
		f.stages = append(f.stages, stage{name: n})
	}
	return f
}

// count notes a row that passed the first n stages.
func (f *funnel) count(n int, user, item int32) {
	for i := range f.stages[:n] {
		s := &f.stages[i]
		s.rows++
		s.users.set(user)
		s.items.set(item)
	}
}

// ladder has one rung a stage.
func (f *funnel) ladder() Ladder {
	var out Ladder
	for _, s := range f.stages {
		out = append(out, Rung{Name: s.name, Users: s.users.count(), Items: s.items.count(), Rows: s.rows})
	}
	return out
}

// finishFunnel is finish for a reader that drops rows: the log starts with the
// funnel's ladder. A file none of whose rows passes is an error that says at which
// stage the last ones went.
func (in *input) finishFunnel(b *logBuilder, f *funnel) (*Log, error) {
	if len(b.userOf) == 0 && f.stages[0].rows > 0 {
		return nil, f.empty(in.file)
	}
	l, err := in.finish(b)
	if err != nil {
		return nil, err
	}
	l.Ladder = f.ladder()
	return l, nil
}

// empty says which stage let nothing through.
func (f *funnel) empty(file string) error {
	for i, s := range f.stages {
		if s.rows == 0 {
			return &Error{File: file, Msg: "no rows left after step " + Quote([]byte(s.name)) + " (" + itoa(f.stages[i-1].rows) + " rows before it)",
				Hint: "is this the whole file, and the one the recipe is for?"}
		}
	}
	return nil
}
