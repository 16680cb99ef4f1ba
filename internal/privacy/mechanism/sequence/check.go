package sequence

import "privrec/internal/privacy/mechanism"

// watch holds what a sampler counted of its own draws.
type watch struct {
	rows   int64
	cells  []int64 // by the number of ids written before
	kept   int64
	moved  int64   // replaced
	drift  float64 // sum of the ids written in place of others, minus their expected values
	all    int64   // sum of the universe
	sum    int64   // sum of what may still be drawn
	invers []float64
}

func newWatch(size int, table []mechanism.Odds) watch {
	all := int64(size) * int64(size-1) / 2
	w := watch{cells: make([]int64, len(table)), invers: make([]float64, len(table)), all: all, sum: all}
	for k, o := range table {
		w.invers[k] = 1 / float64(max(o.Others, 1))
	}
	return w
}

// see counts the id that came into a cell that held cur.
func (w *watch) see(k int, o *mechanism.Odds, cur, id int32) {
	w.cells[k]++
	if id == cur {
		w.kept++
		return
	}
	w.moved++
	w.drift += float64(id) - float64(w.sum-int64(cur))*w.invers[k]
}

func (w *watch) add(o *watch) {
	w.rows += o.rows
	w.kept += o.kept
	w.moved += o.moved
	w.drift += o.drift
	for k, n := range o.cells {
		w.cells[k] += n
	}
}

// check compares the counts with what each draw should have been given those before it.
// Variances are bounded without looking at a row: cell c is reached with at most c ids written.
func (w *watch) check(m Mechanism, size int, table []mechanism.Odds) error {
	kept := mechanism.Drift{What: "number of cells kept, about its mean,", B: 1, Sum: float64(w.kept)}
	moved := mechanism.Drift{What: "sum of replaced ids about their mean", B: float64(size), Sum: w.drift, N: w.moved}
	for k, n := range w.cells {
		kept.N += n
		p := table[k].P
		if table[k].Others == 0 {
			p = 1
		}
		kept.Sum -= float64(n) * p
	}
	keptMost, movedMost := 0.0, 0.0 // over the ids written so far
	for c := range m.Length {
		if c < len(table) && table[c].Others > 0 {
			p, r := table[c].P, m.Replace(c)
			keptMost, movedMost = max(keptMost, p*r), max(movedMost, r)
		}
		kept.V += float64(w.rows) * keptMost
		moved.V += float64(w.rows) * movedMost * float64(size) * float64(size) / 4
	}
	return mechanism.CheckAll(m.Purpose, m.Share, &kept, &moved)
}
