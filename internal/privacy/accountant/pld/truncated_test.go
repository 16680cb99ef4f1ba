package pld

import (
	"context"
	"math"
	"testing"

	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant/terms"
	"privrec/internal/rng"
)

// cut returns a term of sums over batches of at most b of n records.
func cut(n int64, q float64, b int64, sigma float64, count int64) terms.Term {
	return terms.Term{Leaf: privacy.TruncatedGaussian{Sigma: sigma, Sensitivity: 1, Rate: q, Records: n, Most: b,
		Unit: privacy.Record, Neighbouring: privacy.AddRemove}, Count: count, Rate: 1, Relation: privacy.AddRemove}
}

// TestTruncatedAgainstDPAccounting compares with PLD.from_truncated_subsampled_gaussian_mechanism of dp_accounting
// 0.6.0 at a mesh of 1e-4, which charges a full batch as for an exchanged record: it is never below ours by more than
// its mesh, and near where batches are seldom full.
func TestTruncatedAgainstDPAccounting(t *testing.T) {
	for _, c := range []struct {
		term        terms.Term
		delta, peer float64
		near        bool
	}{
		{cut(1000, 0.1, 110, 1, 100), 1e-5, 16.672568903940647, false},
		{cut(1000, 0.1, 140, 1, 100), 1e-5, 7.072136837475921, true},
		{cut(60_000, 256.0/60_000, 300, 1.1, 2350), 1e-6, 3.164007377195576, true},
		{cut(100, 0.3, 25, 2, 10), 1e-4, 6.247057783521611, false},
		{cut(500, 0.02, 10, 0.8, 50), 1e-6, 13.355150256209695, false},
		{cut(2000, 0.05, 80, 3, 500), 1e-7, 6.518164062425401, false},
	} {
		b, err := Bracket(context.Background(), []terms.Term{c.term}, c.delta, Options{})
		if err != nil {
			t.Errorf("%+v: %v", c.term, err)
			continue
		}
		if !(b.Lower > 0 && b.Lower <= b.Upper) || b.Upper > c.peer*1.001 || c.near && b.Upper < c.peer*0.99 {
			t.Errorf("%+v: [%v, %v], dp_accounting %v", c.term.Leaf, b.Lower, b.Upper, c.peer)
		}
	}
}

// TestTruncatedHoldsBatches draws batches of six records, of which each pulls the sum its own way: delta of one release
// is below that of the bracket, by samples of the output and its true likelihoods, in both directions. Each comparison
// fails by chance with a probability of 1e-9.
func TestTruncatedHoldsBatches(t *testing.T) {
	const draws, sigma = 20_000, 0.8
	values := []float64{1, -1, -1, -1, -1, -1} // the first is removed
	for _, c := range []struct {
		q    float64
		most int
	}{{0.5, 2}, {0.3, 3}, {0.8, 4}, {0.5, 6}} {
		// The laws of the sum by all batches and all ways to cut them.
		laws := [2]map[float64]float64{}
		for side, v := range [2][]float64{values, values[1:]} {
			laws[side] = map[float64]float64{}
			for batch := range 1 << len(v) {
				var in []int
				for i := range v {
					if batch>>i&1 == 1 {
						in = append(in, i)
					}
				}
				p := math.Pow(c.q, float64(len(in))) * math.Pow(1-c.q, float64(len(v)-len(in)))
				kept := subsets(in, min(len(in), c.most))
				for _, s := range kept {
					sum := 0.0
					for _, i := range s {
						sum += v[i]
					}
					laws[side][sum] += p / float64(len(kept))
				}
			}
		}
		at := func(side int, x float64) (d float64) {
			for sum, p := range laws[side] {
				d += p * density((x-sum)/sigma)
			}
			return d
		}
		s := rng.Seed(2).Stream("batches")
		for _, epsilon := range []float64{0.1, 0.6, 1.5} {
			b, err := DeltaBracket(context.Background(),
				[]terms.Term{cut(int64(len(values)), c.q, int64(c.most), sigma, 1)}, epsilon, Options{})
			if err != nil {
				t.Fatal(err)
			}
			for from := range 2 {
				mean, square := 0.0, 0.0
				for range draws {
					u, sum := s.Float64(), 0.0
					for _, k := range sortedKeys(laws[from]) {
						if sum = k; u < laws[from][k] {
							break
						}
						u -= laws[from][k]
					}
					x := sum + sigma*s.NormFloat64()
					v := math.Max(0, 1-math.Exp(epsilon)*at(1-from, x)/at(from, x))
					mean += v / draws
					square += v * v / draws
				}
				if sd := 6 * math.Sqrt((square-mean*mean)/draws); mean-sd > b.Upper {
					t.Errorf("rate %v, at most %d, epsilon %v, direction %d: delta is %v within %v, "+
						"at most %v is certified",
						c.q, c.most, epsilon, from, mean, sd, b.Upper)
				}
			}
		}
	}
}

