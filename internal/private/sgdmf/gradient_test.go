package sgdmf

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"privrec/internal/privacy/mechanism/channel"
	"privrec/internal/private/release"
	"privrec/internal/rng"
	"privrec/internal/tensor"
)

// drawn is a small table of items and users' rows.
func drawn(rt *rapid.T) (f *factors, counts []float64, rows [][]int32) {
	items := rapid.IntRange(2, 8).Draw(rt, "items")
	for range items {
		counts = append(counts, rapid.Float64Range(-2, 20).Draw(rt, "count"))
	}
	for range rapid.IntRange(1, 6).Draw(rt, "users") {
		row := rapid.SliceOfNDistinct(rapid.Int32Range(0, int32(items-1)), 0, items, rapid.ID[int32]).Draw(rt, "row")
		slices.Sort(row)
		rows = append(rows, row)
	}
	c := ModelConfig{Dim: rapid.IntRange(1, 4).Draw(rt, "d"), Items: rapid.IntRange(1, items).Draw(rt, "m"),
		Unobserved: rapid.SampledFrom([]float64{0.1, 0.5, 1}).Draw(rt, "w0"), Lambda: rapid.Float64Range(0.5, 3).Draw(rt, "lambda"), Prior: 0.7}
	f = newFactors(c, counts, 1, rng.Seed(rapid.Uint64().Draw(rt, "seed")).Stream("v"))
	tensor.Scale(5, f.v.Data)
	f.join()
	return f, counts, rows
}

// loss is equation (1) at a vector u, by a plain loop.
func loss(f *factors, v [][]float64, own []int32, u []float64) float64 {
	has := map[int32]bool{}
	for _, i := range own {
		has[i] = true
	}
	sum := 0.0
	for r, i := range f.items {
		s := u[0] * float64(f.p[r])
		for k, x := range v[r] {
			s += u[k+1] * x
		}
		if has[i] {
			sum += (1 - s) * (1 - s)
		} else {
			sum += f.c.Unobserved * s * s
		}
	}
	for k, x := range u {
		if k == 0 {
			x -= f.c.Prior
		}
		sum += f.c.Lambda * x * x
	}
	return sum
}

func values(m tensor.Matrix) (out [][]float64) {
	for r := range m.Rows {
		var row []float64
		for _, x := range tensor.Row(m, r) {
			row = append(row, float64(x))
		}
		out = append(out, row)
	}
	return out
}

func widened(u []tensor.Float) (out []float64) {
	for _, x := range u {
		out = append(out, float64(x))
	}
	return out
}

// A user's vector is the minimum of equation (1): no small step in any direction lowers it.
func TestUsersVectorsAreMinima(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		f, _, rows := drawn(rt)
		w, v := newWorker(f), values(f.v)
		for _, own := range rows {
			if !w.solve(f.rows(own, nil), w.u) {
				rt.Fatal("not solved")
			}
			u := widened(w.u)
			for k := range u {
				const step = 1e-4
				u[k] += step
				up := loss(f, v, own, u)
				u[k] -= 2 * step
				down := loss(f, v, own, u)
				u[k] += step
				if slope := (up - down) / (2 * step); math.Abs(slope) > 1e-3*(1+f.c.Lambda) {
					rt.Fatalf("slope %g along coordinate %d of the vector of %v", slope, k, own)
				}
			}
		}
	})
}

// The gradients of users, unclipped, sum to the derivative of the sum of equation (1) by V, by central differences:
// equation (2), with all items as negatives and all own items contributed.
func TestGradientsSumToTheDerivative(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		f, _, rows := drawn(rt)
		all, d := make([]int32, len(f.items)), f.c.Dim
		for r := range all {
			all[r] = int32(r)
		}
		sum, us := make([]float64, len(all)*d), [][]float64{}
		w := newWorker(f)
		for _, own := range rows {
			var p part
			w.gradient(&p, own, own, all, 1)
			if len(p.rows) != len(all) || len(slices.Compact(slices.Sorted(slices.Values(p.rows)))) != len(all) {
				rt.Fatalf("rows %v of a table of %d", p.rows, len(all))
			}
			for k, x := range p.values {
				sum[int(p.rows[k/d])*d+k%d] += float64(x)
			}
			us = append(us, widened(w.u))
		}
		v := values(f.v)
		total := func() (s float64) {
			for k, own := range rows {
				s += loss(f, v, own, us[k])
			}
			return s
		}
		for r := range v {
			for k, x := range v[r] {
				const step = 1e-4
				v[r][k] = x + step
				up := total()
				v[r][k] = x - step
				if want := -(up - total()) / (4 * step); math.Abs(sum[r*d+k]-want) > 1e-3 {
					rt.Fatalf("row %d, column %d: gradients sum to %g, want %g", r, k, sum[r*d+k], want)
				}
				v[r][k] = x
			}
		}
	})
}

