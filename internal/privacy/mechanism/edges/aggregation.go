package edges

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"sync"

	"privrec/internal/privacy"
	"privrec/internal/privacy/mechanism"
	"privrec/internal/privacy/mechanism/channel"
	"privrec/internal/rng"
)

// Weights names the weights of the vectors of a row's neighbours. With degrees d of rows and e
// of columns of the given matrix, and k = Clamp, a vector's weight is:
type Weights string

const (
	SumWeights   Weights = "sum"   // 1
	RightWeights Weights = "right" // 1/sqrt(max(e, k)): damps popular columns and needs no degree of the row
	BothWeights  Weights = "both"  // 1/sqrt(max(d, k) max(e, k)): LightGCN's, at k = 1
)

// Aggregation is aggregate-and-perturb on a graph (Sajadmanesh, Shamsabadi, Bellet,
// Gatica-Perez, "GAP", USENIX Security 2023, section 4; equations 6 to 9 of the RDP-GCF paper;
// equations 6 and 7 of the DIPSGNN paper). It scales rows of embeddings to norm Norm, adds
// those of every node's neighbours, and adds N(0, Sigma²) to every value of the sums. It is a
// description; OpenAggregation opens it.
//
// Sensitivity derives the l2 distance between neighbours' sums from the fields:
//
//   - Unit Edge or Interaction: a one more or less in one cell of the matrix. The
//     embeddings must not depend on it.
//   - Unit User: one node, with its vector in at most Columns rows and, if other users
//     see its own row, at most Own ones in that row. Aggregate fails on a matrix with
//     more in a row or column: see BoundColumns.
type Aggregation struct {
	Purpose    string
	Sigma      float64 // standard deviation of the noise of a value
	Norm       float64 // C: norm that every row of embeddings is scaled to
	Weights    Weights // empty is SumWeights
	Clamp      int     // k, at least 1; for RightWeights and BothWeights
	Undirected bool    // an edge is two cells, (i, j) and (j, i)

	Unit         privacy.Unit
	Neighbouring privacy.Neighbouring // AddRemove, ZeroOut, or Replace, which doubles
	Columns      int                  // Unit User: most ones in a column; 0 if units are only rows
	Own          int                  // Unit User: most ones in a row; 0 if only the unit itself sees its own row
	Share        mechanism.Share
}

// Sensitivity returns the largest Euclidean distance between the sums of neighbouring graphs,
// rounded up. It fails where no bound is known. In units of Norm, for an edge (x, y) of degrees
// a and b:
//
//	sum:   1: row x changes by the vector of y.
//	right: 1/sqrt(k): row x changes by max(b, k)^(-1/2), and if b > k the b-1 other
//	       rows of column y by c = (b-1)^(-1/2) - b^(-1/2) each, squares adding up to
//	       less than 1/k.
//	both:  1/sqrt(k(k+1)) + 1 - sqrt(k/(k+1)), attained at a = k+1, b = k: row x loses
//	       the vector of y and all its others grow; k = 1 gives 1.
//
// An undirected edge is two cells, of different rows: sqrt(2) for sum. With the other weights,
// rows that have both ends as neighbours change twice, and no bound is given here.
//
// For a user with D = Columns and R = Own, D rows change by 1 each and the user's own row by at
// most R: sqrt(D + R²). The degrees of other nodes change with a user, so only SumWeights has a
// bound.
func (m Aggregation) Sensitivity() (float64, error) {
	k := float64(m.Clamp)
	var d float64
	switch {
	case m.Unit == privacy.User && m.weights() == SumWeights:
		d = math.Hypot(math.Sqrt(float64(m.Columns)), float64(m.Own))
	case m.Unit == privacy.User:
		return 0, fmt.Errorf("%s: no bound is known for weights %q and a whole node: its degrees are in the weights of others", m.Purpose, string(m.weights()))
	case m.weights() == SumWeights:
		d = 1
		if m.Undirected {
			d = math.Sqrt2
		}
	case m.Undirected:
		return 0, fmt.Errorf("%s: no bound is known for weights %q and an undirected edge", m.Purpose, string(m.Weights))
	case m.weights() == RightWeights:
		d = 1 / math.Sqrt(k)
	default:
		d = 1/math.Sqrt(k*(k+1)) + 1/(k+1)/(1+math.Sqrt(k/(k+1))) // the second is 1 - sqrt(k/(k+1))
	}
	if m.Neighbouring == privacy.Replace {
		d *= 2 // one out and one in, perhaps in the same rows
	}
	return d * m.Norm * (1 + 0x1p-50), nil
}

