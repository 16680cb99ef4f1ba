package sasrec

import "fmt"

// Config is the model's shape.
type Config struct {
	Dim     int     `yaml:"dim"`    // d, the width of items, positions and all layers
	Blocks  int     `yaml:"blocks"` // b
	Heads   int     `yaml:"heads"`  // of attention; must divide d
	Length  int     `yaml:"length"` // n, how many of the latest items of a sequence are read
	Dropout float64 `yaml:"dropout"`
	Norm    string  `yaml:"norm"` // NormCode or NormPaper
}

// Placements of layer normalisation; f is attention or the point-wise network.
const (
	// NormCode is the authors' program: y = LN(x), x' = y + dropout(f(y)). The residual
	// carries the normalised rows, and attention takes its queries from y and its keys
	// and values from x.
	NormCode = "code"
	// NormPaper is section III-C: x' = x + dropout(f(LN(x))).
	NormPaper = "paper"
)

// Default returns the shape that the exposure attack's protection assumes: the paper's two
// blocks and one head, for sparse data.
func Default() Config {
	return Config{Dim: 64, Blocks: 2, Heads: 1, Length: 50, Dropout: 0.2, Norm: NormCode}
}

// Check reports the first field that is out of its range.
func (c Config) Check() error {
	switch {
	case c.Dim < 1:
		return fmt.Errorf("sasrec: dim is %d, want at least 1", c.Dim)
	case c.Blocks < 1:
		return fmt.Errorf("sasrec: blocks is %d, want at least 1", c.Blocks)
	case c.Heads < 1 || c.Dim%c.Heads != 0:
		return fmt.Errorf("sasrec: %d heads do not divide a width of %d", c.Heads, c.Dim)
	case c.Length < 1:
		return fmt.Errorf("sasrec: length is %d, want at least 1", c.Length)
	case !(c.Dropout >= 0 && c.Dropout < 1):
		return fmt.Errorf("sasrec: dropout is %v, want at least 0 and below 1", c.Dropout)
	case c.Norm != NormCode && c.Norm != NormPaper:
		return fmt.Errorf("sasrec: norm is %q, want %s or %s", c.Norm, NormCode, NormPaper)
	}
	return nil
}
