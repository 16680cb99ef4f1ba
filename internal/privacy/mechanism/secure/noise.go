package secure

import (
	"privrec/internal/privacy"
	"privrec/internal/privacy/mechanism/channel"
)

// gridGaussian is the law of discrete normal noise, of sigma steps of a grid.
type gridGaussian struct {
	e    privacy.DiscreteGaussian
	grid float64
}

// Event implements channel.Law.
func (l gridGaussian) Event() privacy.Event { return l.e }

// Scale implements channel.Law.
func (l gridGaussian) Scale() float64 { return l.e.Sigma * l.grid }

// Tails implements channel.Law.
func (l gridGaussian) Tails() int { return 6 }

// Check implements channel.Law.
func (l gridGaussian) Check(t *channel.Tally, purpose string, x float64) error {
	d := DiscreteGaussianLaw{l.e.Sigma}
	return channel.Moments{
		// At most the function of a normal law: the law is sub-Gaussian (Canonne, Kamath,
		// Steinke 2020), since shifting the integers within theta only makes it smaller.
		Sum:  func(t float64) float64 { return t * t / 2 },
		Size: d.LogSquares, SumLimit: 64, SizeLimit: 0.5, Unchanged: d.PMF(0), Root: 2,
	}.Check(t, purpose, l.Scale(), x)
}

// gridLaplace is the law of discrete Laplace noise: sizes are absolute values.
type gridLaplace struct {
	e    privacy.DiscreteLaplace
	grid float64
}

// Event implements channel.Law.
func (l gridLaplace) Event() privacy.Event { return l.e }

// Scale implements channel.Law.
func (l gridLaplace) Scale() float64 { return l.e.Scale * l.grid }

// Tails implements channel.Law.
func (l gridLaplace) Tails() int { return 6 }

// Check implements channel.Law.
func (l gridLaplace) Check(t *channel.Tally, purpose string, x float64) error {
	d := DiscreteLaplaceLaw{l.e.Scale}
	return channel.Moments{Sum: d.LogSum, Size: d.LogSizes, SumLimit: 1, SizeLimit: 1, Unchanged: d.PMF(0), Root: 1}.Check(t, purpose, l.Scale(), x)
}
