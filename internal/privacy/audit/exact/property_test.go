package exact

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

// table is a mechanism by its probabilities: row i holds the weights of the outputs
// of input i.
type table [][]*big.Rat

func (m table) mechanism() Mechanism[int, int] {
	return func(in int, c *Choices) int { return c.Choose(m[in]...) }
}

// odds are the probabilities of a row.
func (m table) odds(in int) []*big.Rat {
	sum := new(big.Rat)
	for _, w := range m[in] {
		sum.Add(sum, w)
	}
	p := make([]*big.Rat, len(m[in]))
	for i, w := range m[in] {
		p[i] = new(big.Rat).Quo(w, sum)
	}
	return p
}

func drawTable(t *rapid.T, inputs, outputs int) table {
	m := make(table, inputs)
	for i := range m {
		for range outputs {
			m[i] = append(m[i], rat(rapid.Int64Range(1, 30).Draw(t, "weight"), rapid.Int64Range(1, 7).Draw(t, "of")))
		}
	}
	return m
}

// worst is the largest ratio of any two rows of a table, by hand.
func (m table) worst() *big.Rat {
	w := new(big.Rat)
	for i := range m {
		for j := range m {
			p, q := m.odds(i), m.odds(j)
			for o := range p {
				if r := new(big.Rat).Quo(p[o], q[o]); i != j && r.Cmp(w) > 0 {
					w = r
				}
			}
		}
	}
	return w
}

func find(t *rapid.T, m Mechanism[int, int], inputs int) Finding[int, int] {
	list := make([]int, inputs)
	for i := range list {
		list[i] = i
	}
	f, err := Verify(m, []Class[int]{{Name: "any", Pairs: Pairs(list), Claim: rat(1, 1)}}, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return f[0]
}

// Any mechanism on few inputs: the finding is the largest ratio there is, and it is
// where the finding says.
func TestVerifyAnyTable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawTable(t, rapid.IntRange(2, 4).Draw(t, "inputs"), rapid.IntRange(1, 5).Draw(t, "outputs"))
		f := find(t, m.mechanism(), len(m))
		if want := m.worst(); f.Worst == nil || f.Worst.Cmp(want) != 0 {
			t.Fatalf("%v: worst ratio %v, want %v", m, f.Worst, want)
		}
		p, q := m.odds(f.A)[f.Output], m.odds(f.B)[f.Output]
		if r := new(big.Rat).Quo(p, q); r.Cmp(f.Worst) != 0 {
			t.Fatalf("output %d from %d against %d has ratio %v, not %v", f.Output, f.A, f.B, r, f.Worst)
		}
		if e := f.Epsilon(); !(e >= 0) || math.Abs(e-logRat(f.Worst)) > 1e-12*(1+e) {
			t.Fatalf("epsilon %v of ratio %v", e, f.Worst)
		}
	})
}

// What is done to an output afterwards tells no more; what can be undone tells as
// much; two answers tell at most both, and exactly both if they are independent.
func TestVerifyLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawTable(t, 2, rapid.IntRange(2, 4).Draw(t, "outputs"))
		n := len(m[0])
		one := find(t, m.mechanism(), 2).Worst

		coarse := find(t, func(in int, c *Choices) int { return m.mechanism()(in, c) / 2 }, 2).Worst
		if coarse.Cmp(one) > 0 {
			t.Fatalf("outputs put together tell %v, before %v", coarse, one)
		}
		renamed := find(t, func(in int, c *Choices) int { return 7 * (n - m.mechanism()(in, c)) }, 2).Worst
		if renamed.Cmp(one) != 0 {
			t.Fatalf("other names tell %v, not %v", renamed, one)
		}
		noisy := find(t, func(in int, c *Choices) int { return (m.mechanism()(in, c) + c.Below(2)) % n }, 2).Worst
		if noisy.Cmp(one) > 0 {
			t.Fatalf("with noise after it %v, before %v", noisy, one)
		}
		twice := find(t, func(in int, c *Choices) int { return n*m.mechanism()(in, c) + m.mechanism()(in, c) }, 2).Worst
		if twice.Cmp(Power(one, 2)) != 0 {
			t.Fatalf("two answers tell %v, one %v", twice, one)
		}
		// A second mechanism chosen by the first answer.
		other := drawTable(t, 2, 2)
		adaptive := find(t, func(in int, c *Choices) int {
			first := m.mechanism()(in, c)
			if first%2 == 0 {
				return 2 * first
			}
			return 2*first + other.mechanism()(in, c)
		}, 2).Worst
		if adaptive.Cmp(new(big.Rat).Mul(one, other.worst())) > 0 {
			t.Fatalf("an adaptive second answer tells %v, apart %v and %v", adaptive, one, other.worst())
		}
	})
}

// Refusing and drawing again is conditioning: the law is that of the outcomes that
// are accepted.
func TestAgainIsConditioning(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawTable(t, 1, 5)
		accept := make([]bool, 5)
		total := new(big.Rat)
		for i := range accept {
			if accept[i] = rapid.Bool().Draw(t, "accept") || i == 0; accept[i] {
				total.Add(total, m[0][i])
			}
		}
		law, err := Enumerate(func(c *Choices) int {
			for {
				v := c.Choose(m[0]...)
				if accept[v] {
					return v
				}
				c.Again()
			}
		}, Limits{})
		if err != nil {
			t.Fatal(err)
		}
		for i, yes := range accept {
			want := new(big.Rat)
			if yes {
				want.Quo(m[0][i], total)
			}
			got := law[i]
			if got == nil {
				got = new(big.Rat)
			}
			if got.Cmp(want) != 0 {
				t.Fatalf("outcome %d: %v, want %v", i, got, want)
			}
		}
		if law.Total().Cmp(rat(1, 1)) != 0 {
			t.Fatalf("the law has mass %v", law.Total())
		}
	})
}

// A probability of zero on one side only is unbounded, however small the other.
func TestUnboundedIsFound(t *testing.T) {
	tiny := new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Lsh(big.NewInt(1), 4000))
	rapid.Check(t, func(t *rapid.T) {
		m := drawTable(t, 3, 4)
		in, out := rapid.IntRange(0, 2).Draw(t, "in"), rapid.IntRange(0, 3).Draw(t, "out")
		m[in][out] = tiny
		if f := find(t, m.mechanism(), 3); f.Worst == nil || !(f.Epsilon() > 2700) {
			t.Fatalf("a probability of 2^-4000: %v", f)
		}
		m[in][out] = new(big.Rat)
		f := find(t, m.mechanism(), 3)
		if f.Worst != nil || f.Holds() || f.Tight() || !math.IsInf(f.Epsilon(), 1) || f.B != in || f.Output != out {
			t.Fatalf("no probability at all: %v", f)
		}
	})
}
