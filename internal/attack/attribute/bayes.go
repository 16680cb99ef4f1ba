package attribute

import (
	"context"
	"math"

	"privrec/internal/rng"
	"privrec/internal/tensor"
)

// Naive Bayes takes the columns as independent given the class. The three variants differ in the distribution of a
// column. Prior probabilities are the shares of the classes in training.

// alpha is added to each count of the discrete distributions (Laplace), as in scikit-learn.
const alpha = 1

// smoothing is the share of the largest variance that is added to all variances of the Gaussian distribution, as in
// scikit-learn. Without it a column that is constant within a class has variance zero.
const smoothing = 1e-9

// priors returns the logarithms of the classes' shares, -Inf for a class without users.
func (t *training) priors() []float64 {
	l := make([]float64, t.classes)
	for c, n := range t.count {
		l[c] = math.Log(float64(n) / float64(len(t.class)))
	}
	return l
}

// sums returns the sum of f over the users of each class (classes, columns).
func (t *training) sums(f func(v float64) float64) [][]float64 {
	s := make([][]float64, t.classes)
	for c := range s {
		s[c] = make([]float64, t.x.Cols)
	}
	for i, c := range t.class {
		for j, v := range tensor.Row(t.x, i) {
			if v != 0 {
				s[c][j] += f(float64(v))
			}
		}
	}
	return s
}

// additive returns a fill for a log-likelihood base[c] + sum over the non-zero columns j of weight[c][j] times
// f(x_j).
func additive(base []float64, weight [][]float64, f func(v float64) float64) fill {
	return func(x tensor.Matrix, p [][]float64) error {
		tensor.Parallel(x.Rows, 16, func(_, lo, hi int) {
			for i := lo; i < hi; i++ {
				copy(p[i], base)
				for j, v := range tensor.Row(x, i) {
					if v == 0 {
						continue
					}
					for c := range p[i] {
						p[i][c] += weight[c][j] * f(float64(v))
					}
				}
				softmax(p[i])
			}
		})
		return nil
	}
}

// fitMultinomial fits a multinomial distribution over the columns to each class: with N_cj the sum of column j over the
// users of class c, n the number of columns,
//
//	log p(x | c) = sum_j x_j log((N_cj + alpha) / (sum_k N_ck + alpha n)) + const
//
// (Manning, Raghavan and Schütze 2008, equation 13.7). It refuses negative values.
func fitMultinomial(_ context.Context, t *training, _ rng.Stream) (fill, error) {
	if err := t.counts(t.x); err != nil {
		return nil, err
	}
	weight := t.sums(func(v float64) float64 { return v })
	for _, w := range weight {
		total := 0.0
		for _, n := range w {
			total += n + alpha
		}
		for j, n := range w {
			w[j] = math.Log((n + alpha) / total)
		}
	}
	guess := additive(t.priors(), weight, func(v float64) float64 { return v })
	return func(x tensor.Matrix, p [][]float64) error {
		if err := t.counts(x); err != nil {
			return err
		}
		return guess(x, p)
	}, nil
}

// counts returns an *UnsuitableError if a value is negative.
func (t *training) counts(x tensor.Matrix) error {
	for i := range x.Rows {
		for j, v := range tensor.Row(x, i) {
			if v < 0 {
				return t.unsuitable("needs counts, but row %d, column %d is %v", i, j, v)
			}
		}
	}
	return nil
}

// fitBernoulli fits a Bernoulli distribution of "the column is positive" to each class: with N_cj the users of class c
// whose column j is positive and N_c all of them, p(x_j > 0 | c) = (N_cj + alpha) / (N_c + 2 alpha).
func fitBernoulli(_ context.Context, t *training, _ rng.Stream) (fill, error) {
	weight, base := t.sums(positive), t.priors()
	for c, w := range weight {
		for j, n := range w {
			q := (n + alpha) / (float64(t.count[c]) + 2*alpha)
			base[c] += math.Log1p(-q)
			w[j] = math.Log(q) - math.Log1p(-q)
		}
	}
	return additive(base, weight, positive), nil
}

func positive(v float64) float64 {
	if v > 0 {
		return 1
	}
	return 0
}

// fitGaussian fits a normal distribution to each column and class. To the variance of every column within a class it
// adds smoothing times the largest variance of a column over all users.
func fitGaussian(_ context.Context, t *training, _ rng.Stream) (fill, error) {
	mean, base := t.sums(func(v float64) float64 { return v }), t.priors()
	for c, m := range mean {
		for j := range m {
			m[j] /= max(1, float64(t.count[c]))
		}
	}
	variance, largest := make([][]float64, t.classes), 0.0
	for c := range variance {
		variance[c] = make([]float64, t.x.Cols)
	}
	for j := range t.x.Cols {
		all, sq := 0.0, 0.0
		for c, m := range mean {
			all += m[j] * float64(t.count[c]) / float64(len(t.class))
		}
		for i, c := range t.class {
			v := float64(t.x.Data[i*t.x.Stride+j])
			variance[c][j] += (v - mean[c][j]) * (v - mean[c][j])
			sq += (v - all) * (v - all)
		}
		largest = max(largest, sq/float64(len(t.class)))
	}
	if largest == 0 {
		return nil, t.unsuitable("all rows are equal")
	}
	for _, c := range t.present {
		for j, v := range variance[c] {
			variance[c][j] = v/float64(t.count[c]) + smoothing*largest
			base[c] -= 0.5 * math.Log(2*math.Pi*variance[c][j])
		}
	}
	return func(x tensor.Matrix, p [][]float64) error {
		tensor.Parallel(x.Rows, 8, func(_, lo, hi int) {
			for i := lo; i < hi; i++ {
				copy(p[i], base)
				for _, c := range t.present {
					sum := 0.0
					for j, v := range tensor.Row(x, i) {
						d := float64(v) - mean[c][j]
						sum += d * d / variance[c][j]
					}
					p[i][c] -= 0.5 * sum
				}
				softmax(p[i])
			}
		})
		return nil
	}, nil
}
