package optim

import (
	"fmt"
	"math"
	"sync"

	"privrec/internal/autograd"
	"privrec/internal/tensor"
)

// AdamLazy takes the same steps as Adam, up to rounding, but takes the steps of a row without a gradient only when the
// row is next read. It saves the pass over the whole table if a batch reads little of it; it is faster if a row is read
// less than about once in a hundred steps.
//
// Rows must be brought up to date before they are read: set Tape.BeforeRead to Touch, and call Flush before parameters
// are read in any other way (evaluation without a tape, saving a model). Step returns an error for a row that was read
// before it was up to date.
type AdamLazy struct {
	Beta1, Beta2 float64 // as in Adam
	Eps          float64
	L2           float64
	EpsHat       bool // as in Adam

	memory
	rates []rate
	coefs [coefWindow]tensor.AdamCoef // of the last steps, by step modulo the window

	catching sync.Mutex // held by Touch
	late     []int32    // rows in arrears
	since    []int32    // the steps that they are up to date with
}

// rate records the learning rate lr from a step on.
type rate struct {
	step int
	lr   float64
}

const coefWindow = 4096

// NewAdamLazy returns AdamLazy with betas 0.9 and 0.999, eps 1e-8 and the given weight decay.
func NewAdamLazy(l2 float64) *AdamLazy {
	return &AdamLazy{Beta1: 0.9, Beta2: 0.999, Eps: 1e-8, L2: l2}
}

func (a *AdamLazy) init() error {
	if !(a.Beta1 >= 0 && a.Beta1 < 1 && a.Beta2 >= 0 && a.Beta2 < 1 && a.Eps > 0 && a.L2 >= 0) {
		return fmt.Errorf("optim: lazy adam with betas %v and %v, eps %v, l2 %v", a.Beta1, a.Beta2, a.Eps, a.L2)
	}
	a.prefix, a.pair, a.lazy = "adamlazy", true, true
	return nil
}

// coef returns the coefficients of a past step.
func (a *AdamLazy) coef(step int) tensor.AdamCoef {
	if step > a.steps-coefWindow {
		return a.coefs[step%coefWindow]
	}
	return a.coefAt(step)
}

func (a *AdamLazy) coefAt(step int) tensor.AdamCoef {
	k := len(a.rates) - 1
	for a.rates[k].step > step {
		k--
	}
	return tensor.NewAdamCoef(a.rates[k].lr, a.Beta1, a.Beta2, epsAt(a.Eps, a.Beta2, step, a.EpsHat), a.L2, step)
}

// Touch brings rows of p up to date with all steps taken so far; nil stands for all rows. Its type is
// that of Tape.BeforeRead. Several tapes may call it at the same time: a row changes at most once
// between two steps, before any of the tapes reads it.
func (a *AdamLazy) Touch(p *autograd.Param, rows []int32) {
	a.catching.Lock()
	defer a.catching.Unlock()
	s := a.slots[p.Name]
	if s == nil || s.last == nil || s.a.Rows != p.Value.Rows || s.a.Cols != p.Value.Cols {
		return // no step yet; a state of another shape is for Step to report
	}
	a.late, a.since = a.late[:0], a.since[:0]
	late := func(r int32) {
		if int(s.last[r]) < a.steps {
			a.late, a.since = append(a.late, r), append(a.since, s.last[r])
			s.last[r] = int32(a.steps)
		}
	}
	if rows == nil {
		for r := range s.last {
			late(int32(r))
		}
	}
	for _, r := range rows {
		if uint(r) < uint(len(s.last)) { // the look-up itself reports the others
			late(r)
		}
	}
	if len(a.late) == 0 || s.a.Cols == 0 {
		return
	}
	tensor.Parallel(len(a.late), max(1, 1024/s.a.Cols), func(_, lo, hi int) {
		var old [stillEvery]tensor.AdamCoef
		for k := lo; k < hi; k++ {
			s.fetch(p, a.late[min(k+1, hi):min(k+2, hi)])
			r := int(a.late[k])
			a.catchUp(tensor.Row(p.Value, r), tensor.Row(s.a, r), tensor.Row(s.b, r), int(a.since[k]), &old)
		}
	})
}

