package correlated

import "math"

// exhaustive is the largest number of steps at which BestBands tries every number of bands.
const exhaustive = 512

// BestBands returns the number of bands with the least product of sensitivity and mean error for a participation, and
// the fewest of several. Up to 512 steps it tries every number. Above it tries those up to 64, then steps of a tenth,
// the distance of participations and all bands, and goes on from the best in halved steps: there the answer is the best
// of what it tried.
func BestBands(n int, p Participation) (int, error) {
	if err := checkSteps(n); err != nil {
		return 0, err
	}
	if p.Times < 1 || p.Apart < 1 {
		return 0, ErrParticipation
	}
	p.Apart = min(p.Apart, n)
	root := squareRoot(n)
	best, least := 0, 0.0
	try := func(bands int) {
		if bands < 1 || bands > n {
			return
		}
		s := Strategy{column: root[:bands], steps: n}
		if loss := s.loss(p); best == 0 || loss < least || loss == least && bands < best {
			best, least = bands, loss
		}
	}
	if n <= exhaustive {
		for bands := 1; bands <= n; bands++ {
			try(bands)
		}
		return best, nil
	}
	for bands := 1; bands < n; {
		try(bands)
		if bands < 64 {
			bands++
		} else {
			bands += bands / 10
		}
	}
	try(p.Apart)
	try(n)
	for step := max(best/10, 1); step > 0; step /= 2 {
		from := best
		try(from - step)
		try(from + step)
	}
	return best, nil
}

// loss returns the product of sensitivity and mean error of a Toeplitz strategy whose column does not increase.
func (s Strategy) loss(p Participation) float64 {
	e, err := s.Errors()
	if err != nil {
		return math.Inf(1)
	}
	return s.earliest(p) * e.Mean
}
