package mechanism

import "privrec/internal/privacy"

// gridGaussian is discrete normal noise of sigma steps of a grid.
type gridGaussian struct {
	e    privacy.DiscreteGaussian
	grid float64
}

func (l gridGaussian) event() privacy.Event { return l.e }
func (l gridGaussian) scale() float64       { return l.e.Sigma * l.grid }
func (l gridGaussian) tails() int           { return 6 }
func (l gridGaussian) check(t *tally, purpose string, x float64) error {
	d := DiscreteGaussianLaw{l.e.Sigma}
	return moments{
		// At most that of a normal: the law is sub-Gaussian (Canonne, Kamath, Steinke
		// 2020), since shifting the integers within theta only makes it smaller.
		sum:  func(t float64) float64 { return t * t / 2 },
		size: d.logSquares, sumLimit: 64, sizeLimit: 0.5, unchanged: d.PMF(0), root: 2,
	}.check(t, purpose, l.scale(), x)
}

// gridLaplace is discrete Laplace noise: sizes are absolute values.
type gridLaplace struct {
	e    privacy.DiscreteLaplace
	grid float64
}

func (l gridLaplace) event() privacy.Event { return l.e }
func (l gridLaplace) scale() float64       { return l.e.Scale * l.grid }
func (l gridLaplace) tails() int           { return 6 }
func (l gridLaplace) check(t *tally, purpose string, x float64) error {
	d := DiscreteLaplaceLaw{l.e.Scale}
	return moments{sum: d.logSum, size: d.logSizes, sumLimit: 1, sizeLimit: 1, unchanged: d.PMF(0), root: 1}.check(t, purpose, l.scale(), x)
}
