package doctor

import (
	"fmt"
	"math"
	"unsafe"

	"privrec/internal/rng"
	"privrec/internal/tensor"
)

// Test is the result of one family of kernels.
type Test struct {
	Name  string  `json:"name"`
	OK    bool    `json:"ok"`
	Cases int     `json:"cases"`
	Worst float64 `json:"worst"`           // largest error divided by the allowed one: at most 1 if all cases pass
	Fault string  `json:"fault,omitempty"` // the first case that failed
	Means string  `json:"compared_with"`   // what the results are compared with
}

// family is a set of kernels that are tested together. run passes every result to the judge.
type family struct {
	name  string
	means string
	run   func(j *judge)
}

// judge collects the results of a family's cases.
type judge struct{ Test }

// epsilon is the distance from 1 to the next number of the build's element type.
var epsilon = map[uintptr]float64{4: 0x1p-23, 8: 0x1p-52}[unsafe.Sizeof(tensor.Float(0))]

// allowed is the largest error of a kernel, in units of epsilon times the sum of the sizes of the terms. Sums of the
// 100 to 300 terms here stay far below it; a wrong element is far above.
const allowed = 64

// near compares values with their float64 counterparts. scale(i) is the sum of the sizes of the
// terms of element i.
func (j *judge) near(what string, got []tensor.Float, want []float64, scale func(i int) float64) {
	j.Cases++
	if len(got) != len(want) {
		j.fail(fmt.Sprintf("%s: %d values, want %d", what, len(got), len(want)))
		return
	}
	for i, w := range want {
		share := math.Abs(float64(got[i])-w) / (allowed * epsilon * (scale(i) + 1e-3))
		if !(share <= 1) { // also for NaN
			j.fail(fmt.Sprintf("%s: element %d is %v, want %v", what, i, got[i], w))
		}
		if share > j.Worst {
			j.Worst = share
		}
	}
}

// same compares bits.
func (j *judge) same(what string, a, b []tensor.Float) {
	j.Cases++
	for i := range a {
		if math.Float64bits(float64(a[i])) != math.Float64bits(float64(b[i])) {
			j.fail(fmt.Sprintf("%s: element %d is %v with one thread, %v with all", what, i, a[i], b[i]))
			return
		}
	}
}

// is records a condition.
func (j *judge) is(ok bool, format string, args ...any) {
	j.Cases++
	if !ok {
		j.fail(fmt.Sprintf(format, args...))
	}
}

func (j *judge) fail(fault string) {
	j.OK = false
	if j.Fault == "" {
		j.Fault = fault
	}
}

// test runs the family. A panic of a kernel counts as a fault.
func (f family) test() (t Test) {
	j := &judge{Test{Name: f.name, Means: f.means, OK: true}}
	defer func() {
		if p := recover(); p != nil {
			j.fail(fmt.Sprintf("panic: %v", p))
		}
		t = j.Test
	}()
	f.run(j)
	return j.Test
}

// families lists all families.
func families() []family {
	const loops = "plain float64 loops"
	return []family{
		{"matrix products", loops, products},
		{"sparse products", loops, sparse},
		{"vectors", loops, vectors},
		{"functions", loops, functions},
		{"row norms", loops, rowNorms},
		{"optimiser", loops, adam},
		{"one thread and all", "each other, bit by bit", threads},
		{"random numbers", "moments and values recorded from plain Go", random},
	}
}

// lengths has values near every width of a vector register; none divides the next.
var lengths = []int{0, 1, 3, 7, 8, 9, 15, 16, 17, 31, 33, 63, 65, 127, 129, 300}

// draws returns reproducible values in [-2, 2), with some exact zeros.
func draws(name string, n int) []tensor.Float {
	s := rng.Seed(1).Stream("doctor/"+name, uint64(n))
	x := make([]tensor.Float, n)
	for i := range x {
		if x[i] = tensor.Float(4*s.Float64() - 2); s.IntN(16) == 0 {
			x[i] = 0
		}
	}
	return x
}

func matrix(name string, rows, cols int) tensor.Matrix {
	return tensor.From(rows, cols, draws(fmt.Sprint(name, rows, "x", cols), rows*cols))
}

// at returns op(m)[i,k].
func at(m tensor.Matrix, transposed bool, i, k int) float64 {
	if transposed {
		i, k = k, i
	}
	return float64(m.Data[i*m.Stride+k])
}