// subsets returns all subsets of k items of a list.
func subsets(list []int, k int) (out [][]int) {
	if k == 0 {
		return [][]int{nil}
	}
	for i := range list {
		for _, rest := range subsets(list[i+1:], k-1) {
			out = append(out, append([]int{list[i]}, rest...))
		}
	}
	return out
}

func sortedKeys(m map[float64]float64) (keys []float64) {
	for x := -9.0; x <= 9; x++ {
		if _, ok := m[x]; ok {
			keys = append(keys, x)
		}
	}
	return keys
}

// TestTruncatedBesideOthers demands the price of a Poisson sample where no batch is full, and the whole release where
// units are blanked or exchanged.
func TestTruncatedBesideOthers(t *testing.T) {
	ask := func(x terms.Term) Bounds {
		t.Helper()
		b, err := Bracket(context.Background(), []terms.Term{x}, 1e-5, Options{})
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	poisson := terms.Term{Leaf: privacy.Gaussian{Sigma: 1, Sensitivity: 1, Unit: privacy.Record,
		Neighbouring: privacy.AddRemove}, Count: 20, Rate: 0.1, Method: privacy.Poisson, Relation: privacy.AddRemove}
	want := ask(poisson)
	for _, most := range []int64{99, 100, 1 << 40} {
		if b := ask(cut(100, 0.1, most, 1, 20)); b.Upper > want.Upper*(1+1e-6) || b.Upper < want.Lower {
			t.Errorf("at most %d of 100: [%v, %v], without [%v, %v]", most, b.Lower, b.Upper, want.Lower, want.Upper)
		}
	}
	two := poisson
	two.Leaf = privacy.Gaussian{Sigma: 0.5, Sensitivity: 1, Unit: privacy.Record, Neighbouring: privacy.AddRemove}
	two.Rate = 0.3
	if b, want := ask(cut(100, 1, 30, 1, 20)), ask(two); b.Upper > want.Upper*(1+1e-6) || b.Upper < want.Lower {
		t.Errorf("30 of 100: [%v, %v], want that of twice the distance, [%v, %v]", b.Lower, b.Upper, want.Lower,
			want.Upper)
	}
	for relation, moved := range map[privacy.Neighbouring]float64{privacy.ZeroOut: 1, privacy.Replace: 2} {
		x := cut(100, 0.1, 12, 1, 20)
		e := x.Leaf.(privacy.TruncatedGaussian)
		e.Neighbouring, x.Relation = relation, relation
		x.Leaf = e
		whole := terms.Term{Leaf: privacy.Gaussian{Sigma: 1, Sensitivity: moved, Unit: privacy.Record,
			Neighbouring: relation}, Count: 20, Rate: 1, Relation: relation}
		if b, want := ask(x), ask(whole); b != want {
			t.Errorf("%s: %+v, want %+v", relation, b, want)
		}
	}
}
