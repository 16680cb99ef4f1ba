package attribute

import (
	"context"
	"fmt"

	"privrec/internal/rng"
	"privrec/internal/tensor"
)

// penalty is half the factor of the squared weights beside the summed loss: scikit-learn's C = 1.
const penalty = 0.5

// regression is the objective of logistic regression,
//
//	sum over users of -log p(class) + penalty * sum of the squared weights,
//
// without a penalty on the shifts. Two classes have one output and the logistic function, more have an output each and
// softmax (Bishop 2006, sections 4.3.2 and 4.3.4). Parameters lie column by column, an output beside the other; the
// last "column" has the shifts.
type regression struct {
	rows, columns sparse
	target        []int32 // of a user: among the outputs, or 0 and 1 for one output
	outputs       int
	p             []float64 // (users, outputs), of the last value
	d             []float64 // (users, outputs), scratch
	loss          []float64 // of a user, scratch
}

const logisticRegression = "logistic-regression"

// LogisticWeights returns the weights that logistic regression learns for the columns of x (users, columns): those of
// the log odds of class 1 against class 0, without the intercept. It fails where Fit does.
func LogisticWeights(ctx context.Context, x tensor.Matrix, class []int32) ([]float64, error) {
	t, err := newTraining(logisticRegression, x, class, 2)
	if err != nil {
		return nil, err
	}
	_, w, err := solveLogistic(ctx, t)
	if err != nil {
		return nil, err
	}
	return w[:x.Cols], nil
}

// solveLogistic minimises the objective by Newton's method, and returns the parameters. The objective is convex, so the
// result does not depend on the start, which is zero.
func solveLogistic(ctx context.Context, t *training) (r *regression, w []float64, err error) {
	rows := sparseOf(t.x)
	r = &regression{rows: rows, columns: rows.transposed(), target: make([]int32, rows.rows), outputs: len(t.present)}
	of := make([]int32, t.classes) // place of a class among those present
	for k, c := range t.present {
		of[c] = int32(k)
	}
	for u, c := range t.class {
		r.target[u] = of[c]
	}
	if r.outputs == 2 {
		r.outputs = 1
	}
	r.p, r.d, r.loss = make([]float64, rows.rows*r.outputs), make([]float64, rows.rows*r.outputs),
		make([]float64, rows.rows)
	if w, err = minimise(ctx, r, (rows.cols+1)*r.outputs); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", t.name, err)
	}
	return r, w, nil
}

// fitLogistic predicts by the parameters that solveLogistic finds.
func fitLogistic(ctx context.Context, t *training, _ rng.Stream) (fill, error) {
	r, w, err := solveLogistic(ctx, t)
	if err != nil {
		return nil, err
	}
	return func(x tensor.Matrix, p [][]float64) error {
		q := &regression{rows: sparseOf(x), outputs: r.outputs}
		z := make([]float64, x.Rows*r.outputs)
		q.apply(w, z)
		for i := range p {
			clear(p[i])
			out := z[i*r.outputs : (i+1)*r.outputs]
			if r.outputs == 1 {
				p[i][t.present[1]], p[i][t.present[0]] = logistic(out[0]), logistic(-out[0])
				continue
			}
			softmax(out)
			for k, c := range t.present {
				p[i][c] = out[k]
			}
		}
		return nil
	}, nil
}

// apply sets z (users, outputs) to the rows times the weights w, plus the shifts.
func (r *regression) apply(w, z []float64) {
	k := r.outputs
	tensor.Parallel(r.rows.rows, 32, func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			out := z[i*k : (i+1)*k]
			copy(out, w[r.rows.cols*k:])
			idx, val := r.rows.row(i)
			for e, j := range idx {
				for c, v := range w[int(j)*k : (int(j)+1)*k] {
					out[c] += val[e] * v
				}
			}
		}
	})
}

// gather sets g to the transposed rows times d (users, outputs), plus the gradient of the penalty, 2 * penalty * w.
func (r *regression) gather(w, d, g []float64) {
	k, n := r.outputs, r.rows.cols
	tensor.Parallel(n+1, 64, func(_, lo, hi int) {
		for j := lo; j < hi; j++ {
			out := g[j*k : (j+1)*k]
			clear(out)
			if j == n { // shifts
				for i := range r.rows.rows {
					for c := range out {
						out[c] += d[i*k+c]
					}
				}
				continue
			}
			idx, val := r.columns.row(j)
			for e, i := range idx {
				for c, v := range d[int(i)*k : (int(i)+1)*k] {
					out[c] += val[e] * v
				}
			}
			for c := range out {
				out[c] += 2 * penalty * w[j*k+c]
			}
		}
	})
}

// value returns the objective at w and sets g to its gradient. Product uses the probabilities of the last value.
func (r *regression) value(w, g []float64) float64 {
	r.apply(w, r.p)
	k := r.outputs
	tensor.Parallel(r.rows.rows, 32, func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			z, y := r.p[i*k:(i+1)*k], int(r.target[i])
			d := r.d[i*k : (i+1)*k]
			if k == 1 {
				r.loss[i] = softplus(z[0]) - float64(y)*z[0]
				z[0] = logistic(z[0])
				d[0] = z[0] - float64(y)
				continue
			}
			own := z[y]
			r.loss[i] = softmax(z) - own
			copy(d, z)
			d[y]--
		}
	})
	r.gather(w, r.d, g)
	sum := 0.0
	for _, l := range r.loss {
		sum += l
	}
	for _, v := range w[:r.rows.cols*k] {
		sum += penalty * v * v
	}
	return sum
}

// product sets h to the second derivatives of the objective, at the last value, times v.
func (r *regression) product(v, h []float64) {
	r.apply(v, r.d)
	k := r.outputs
	tensor.Parallel(r.rows.rows, 64, func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			p, d := r.p[i*k:(i+1)*k], r.d[i*k:(i+1)*k]
			if k == 1 {
				d[0] *= p[0] * (1 - p[0])
				continue
			}
			mean := 0.0
			for c := range d {
				mean += p[c] * d[c]
			}
			for c := range d {
				d[c] = p[c] * (d[c] - mean)
			}
		}
	})
	r.gather(v, r.d, h)
}
