package doctor

import (
	"fmt"
	"math"
	"runtime"
	"slices"

	"privrec/internal/rng"
	"privrec/internal/tensor"
)

// threads compares results with one thread and with all, on shapes large enough to be divided.
func threads(j *judge) {
	before := tensor.Workers()
	defer tensor.SetWorkers(before)
	all := max(2, runtime.GOMAXPROCS(0))
	for _, work := range []struct {
		name string
		do   func() []tensor.Float
	}{
		{"product", func() []tensor.Float {
			c := tensor.New(257, 401)
			tensor.Gemm(false, true, 1, matrix("wide", 257, 150), matrix("tall", 401, 150), 0, c)
			return c.Data
		}},
		{"long product", func() []tensor.Float {
			c := tensor.New(37, 41)
			tensor.Gemm(true, false, 1, matrix("deep", 3001, 37), matrix("deeper", 3001, 41), 0, c)
			return c.Data
		}},
		{"rows to a norm", func() []tensor.Float {
			m := matrix("rows", 1025, 67)
			tensor.NormalizeRows(m, m, 0.2, 1e-12, nil)
			return m.Data
		}},
		{"noise", func() []tensor.Float {
			m := tensor.New(333, 65)
			s := rng.Seed(3).Stream("doctor")
			tensor.Parallel(m.Rows, 8, func(_, lo, hi int) {
				row := make([]float32, m.Cols)
				for i := lo; i < hi; i++ {
					own := s.Sub(uint64(i))
					own.Normals32(row)
					for k, z := range row {
						tensor.Row(m, i)[k] = tensor.Float(z)
					}
				}
			})
			return m.Data
		}},
	} {
		tensor.SetWorkers(1)
		one := work.do()
		for _, n := range []int{2, all} {
			tensor.SetWorkers(n)
			j.same(fmt.Sprintf("%s, %d threads", work.name, n), one, work.do())
		}
	}
}

// recorded has the normals 0, 1, 63, 64, 65 and 999 of rng.Seed(1).Stream("doctor") as plain Go
// draws them, and the uniforms of the same numbers.
var recorded = []struct {
	at      int
	normal  float64
	uniform float64
}{
	{0, -0.6171156764030457, 0.7680959701538086},
	{1, 0.2680239975452423, 0.8300824165344238},
	{63, -0.7245661020278931, 0.5634400844573975},
	{64, -0.8137529492378235, 0.7167373895645142},
	{65, 0.3861026465892792, 0.6348538398742676},
	{999, -1.6095446348190308, 0.25745999813079834},
}

// random tests bulk normals and uniforms. The bounds of the moments are six standard deviations
// of the estimate. The values are always the same, so a false alarm cannot come and go.
func random(j *judge) {
	const n = 1 << 18
	z, u := make([]float32, n), make([]float32, n)
	s := rng.Seed(1).Stream("doctor")
	s.Normals32(z)
	s = rng.Seed(1).Stream("doctor")
	s.Uniforms(u)
	for _, r := range recorded {
		j.is(math.Abs(float64(z[r.at])-r.normal) <= 1e-5*(1+math.Abs(r.normal)), "normal %d is %v, plain Go draws %v",
			r.at, z[r.at], r.normal)
		j.is(float64(u[r.at]) == r.uniform, "uniform %d is %v, plain Go draws %v", r.at, u[r.at], r.uniform)
	}
	var m [5]float64 // raw moments
	for _, x := range z {
		p := 1.0
		for k := range m {
			m[k] += p / n
			p *= float64(x)
		}
	}
	for _, c := range []struct {
		name           string
		got, want, std float64 // std is the standard deviation of one draw's contribution
	}{
		{"mean", m[1], 0, 1}, {"variance", m[2], 1, math.Sqrt(2)}, {"third moment", m[3], 0, math.Sqrt(15)},
		{"fourth moment", m[4], 3, math.Sqrt(96)},
	} {
		share := math.Abs(c.got-c.want) / (6 * c.std / math.Sqrt(n))
		j.is(share <= 1, "%s of %d normals is %v, want %v", c.name, n, c.got, c.want)
		j.Worst = max(j.Worst, share)
	}
	// The kernel that adds noise draws the same values as the one that fills.
	added, want := slices.Repeat([]float32{0.5}, 1000), make([]float32, 1000)
	s = rng.Seed(1).Stream("doctor")
	s.AddNormals32(added, 0.25)
	for i := range want {
		want[i] = 0.5 + 0.25*z[i]
		j.Cases++
		if d := math.Abs(float64(added[i] - want[i])); !(d <= 1e-6) {
			j.fail(fmt.Sprintf("added normal %d gives %v, want %v", i, added[i], want[i]))
			return
		}
	}
}