// fetch prefetches rows of p and of its moments into the caches of the core.
func (s *slot) fetch(p *autograd.Param, rows []int32) {
	tensor.Fetch(p.Value, rows)
	tensor.Fetch(s.a, rows)
	tensor.Fetch(s.b, rows)
}

// catchUp applies steps last+1 to the present with a zero gradient. Once the weights no longer move, only the moments
// are left to decay. old is scratch.
func (a *AdamLazy) catchUp(w, m, v []tensor.Float, last int, old *[stillEvery]tensor.AdamCoef) {
	for k := last + 1; k <= a.steps; {
		gone := k - last - 1
		if a.ended(m, v, k, gone) {
			return
		}
		if a.L2 != 0 {
			for lo := 0; lo < len(w); lo += unitFloats {
				hi := min(len(w), lo+unitFloats)
				tensor.AdamStep(w[lo:hi], zeros[:hi-lo], m[lo:hi], v[lo:hi], a.coef(k))
			}
			k++
			continue
		}
		c := a.coefsFrom(k, min(a.steps-k+1, stillEvery-gone%stillEvery), old)
		tensor.AdamIdle(w, m, v, c, a.slack(k, c[0]))
		k += len(c)
	}
}

// coefsFrom returns the coefficients of n past steps, from step k on. They are a part of the window, or if that is not
// possible, in old.
func (a *AdamLazy) coefsFrom(k, n int, old *[stillEvery]tensor.AdamCoef) []tensor.AdamCoef {
	if at := k % coefWindow; k > a.steps-coefWindow && at+n <= coefWindow {
		return a.coefs[at : at+n]
	}
	for i := range n {
		old[i] = a.coef(k + i)
	}
	return old[:n]
}

// stillEvery is the number of steps without a gradient between two tests of the first moments.
const stillEvery = 64

// ended reports whether, before step k, the gone-th without a gradient, nothing moves the weights any more and the
// first moment has decayed to zero. Then only the second moment is left, in closed form.
func (a *AdamLazy) ended(m, v []tensor.Float, k, gone int) bool {
	if a.L2 != 0 || gone%stillEvery != 0 || !still(m) {
		return false
	}
	tensor.Scale(tensor.Float(math.Pow(a.Beta2, float64(a.steps-k+1))), v)
	return true
}

// slack returns a factor for the update of a step from k on: a weight that the multiplied update does not move stays
// the same until the present, to the bit. c is of step k. With a zero gradient an update is at most
//
//	(Beta1/sqrt(Beta2))^(j-i) / sqrt(1-Beta2^i)
//
// times that of step i at every later step j of the same learning rate: the first moment decays, the root of the second
// one more slowly, and the corrections of the bias only fall. The factor leaves room for rounding. If the bound does
// not hold, slack is infinite.
func (a *AdamLazy) slack(k int, c tensor.AdamCoef) tensor.Float {
	if a.Beta1*a.Beta1 > a.Beta2 || a.Eps < restEps || a.rates[len(a.rates)-1].step > k {
		return tensor.Float(math.Inf(1))
	}
	return 1.01 * c.RootScale
}

// restEps is the least Eps that hides the flushing of a second moment to zero.
const restEps = 1e-15

// still reports whether m is zero. Squares in float64 do not vanish before the elements do.
func still(m []tensor.Float) bool { return tensor.SumSq(m) == 0 }

// Flush brings all rows of the given parameters up to date.
func (a *AdamLazy) Flush(params []*autograd.Param) {
	for _, p := range params {
		a.Touch(p, nil)
	}
}

