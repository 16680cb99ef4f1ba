package attribute

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"privrec/internal/rng"
	"privrec/internal/tensor"
)

// processUsers is the largest number of users that a Gaussian process learns from: its time grows with the cube of that
// number, its memory with the square (32 MB a matrix at the limit).
const processUsers = 2000

// process is the posterior of one class against the rest.
type process struct {
	grad []float64 // gradient of the log-likelihood at the mode (users)
	root []float64 // square root of W, the negative second derivatives (users)
	b    mat.Cholesky
}

// fitProcess learns a Gaussian process with a logistic likelihood and the kernel exp(-|x - y|^2 / 2), one class against
// the rest, by Laplace's approximation (Rasmussen and Williams 2006, algorithms 3.1 and 3.2). Two classes need one
// process. With more, the probabilities of the processes are scaled to sum to one. The length of the kernel is not
// fitted. On rows that are far apart the kernel is all but diagonal, so that guesses depend on small differences.
func fitProcess(ctx context.Context, t *training, _ rng.Stream) (fill, error) {
	n := len(t.class)
	if n > processUsers {
		return nil, t.unsuitable("learns from at most %d users, not %d: its time grows with the cube of their number",
			processUsers, n)
	}
	rows := sparseOf(t.x)
	kernel := mat.NewSymDense(n, nil)
	rows.nearness(t.x, func(i int, d []float64) {
		for j := i; j < n; j++ {
			kernel.SetSym(i, j, math.Exp(-d[j]/2))
		}
	})
	positives := t.present
	if len(positives) == 2 {
		positives = positives[1:]
	}
	fitted, failed := make([]*process, len(positives)), make([]error, len(positives))
	tensor.Parallel(len(positives), 1, func(k, _, _ int) {
		fitted[k], failed[k] = newProcess(ctx, kernel, t.class, positives[k])
	})
	for k, err := range failed {
		if err != nil {
			return nil, fmt.Errorf("%s: class %d: %w", t.name, positives[k], err)
		}
	}
	return func(x tensor.Matrix, p [][]float64) error {
		near := mat.NewDense(n, max(1, x.Rows), nil) // a column for each row of x
		rows.nearness(x, func(i int, d []float64) {
			for j, v := range d {
				near.Set(j, i, math.Exp(-v/2))
			}
		})
		for i := range p {
			clear(p[i])
		}
		failed := make([]error, len(fitted))
		tensor.Parallel(len(fitted), 1, func(k, _, _ int) {
			q, err := fitted[k].probabilities(near)
			failed[k] = err
			for i := range p {
				p[i][positives[k]] = q[i]
			}
		})
		if err := errors.Join(failed...); err != nil {
			return fmt.Errorf("%s: %w", t.name, err)
		}
		for i := range p {
			t.share(p[i])
		}
		return nil
	}, nil
}

// share combines the probabilities of the classes' processes so that they sum to one.
func (t *training) share(p []float64) {
	if len(t.present) == 2 {
		p[t.present[0]] = 1 - p[t.present[1]]
		return
	}
	sum := 0.0
	for _, q := range p {
		sum += q
	}
	for _, c := range t.present {
		if sum == 0 { // every process is sure of the rest
			p[c] = 1 / float64(len(t.present))
			continue
		}
		p[c] /= sum
	}
}

