package exact

import "math"

// law is one release: its pair of worst laws. Laws are comparable values.
type law interface {
	symmetric() bool
	sane() bool // parameters in a range where nothing overflows
	// lattice returns h and the offset where every loss is an offset plus an
	// integer multiple of h; h is 0 where there is none.
	lattice() (h, offset float64)
	// most is the supremum of the loss.
	most(d Direction) float64
	factor(d Direction) factor
}

// factor gives K(w) of one release in one direction.
type factor interface {
	// reach readies it for 0 < Re w <= c and |Im w| <= y.
	reach(c, y float64) error
	// log is K(c+iy), the imaginary part modulo 2 pi, and a bound on the error of
	// both by rounding, in units of ulp.
	log(c, y float64) (re, im, noise float64)
	// decay is an upper bound, at most 0, of log |M(c+iy)/M(c)| for all y from y0
	// to y1 > y0, which may be +Inf. Cheap, valid at any y whatever was reached.
	decay(c, y0, y1 float64) float64
	// cost is the work of one log, in nodes.
	cost() int
}

// smooth is a loss with a density: a quadrature that is refined as y grows.
type smooth struct {
	law interface {
		table(d Direction, c, y float64, t *table) error
	}
	direction Direction
	t         table
	c, y      float64 // what the table reaches
}

func (s *smooth) reach(c, y float64) error {
	if c <= s.c && y <= s.y {
		return nil
	}
	c, y = math.Max(c, s.c), math.Max(y, s.y)
	t := table{loss: s.t.loss[:0], logp: s.t.logp[:0], p: s.t.p[:0], width: s.t.width[:0], tilt: s.t.tilt, base: s.t.base, slope: s.t.slope}
	if err := s.law.table(s.direction, c, y, &t); err != nil {
		return err
	}
	s.t, s.c, s.y = t, c, y
	return nil
}

func (s *smooth) log(c, y float64) (re, im, noise float64) { return s.t.log(c, y) }
func (s *smooth) decay(c, y0, y1 float64) float64          { return s.t.decay(c, y0, y1) }
func (s *smooth) cost() int                                { return len(s.t.loss) + 4 }

// atoms is a loss with finitely many values.
type atoms struct{ t table }

func (s *atoms) reach(float64, float64) error             { return nil }
func (s *atoms) log(c, y float64) (re, im, noise float64) { return s.t.log(c, y) }
func (s *atoms) decay(c, y0, y1 float64) float64          { return 0 }
func (s *atoms) cost() int                                { return len(s.t.loss) + 4 }

// gaussian is all Gaussians that are not sampled: K(w) = mu² w (w+1)/2.
type gaussian struct{ mu2 float64 }

func (g gaussian) reach(float64, float64) error { return nil }
func (g gaussian) log(c, y float64) (re, im, noise float64) {
	re, im = g.mu2/2*(c*(c+1)-y*y), g.mu2/2*y*(2*c+1)
	return re, im, 4 * g.mu2 / 2 * (c*(c+1) + y*y + math.Abs(y)*(2*c+1))
}
func (g gaussian) decay(c, y0, y1 float64) float64 { return -g.mu2 / 2 * y0 * y0 }
func (g gaussian) cost() int                       { return 1 }
