package gram

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"privrec/internal/private/release"
	"privrec/internal/rng"
	"privrec/internal/tensor"
)

// people are small data.
type people struct {
	ids  []string
	rows [][]int32
}

func drawPeople(rt *rapid.T, items int) (p people) {
	for u := range rapid.IntRange(1, 6).Draw(rt, "users") {
		row := rapid.SliceOfNDistinct(rapid.Int32Range(0, int32(items-1)), 0, items, rapid.ID[int32]).Draw(rt, "row")
		slices.Sort(row)
		p.ids, p.rows = append(p.ids, fmt.Sprint("u", u)), append(p.rows, row)
	}
	return p
}

func (p people) without(u int) people {
	return people{slices.Delete(slices.Clone(p.ids), u, u+1), slices.Delete(slices.Clone(p.rows), u, u+1)}
}

// drawPlan draws a plan on some of 7 items, with the draw of contributions that goes with it.
func drawPlan(rt *rapid.T) (*Plan, release.Draw) {
	const items = 7
	rows := rapid.SliceOfNDistinct(rapid.Int32Range(0, items-1), 2, items, rapid.ID[int32]).Draw(rt, "items")
	slices.Sort(rows)
	weights := make([]float64, len(rows))
	for r := range weights {
		weights[r] = rapid.SampledFrom([]float64{1, 1, 0.3, 2.7, 1e-3}).Draw(rt, "weight")
	}
	if rapid.Bool().Draw(rt, "alike") {
		for r := range weights {
			weights[r] = 1
		}
	}
	k := rapid.IntRange(1, 5).Draw(rt, "k")
	p := newPlan(rows, weights, k, rapid.SampledFrom([]float64{1, 1, 0.5, 0}).Draw(rt, "a"))
	counts := []float64{9, 4, 4, 3, 2, 2, 1}
	return p, release.Draw{Items: k, Weights: release.Weights(counts, rows, 1, 0.5), Stream: rng.Seed(rapid.Uint64().Draw(rt, "seed")).Stream("draw")}
}

// Over all neighbours of small data, the released numbers move by at most the stated sensitivity. The
// distance is that of the numbers in the machine, in whole steps, which are exact. For each
// exponent and some plans they move by all of it, up to a step in an entry.
func TestMatrixMovesByItsSensitivity(t *testing.T) {
	largest := map[float64]float64{}
	rapid.Check(t, func(rt *rapid.T) {
		p, draw := drawPlan(rt)
		data := drawPeople(rt, 7)
		whole := p.triangle(draw.All(data.ids, data.rows))
		limit := p.Sum.Sensitivity / p.Sum.Grid
		for u := range data.ids {
			less := data.without(u)
			moved, entries := 0.0, 0
			for e, v := range p.triangle(draw.All(less.ids, less.rows)) {
				steps := (whole[e] - v) / p.Sum.Grid
				if steps != math.Trunc(steps) || steps < 0 {
					rt.Fatalf("without user %d entry %d falls by %g steps", u, e, steps)
				}
				if moved += steps * steps; steps > 0 {
					entries++
				}
			}
			if moved > limit*limit {
				rt.Fatalf("without user %d the matrix moves by %.17g steps, want at most %.17g", u, math.Sqrt(moved), limit)
			}
			if entries > p.Sum.Dimension {
				rt.Fatalf("without user %d there are %d other entries, want at most %d", u, entries, p.Sum.Dimension)
			}
			largest[p.Exponent] = max(largest[p.Exponent], math.Sqrt(moved)/limit)
		}
	})
	for _, a := range []float64{0, 0.5, 1} {
		if largest[a] < 1-1e-4 {
			t.Errorf("user_weight %g: the matrix moves by at most %g of the stated sensitivity", a, largest[a])
		}
	}
}