// Over all neighbours of small data, one user less: the others' gradients are the same to the bit, and the sum of the
// clipped ones moves by at most S, for any draw of contributions and negatives. A user contributes at most k items.
func TestOneUserMovesTheSumByTheClip(t *testing.T) {
	const clip = 0.3
	largest := 0.0
	rapid.Check(t, func(rt *rapid.T) {
		f, counts, rows := drawn(rt)
		draws := release.Draw{Items: rapid.IntRange(1, 4).Draw(rt, "k"), Weights: release.Weights(counts, f.items, 1, 0.5), Stream: rng.Seed(7).Stream("draws")}
		var negatives []int32
		for r := range f.items {
			if rapid.Bool().Draw(rt, "negative") {
				negatives = append(negatives, int32(r))
			}
		}
		sums := func(without int) (sum []float64, each map[int]string) {
			sum, each = make([]float64, len(f.v.Data)), map[int]string{}
			w := newWorker(f)
			for u, own := range rows {
				if u == without {
					continue
				}
				var p part
				some := draws.Of(fmt.Sprint("user", u), own)
				if w.gradient(&p, own, some, negatives, 2); len(some) > draws.Items {
					rt.Fatal(len(some))
				}
				each[u] = fmt.Sprint(p.rows, p.values)
				if _, err := channel.Clip(p.values, clip); err != nil {
					rt.Fatal(err)
				}
				for k, x := range p.values {
					sum[int(p.rows[k/f.c.Dim])*f.c.Dim+k%f.c.Dim] += float64(x)
				}
			}
			return sum, each
		}
		whole, all := sums(-1)
		for u := range rows {
			less, others := sums(u)
			sq := 0.0
			for k, x := range whole {
				sq += (x - less[k]) * (x - less[k])
			}
			if math.Sqrt(sq) > clip*(1+1e-12) {
				rt.Fatalf("without user %d the sum moves by %g, want at most %g", u, math.Sqrt(sq), clip)
			}
			largest = max(largest, math.Sqrt(sq)/clip)
			for k, g := range others {
				if g != all[k] {
					rt.Fatalf("without user %d the gradient of user %d is %s, with them %s", u, k, g, all[k])
				}
			}
		}
	})
	if largest < 1-1e-6 {
		t.Errorf("the sum moves by at most %g of the clip", largest)
	}
}

// Negatives are of the asked number, the same for all users, and of all items in turn.
func TestNegatives(t *testing.T) {
	f := newFactors(ModelConfig{Dim: 1, Items: 9, Lambda: 1}, make([]float64, 9), 1, rng.Stream{})
	tr := &training{f: f, negatives: rng.Seed(1).Stream("n")}
	seen := map[int32]bool{}
	for _, n := range []int{0, 1, 4, 9, 12} {
		for tr.step = range 60 {
			tr.cfg.Train.Negatives = n
			rows, times := tr.drawNegatives()
			want := n
			if n == 0 || n > 9 {
				want = 9
			}
			if len(rows) != want || times != 9/float64(want) || !slices.IsSorted(rows) {
				t.Fatalf("%d negatives: %v, weight %g", n, rows, times)
			}
			if n == 1 {
				seen[rows[0]] = true
			}
		}
	}
	if len(seen) != 9 { // 9 (8/9)^60 = 0.008: of one fixed seed
		t.Errorf("only %v were drawn", seen)
	}
}

// The items of largest counts get vectors, the others come after all of them in the order of their counts.
func TestVectorsRank(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		f, counts, rows := drawn(rt)
		users, items := f.vectors(rows, counts)
		defer tensor.Free(users)
		defer tensor.Free(items)
		order := release.Top(counts, len(counts))
		w := newWorker(f)
		for u, own := range rows {
			if !w.solve(f.rows(own, nil), w.u) {
				rt.Fatal("not solved")
			}
			last := math.Inf(1)
			for rank, i := range order {
				s := float64(tensor.Dot(tensor.Row(users, u), tensor.Row(items, int(i))))
				if r := f.place[i]; r >= 0 {
					if want := float64(tensor.Dot(w.u, tensor.Row(f.w, int(r)))); math.Abs(s-want) > 1e-4 {
						rt.Fatalf("user %d, item %d: %g, want %g", u, i, s, want)
					}
				} else if rank < len(f.items) || s >= last || s > -below/2 {
					rt.Fatalf("user %d, item %d at rank %d without a vector: %g after %g", u, i, rank, s, last)
				} else {
					last = s
				}
			}
		}
	})
}

// A user whose equations cannot be solved contributes nothing and gets the vector of a user without items. The run
// goes on as with any other: to fail would tell of the user's row.
func TestUnsolvedUserContributesNothing(t *testing.T) {
	for name, spoil := range map[string]func(f *factors){
		"not positive definite": func(f *factors) { f.c.Lambda = -1e6 },
		"not finite":            func(f *factors) { f.v.Data[0] = tensor.Float(math.Inf(1)) },
	} {
		c := ModelConfig{Dim: 2, Items: 4, Unobserved: 0.1, Lambda: 1, Prior: 0.7}
		f := newFactors(c, []float64{5, 4, 3, 2}, 1, rng.Seed(1).Stream("v"))
		spoil(f)
		f.join()
		w, p := newWorker(f), part{rows: []int32{1}, values: []tensor.Float{1, 1}}
		if w.gradient(&p, []int32{0, 1}, []int32{0, 1}, []int32{2}, 1); len(p.rows) != 0 || len(p.values) != 0 {
			t.Errorf("%s: the gradient has rows %v, values %v", name, p.rows, p.values)
		}
		users, items := f.vectors([][]int32{{0, 1}, nil}, []float64{5, 4, 3, 2})
		if got := tensor.Row(users, 0); !slices.Equal(got, []tensor.Float{tensor.Float(c.Prior), 0, 0, 1}) {
			t.Errorf("%s: the user's vector is %v", name, got)
		}
		tensor.Free(users)
		tensor.Free(items)
	}
}