func (m Aggregation) weights() Weights {
	if m.Weights == "" {
		return SumWeights
	}
	return m.Weights
}

// Event returns one release as an accountant sees it.
func (m Aggregation) Event() (privacy.Gaussian, error) {
	if err := m.validate(); err != nil {
		return privacy.Gaussian{}, err
	}
	d, err := m.Sensitivity()
	return privacy.Gaussian{Sigma: m.Sigma, Sensitivity: d, Unit: m.Unit, Neighbouring: m.Neighbouring}, err
}

func (m Aggregation) validate() error {
	var err error
	switch w := m.weights(); {
	case m.Purpose == "":
		return errors.New("aggregation: no purpose")
	case !(m.Norm > 0) || math.IsInf(m.Norm, 1):
		err = fmt.Errorf("norm is %v, want positive and finite", m.Norm)
	case w != SumWeights && w != RightWeights && w != BothWeights:
		err = fmt.Errorf("unknown weights %q", string(w))
	case w == SumWeights && m.Clamp != 0 || w != SumWeights && (m.Clamp < 1 || m.Clamp > math.MaxInt32):
		err = fmt.Errorf("clamp is %d, want at least 1 for weights with degrees, and 0 for others", m.Clamp)
	case m.Unit != privacy.User && (m.Columns != 0 || m.Own != 0):
		err = fmt.Errorf("columns is %d and own %d, which bound a user; the unit is %q", m.Columns, m.Own, string(m.Unit))
	case m.Unit == privacy.User && (m.Columns < 0 || m.Own < 0 || m.Columns+m.Own == 0):
		err = fmt.Errorf("columns is %d and own %d, want at least 0, and one of them above 0", m.Columns, m.Own)
	case m.Unit != privacy.User && m.Unit != privacy.Edge && m.Unit != privacy.Interaction:
		err = fmt.Errorf("unit is %q, want %q, %q or %q", string(m.Unit), privacy.Edge, privacy.Interaction, privacy.User)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", m.Purpose, err)
	}
	return nil
}

// Aggregator is an aggregation in one run.
type Aggregator[T mechanism.Float] struct {
	m     Aggregation
	noise *channel.Channel[T]
	scale func(dst, row []T, norm float64) error
}

// OpenAggregation opens an aggregation. It draws noise from stream s and records in ledger l.
func OpenAggregation[T mechanism.Float](m Aggregation, l *privacy.Ledger, s rng.Stream) (*Aggregator[T], error) {
	e, err := m.Event()
	if err != nil {
		return nil, err
	}
	c, err := channel.Open[T](channel.Gaussian{Purpose: m.Purpose, Sigma: e.Sigma, Sensitivity: e.Sensitivity, Unit: e.Unit, Neighbouring: e.Neighbouring, Share: m.Share}, l, s)
	if err != nil {
		return nil, err
	}
	return &Aggregator[T]{m: m, noise: c, scale: channel.ScaleRow[T]}, nil
}

// Channel returns the channel of the noise, for Check, State and Restore.
func (g *Aggregator[T]) Channel() *channel.Channel[T] { return g.noise }