// The entries are those of the definition, up to a step for each user.
func TestMatrixIsTheDefinition(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p, draw := drawPlan(rt)
		data := drawPeople(rt, 7)
		contributed := draw.All(data.ids, data.rows)
		r := released{items: p.Items, triangle: p.triangle(contributed)}
		got := r.full()
		want := newSquare(len(p.Items))
		for _, list := range contributed {
			z := make([]float64, len(p.Items))
			for _, i := range list {
				k := slices.Index(p.Items, i)
				z[k] = p.Weights[k]
			}
			n := 0.0
			for i, a := range z {
				for _, b := range z[i:] {
					n += a * b * a * b
				}
			}
			if n == 0 {
				continue
			}
			for i, a := range z {
				for j, b := range z {
					want.row(i)[j] += a * b * math.Pow(math.Sqrt(n), -p.Exponent)
				}
			}
		}
		for e, v := range want.x {
			if math.Abs(v-got.x[e]) > 1.01*p.Sum.Grid*float64(len(contributed))+1e-12 {
				rt.Fatalf("entry %d is %g, want %g", e, got.x[e], v)
			}
		}
	})
}

// The bound without item weights is that of the package comment, and at most the one of the whole matrix.
func TestSensitivityFormula(t *testing.T) {
	ones := slices.Repeat([]float64{1}, 60)
	items := make([]int32, 60)
	for i := range items {
		items[i] = int32(i)
	}
	for _, k := range []int{1, 2, 10, 50} {
		for _, a := range []float64{0, 0.5, 1} {
			got := newPlan(items, ones, k, a).Sum.Sensitivity
			if want := math.Pow(float64(k*(k+1))/2, (1-a)/2); math.Abs(got/want-1) > 1e-12 || got > math.Pow(float64(k), 1-a)*(1+1e-12) {
				t.Errorf("k %d, a %g: %g, want %g", k, a, got, want)
			}
		}
	}
}

// Neither the order of the users nor the number of workers changes a bit.
func TestMatrixIsExact(t *testing.T) {
	var data people
	s := rng.Seed(4).Stream("rows")
	for u := range 300 {
		row := s.Perm(40)[:1+s.IntN(30)]
		slices.Sort(row)
		data.ids, data.rows = append(data.ids, fmt.Sprint(u)), append(data.rows, row)
	}
	items, weights := make([]int32, 40), make([]float64, 40)
	for i := range items {
		items[i], weights[i] = int32(i), 1/float64(i+1)
	}
	p := newPlan(items, weights, 20, 1)
	contributed := release.Draw{Items: 20, Stream: rng.Seed(1).Stream("draw")}.All(data.ids, data.rows)
	want := p.triangle(contributed)
	slices.Reverse(contributed)
	defer tensor.SetWorkers(tensor.Workers())
	for _, n := range []int{1, 3} {
		tensor.SetWorkers(n)
		if !slices.Equal(p.triangle(contributed), want) {
			t.Errorf("%d workers: other bits", n)
		}
	}
}

// Terms that are added up user by user, in two groups, are those of one machine, to the bit.
func TestTermsAreTheTriangle(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p, draw := drawPlan(rt)
		data := drawPeople(rt, 7)
		contributed := draw.All(data.ids, data.rows)
		a, b := p.Terms(), p.Terms()
		for u, list := range contributed {
			if err := []*Terms{a, b}[u%2].Add(list); err != nil {
				rt.Fatal(err)
			}
		}
		for k, n := range b.Steps {
			a.Steps[k] += n
		}
		if got := p.Triangle(a.Steps); !slices.Equal(got, p.triangle(contributed)) {
			rt.Fatalf("%v, want %v", got, p.triangle(contributed))
		}
	})
	p := newPlan([]int32{2, 5}, []float64{1, 1}, 1, 1)
	for _, bad := range [][]int32{{2, 5}, {3}} {
		if p.Terms().Add(bad) == nil {
			t.Errorf("a user contributed %v", bad)
		}
	}
}