// newProcess finds the mode of the posterior by Newton's method (algorithm 3.1). It stops when the approximate
// logarithm of the marginal likelihood no longer rises by 1e-10, as scikit-learn does.
func newProcess(ctx context.Context, kernel *mat.SymDense, class []int32, positive int32) (*process, error) {
	n := len(class)
	f, y := mat.NewVecDense(n, nil), make([]float64, n)
	for i, c := range class {
		if c == positive {
			y[i] = 1
		}
	}
	g := &process{grad: make([]float64, n), root: make([]float64, n)}
	b, a, right := mat.NewSymDense(n, nil), mat.NewVecDense(n, nil), mat.NewVecDense(n, nil)
	before := math.Inf(-1)
	for range 100 {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		for i := range n { // line 4
			pi := logistic(f.AtVec(i))
			g.grad[i], g.root[i] = y[i]-pi, math.Sqrt(pi*(1-pi))
		}
		for i := range n { // line 5: B = I + sqrt(W) K sqrt(W)
			for j := i; j < n; j++ {
				b.SetSym(i, j, g.root[i]*kernel.At(i, j)*g.root[j])
			}
			b.SetSym(i, i, b.At(i, i)+1)
		}
		if !g.b.Factorize(b) {
			return nil, errors.New("the matrix of the Laplace approximation is not positive definite")
		}
		for i := range n { // line 6: b = W f + grad, kept in a
			a.SetVec(i, g.root[i]*g.root[i]*f.AtVec(i)+g.grad[i])
		}
		right.MulVec(kernel, a)
		for i := range n {
			right.SetVec(i, g.root[i]*right.AtVec(i))
		}
		if err := g.b.SolveVecTo(right, right); err != nil {
			return nil, err
		}
		for i := range n { // line 7
			a.SetVec(i, a.AtVec(i)-g.root[i]*right.AtVec(i))
		}
		f.MulVec(kernel, a)                          // line 8
		now := -0.5*mat.Dot(a, f) - 0.5*g.b.LogDet() // line 10
		for i := range n {
			now -= softplus(-(2*y[i] - 1) * f.AtVec(i))
		}
		if now-before < 1e-10 {
			return g, nil
		}
		before = now
	}
	return g, nil
}

// probabilities returns the probability of the class for each column of near, the kernel between users and rows
// (algorithm 3.2).
func (g *process) probabilities(near *mat.Dense) ([]float64, error) {
	n, m := near.Dims()
	scaled, solved := mat.NewDense(n, m, nil), mat.NewDense(n, m, nil)
	scaled.Apply(func(i, _ int, k float64) float64 { return g.root[i] * k }, near)
	p := make([]float64, m)
	if err := g.b.SolveTo(solved, scaled); err != nil {
		return p, err
	}
	for j := range p {
		mean, variance := 0.0, 1.0
		for i := range n {
			mean += near.At(i, j) * g.grad[i]             // line 4
			variance -= scaled.At(i, j) * solved.At(i, j) // lines 5 and 6
		}
		p[j] = expectedLogistic(mean, max(0, variance)) // line 7
	}
	return p, nil
}

// expectedLogistic returns the mean of 1/(1+exp(-z)) for a normal z, in which the logistic function is replaced by five
// error functions (Williams and Barber, Bayesian classification with Gaussian processes, 1998, appendix A), with the
// coefficients of scikit-learn. Those sum to 1 - 1e-8. Here a mean of zero gives one half, and any other is rounded
// away from one half. So the guess between two classes follows the sign of the mean (Rasmussen and Williams, section
// 3.4.2), which is tiny for a row far from all users.
func expectedLogistic(mean, variance float64) float64 {
	sum := 0.0
	for k, l := range [5]float64{0.41, 0.4, 0.37, 0.44, 0.39} {
		c := [5]float64{-1854.8214151, 3516.89893646, 221.29346712, 128.12323805, -2010.49422654}[k]
		sum += c * math.Erf(l*mean/math.Sqrt(1+2*l*l*variance))
	}
	p := min(1, max(0, 0.5+0.5*sum))
	switch {
	case mean > 0:
		return max(p, math.Nextafter(0.5, 1))
	case mean < 0:
		return min(p, math.Nextafter(0.5, 0))
	}
	return p
}

func logistic(z float64) float64 { return 1 / (1 + math.Exp(-z)) }

// softplus returns log(1 + exp(z)).
func softplus(z float64) float64 { return max(z, 0) + math.Log1p(math.Exp(-math.Abs(z))) }