// Aggregate writes the noisy sums of matrix a to dst, a.Rows rows of cols values, from x,
// a.Cols rows of cols values, which it does not change, and records one release. view numbers
// the matrices of one step under one key: 0 for users from items, 1 for items from users. Each
// is a release of its own, and noise is keyed by (key, view, row), by the rules of
// [channel.Channel.Start]. Sums are taken in the order of the columns, so bytes do not depend
// on the number of processors. Before it records or changes anything, Aggregate fails on a
// matrix with larger degrees than the guarantee is for, and on values that are not finite.
func (g *Aggregator[T]) Aggregate(dst, x []T, cols int, a Adjacency, view int32, key ...uint64) error {
	if err := g.admit(dst, x, cols, a); err != nil {
		return fmt.Errorf("%s: %w", g.m.Purpose, err)
	}
	unit := make([]T, len(x))
	if err := g.normalise(unit, x, cols); err != nil {
		return err
	}
	row, col := g.weighing(a)
	r, err := g.noise.Start([]int32{view}, a.Rows, cols, key...)
	if err != nil {
		return err
	}
	parallel(a.Rows, func(from, to int) {
		for i := from; i < to; i++ {
			sum := dst[i*cols : (i+1)*cols]
			clear(sum)
			for _, j := range a.Row(i) {
				addRow(sum, unit[int(j)*cols:(int(j)+1)*cols], row[i]*col[j])
			}
			r.RowAt(i, sum, 0, uint64(i))
		}
	})
	return r.Finish()
}

func (g *Aggregator[T]) admit(dst, x []T, cols int, a Adjacency) error {
	if err := a.Validate(); err != nil {
		return err
	}
	if cols < 1 || len(dst) != a.Rows*cols || len(x) != a.Cols*cols {
		return fmt.Errorf("%d values from %d in rows of %d for a matrix of %d x %d", len(dst), len(x), cols, a.Rows, a.Cols)
	}
	if g.m.Unit != privacy.User {
		return nil
	}
	rows, columns := a.Degrees()
	for j, d := range columns {
		if g.m.Columns > 0 && int(d) > g.m.Columns {
			return fmt.Errorf("column %d has %d ones, the guarantee is for %d: bound them first", j, d, g.m.Columns)
		}
	}
	for i, d := range rows {
		if g.m.Own > 0 && int(d) > g.m.Own {
			return fmt.Errorf("row %d has %d ones, the guarantee is for %d: bound them first", i, d, g.m.Own)
		}
	}
	return nil
}

// normalise scales the rows of x to the norm and checks the results, because the event does not
// hold for rows that are too long.
func (g *Aggregator[T]) normalise(dst, x []T, cols int) error {
	bad := make([]error, len(x)/cols)
	parallel(len(bad), func(from, to int) {
		for j := from; j < to; j++ {
			row := dst[j*cols : (j+1)*cols]
			if err := g.scale(row, x[j*cols:(j+1)*cols], g.m.Norm); err != nil {
				bad[j] = fmt.Errorf("%s: row %d: %w", g.m.Purpose, j, err)
			} else if err := channel.CheckNorm(g.m.Purpose, "norm of a row", row, g.m.Norm, "embeddings were not normalised"); err != nil {
				bad[j] = g.noise.Refuse(err)
			}
		}
	})
	for _, err := range bad {
		if err != nil {
			return err
		}
	}
	return nil
}

// weighing returns the factors of the rows and of the columns.
func (g *Aggregator[T]) weighing(a Adjacency) (row, col []T) {
	row, col = make([]T, a.Rows), make([]T, a.Cols)
	d, e := a.Degrees()
	fill := func(to []T, degrees []int32, weigh bool) {
		for i := range to {
			to[i] = 1
			if weigh {
				to[i] = T(1 / math.Sqrt(float64(max(int(degrees[i]), g.m.Clamp))))
			}
		}
	}
	w := g.m.weights()
	fill(row, d, w == BothWeights)
	fill(col, e, w != SumWeights)
	return row, col
}

func addRow[T mechanism.Float](sum, x []T, weight T) {
	x = x[:len(sum)]
	if weight == 1 {
		for k, v := range x {
			sum[k] += v
		}
		return
	}
	for k, v := range x {
		sum[k] += weight * v
	}
}

// parallel runs body over 0..n in pieces of equal size.
func parallel(n int, body func(from, to int)) {
	workers := runtime.GOMAXPROCS(0)
	piece := max(64, (n+4*workers-1)/(4*workers))
	var wg sync.WaitGroup
	next := make(chan int)
	for range min(workers, (n+piece-1)/piece) {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for from := range next {
				body(from, min(from+piece, n))
			}
		}()
	}
	for from := 0; from < n; from += piece {
		next <- from
	}
	close(next)
	wg.Wait()
}
