package protect

import (
	"math"
	"slices"

	"privrec/internal/tensor"
)

// chooser selects positions of slates for one goroutine.
type chooser struct {
	how      string // SelectRandom, SelectSimilar or SelectDissimilar
	count    int
	weighted bool
	tau      float64
	vectors  [][]tensor.Float // by token

	order  []int32
	cosine []float64
	sum    []float64
}

func newChooser(o *Options, t, count int) *chooser {
	c := &chooser{how: o.Select, count: count, weighted: o.Weighted, tau: o.Tau, vectors: o.Vectors,
		order: make([]int32, t), cosine: make([]float64, t)}
	for _, v := range o.Vectors {
		if v != nil {
			c.sum = make([]float64, len(v))
			break
		}
	}
	return c
}

// reference returns the sum of the vectors of some items, which has the direction of their mean. known is false if no
// item has one. The sum is valid until the next call.
func (c *chooser) reference(items []int32) (sum []float64, known bool) {
	clear(c.sum)
	for _, item := range items {
		if v := c.vectors[item]; v != nil {
			known = true
			for i, x := range v {
				c.sum[i] += float64(x)
			}
		}
	}
	return c.sum, known
}

// choose returns the positions to replace, ascending, valid until the next call. It uses reference only for similarity.
func (c *chooser) choose(d dice, slate []int32, reference []float64) []int32 {
	for i := range c.order {
		c.order[i] = int32(i)
	}
	if c.how == SelectRandom {
		for i := range c.count { // of Fisher and Yates' shuffle what is needed
			j := i + int(d.below(uint64(len(c.order)-i)))
			c.order[i], c.order[j] = c.order[j], c.order[i]
		}
	} else {
		c.cosines(slate, reference)
		if c.weighted {
			c.draw(d)
		} else {
			slices.SortStableFunc(c.order, func(a, b int32) int {
				switch x, y := c.cosine[a], c.cosine[b]; {
				case x < y:
					return -1
				case x > y:
					return 1
				}
				return 0
			})
		}
	}
	at := c.order[:c.count]
	slices.Sort(at)
	return at
}

// cosines sets the score of every position: the cosine, signed so that small scores go first.
func (c *chooser) cosines(slate []int32, reference []float64) {
	norm := 0.0
	for _, x := range reference {
		norm += x * x
	}
	norm = math.Sqrt(norm)
	for i, item := range slate {
		dot, own := 0.0, 0.0
		for j, x := range c.vectors[item] {
			dot += float64(x) * reference[j]
			own += float64(x) * float64(x)
		}
		c.cosine[i] = dot / (math.Sqrt(own)*norm + cosineGuard)
		if c.how == SelectSimilar {
			c.cosine[i] = -c.cosine[i]
		}
	}
}

// draw moves count positions to the front, one after the other, each with its weight
// exp(-score/tau) among those left.
func (c *chooser) draw(d dice) {
	for i := range c.count {
		left := c.order[i:]
		least := math.Inf(1)
		for _, p := range left { // of those left the first has weight 1: their sum is never 0
			least = min(least, c.cosine[p])
		}
		sum := 0.0
		for _, p := range left {
			sum += math.Exp((least - c.cosine[p]) / c.tau)
		}
		at, u := len(left)-1, d.unit()*sum
		for j, p := range left {
			if u -= math.Exp((least - c.cosine[p]) / c.tau); u < 0 {
				at = j
				break
			}
		}
		left[0], left[at] = left[at], left[0]
	}
}