// Step implements Optimizer.
func (a *AdamLazy) Step(params []*autograd.Param, g *autograd.Grads, lr float64) error {
	if err := a.init(); err != nil {
		return err
	}
	if err := a.check(params, g, lr); err != nil {
		return err
	}
	for _, p := range params {
		s := a.slot(p)
		if s.last == nil {
			s.last = make([]int32, p.Value.Rows)
			for r := range s.last {
				s.last[r] = int32(a.steps) // a new parameter has missed nothing
			}
		}
		_, dense := g.Dense(p)
		rows, _, _ := g.Sparse(p)
		for _, r := range rows {
			if int(s.last[r]) != a.steps {
				return fmt.Errorf("optim: row %d of %q was read in arrears (see AdamLazy.Touch)", r, p.Name)
			}
		}
		if dense {
			for r, k := range s.last {
				if int(k) != a.steps {
					return fmt.Errorf("optim: row %d of %q was read in arrears (see AdamLazy.Touch)", r, p.Name)
				}
			}
		}
	}
	a.steps++
	if n := len(a.rates); n == 0 || a.rates[n-1].lr != lr {
		a.rates = append(a.rates, rate{a.steps, lr})
	}
	coef := a.coefAt(a.steps)
	a.coefs[a.steps%coefWindow] = coef
	a.each(params, g, func(u *unit) {
		s, cols := u.slot, u.slot.a.Cols
		if u.g.Data != nil {
			u.spans(func(w, g, m, v []tensor.Float) { tensor.AdamStep(w, g, m, v, coef) })
			for r := u.lo; r < u.hi; r++ {
				s.last[r] = int32(a.steps)
			}
			return
		}
		for k, r := range u.rows {
			s.fetch(s.p, u.rows[min(k+1, len(u.rows)):min(k+2, len(u.rows))])
			o := int(r) * cols
			tensor.AdamStep(tensor.Row(s.p.Value, int(r)), tensor.Row(u.vals, k), s.a.Data[o:o+cols],
				s.b.Data[o:o+cols], coef)
			s.last[r] = int32(a.steps)
		}
	})
	return nil
}

// State implements Optimizer. It does not bring rows up to date: call Flush first if the parameters are saved for use
// without this optimiser.
func (a *AdamLazy) State() []NamedTensor {
	a.prefix, a.pair, a.lazy = "adamlazy", true, true
	rates := tensor.New(len(a.rates), 8)
	for i, r := range a.rates {
		digits(tensor.Row(rates, i), uint64(r.step))
		digits(tensor.Row(rates, i)[4:], math.Float64bits(r.lr))
	}
	return append(a.memory.State(), NamedTensor{Name: "adamlazy.rates", Value: rates})
}

// Load implements Optimizer.
func (a *AdamLazy) Load(state []NamedTensor) error {
	if err := a.init(); err != nil {
		return err
	}
	n := len(state) - 1
	if n < 0 || state[n].Name != "adamlazy.rates" || state[n].Value.Rows > 0 && state[n].Value.Cols != 8 {
		return fmt.Errorf("optim: state does not end with adamlazy.rates")
	}
	var rates []rate
	for i := range state[n].Value.Rows {
		row := tensor.Row(state[n].Value, i)
		step, err1 := number(row)
		bits, err2 := number(row[4:])
		lr := math.Float64frombits(bits)
		if err1 != nil || err2 != nil || !(lr >= 0) || i == 0 && step != 1 || i > 0 && int(step) <= rates[i-1].step {
			return fmt.Errorf("optim: state adamlazy.rates: row %d is not a learning rate", i)
		}
		rates = append(rates, rate{int(step), lr})
	}
	if err := a.memory.Load(state[:n]); err != nil {
		return err
	}
	if a.rates = rates; a.steps > 0 && len(rates) == 0 {
		return fmt.Errorf("optim: state adamlazy.rates is empty after %d steps", a.steps)
	}
	for k := max(1, a.steps-coefWindow+1); k <= a.steps; k++ {
		a.coefs[k%coefWindow] = a.coefAt(k)
	}
	return nil
}
