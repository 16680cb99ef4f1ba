package dpmf

import (
	"context"
	"fmt"
	"math"

	"privrec/internal/privacy"
	"privrec/internal/privacy/mechanism/channel"
	"privrec/internal/rng"
	"privrec/internal/run"
	"privrec/internal/tensor"
)

// factors holds the state of a factorisation in training.
type factors struct {
	cfg          Config
	cells        *cells
	users, items []float64  // (n, K)
	eta          []float64  // (items, K); nil: no noise
	order        rng.Stream // of cells
	noise        *channel.Channel[float64]
	ledger       *privacy.Ledger
}

// newFactors draws the first vectors.
func newFactors(c Config, all *cells, seed rng.Seed) *factors {
	f := &factors{cfg: c, cells: all, order: seed.Stream("dpmf.order")}
	draw := func(name string, n int) []float64 {
		s, x := seed.Stream(name), make([]float64, n*c.Model.Dim)
		for k := range x {
			x[k] = c.Model.Std * s.NormFloat64()
		}
		return x
	}
	f.users, f.items = draw("dpmf.users", all.users.len()), draw("dpmf.items", all.items.len())
	return f
}

// purpose names the noise in ledgers and streams.
const purpose = "items' linear terms"

// perturbation returns the noise mechanism for eta, eq. 2.
func (c Config) perturbation(distance float64) (channel.Laplace, error) {
	s := Sensitivity(distance, c.Model.Dim)
	scale, err := channel.LaplaceScale(c.Privacy.Epsilon, s)
	return channel.Laplace{Purpose: purpose, Scale: scale, Sensitivity: s, Unit: value.Unit,
		Neighbouring: value.Neighbouring}, err
}

// open opens the noise. With an infinite epsilon there is none.
func (f *factors) open(distance float64, l *privacy.Ledger, s rng.Stream) error {
	if math.IsInf(f.cfg.Privacy.Epsilon, 1) {
		return nil
	}
	m, err := f.cfg.perturbation(distance)
	if err != nil {
		return err
	}
	f.ledger = l
	f.noise, err = channel.OpenLaplace[float64](m, l, s)
	return err
}

// release draws eta, before the first epoch or before each epoch. It is one release, since a value moves one item's
// gradient.
func (f *factors) release(epoch int) error {
	if f.noise == nil || epoch >= f.cfg.draws() {
		return nil
	}
	f.eta = make([]float64, len(f.items))
	if err := f.noise.Perturb(f.eta, f.cfg.Model.Dim, 1, uint64(epoch)); err != nil {
		return err
	}
	if err := f.noise.Check(); err != nil {
		return err
	}
	return f.ledger.Flush(fmt.Sprintf("before epoch %d", epoch+1))
}

// train runs the epochs. Within each half of an epoch, rows of a side do not read each other, so the result does not
// depend on the number of workers.
func (f *factors) train(ctx context.Context, done func()) error {
	for epoch := range f.cfg.Train.Epochs {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("%w at epoch %d: %w", run.ErrInterrupted, epoch, err)
		}
		if err := f.release(epoch); err != nil {
			return err
		}
		f.descend(epoch, 0, &f.cells.items, f.items, f.users, f.stepItem)
		f.descend(epoch, 1, &f.cells.users, f.users, f.items, f.stepUser)
		done()
	}
	return nil
}

// descend takes a step for every cell of every row of a side, in an order drawn for the row.
func (f *factors) descend(epoch int, half uint64, s *side, x, other []float64,
	step func(row int, rate, m float64, x, y []float64)) {
	d, rate := f.cfg.Model.Dim, f.cfg.Train.rate(epoch)
	tensor.Parallel(s.len(), 16, func(_, lo, hi int) {
		var order []int32
		for row := lo; row < hi; row++ {
			from, to := s.start[row], s.start[row+1]
			order = order[:0]
			for k := from; k < to; k++ {
				order = append(order, int32(k))
			}
			draws := f.order.Sub(uint64(epoch), half, uint64(row))
			draws.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
			for _, k := range order {
				o := int(s.other[k])
				step(row, rate, s.value[k], x[row*d:(row+1)*d], other[o*d:(o+1)*d])
			}
		}
	})
}

// stepItem makes a descent step on eq. 1 for an item's vector v, at one cell with the vector u of its user.
func (f *factors) stepItem(item int, rate, m float64, v, u []float64) {
	short := shrink(u)
	miss := m - short*dot(u, v)
	n := float64(f.cells.items.start[item+1] - f.cells.items.start[item])
	for k := range v {
		g := -2 * (miss*short*u[k] - f.cfg.Model.Lambda*v[k])
		if f.eta != nil {
			g += f.eta[item*len(v)+k] / n
		}
		v[k] -= rate * g
	}
}

// stepUser makes a descent step on eq. 1 for a user's vector u, at one cell with the vector v of its item.
func (f *factors) stepUser(_ int, rate, m float64, u, v []float64) {
	short := shrink(u)
	for k := range u {
		u[k] *= short
	}
	miss := m - dot(u, v)
	for k := range u {
		u[k] += 2 * rate * (miss*v[k] - f.cfg.Model.Lambda*u[k])
	}
	short = shrink(u)
	for k := range u {
		u[k] *= short
	}
}

// shrink returns the factor that cuts a vector to length 1: at most 1, and the result is never longer
// than 1 after rounding.
func shrink(u []float64) float64 {
	sum := dot(u, u)
	if sum <= 1-0x1p-40 {
		return 1
	}
	return (1 - 0x1p-40) / math.Sqrt(sum)
}

func dot(x, y []float64) (sum float64) {
	for k, v := range x {
		sum += v * y[k]
	}
	return sum
}

// table returns vectors as a table to rank by.
func table(x []float64, d int) tensor.Matrix {
	t := tensor.NewTable(len(x)/d, d)
	for k := range t.Rows {
		for j, v := range x[k*d : (k+1)*d] {
			tensor.Row(t, k)[j] = tensor.Float(v)
		}
	}
	return t
}
