package bench

import (
	"context"
	"fmt"
	"strings"
	"time"

	"privrec/internal/tensor"
)

// Product is a dense product to measure: C = op(A) op(B), M x N with inner dimension K.
type Product struct {
	Name    string
	TA, TB  bool
	M, N, K int
}

// Shape returns the form and sizes, such as "NT 100x2810x100".
func (p Product) Shape() string {
	form := map[bool]string{false: "N", true: "T"}
	return fmt.Sprintf("%s%s %dx%dx%d", form[p.TA], form[p.TB], p.M, p.N, p.K)
}

// forms returns a product and its two gradients: C = A op(B), dA, dB.
func forms(name string, tB bool, m, n, k int) []Product {
	if tB {
		return []Product{{name + "_fwd", false, true, m, n, k}, {name + "_dX", false, false, m, k, n},
			{name + "_dW", true, false, n, k, m}}
	}
	return []Product{{name + "_fwd", false, false, m, n, k}, {name + "_dX", false, true, m, k, n},
		{name + "_dW", true, false, k, n, m}}
}

// Products returns the shapes in which the models here spend their time: the softmax over a
// small and a large catalogue (sess, sessL: sessions; trf, trfL: transformers), linear layers,
// the layers of DIPSGNN, and some squares.
func Products() []Product {
	var all []Product
	all = append(all, forms("sess", true, 100, 2810, 100)...)
	all = append(all, forms("sessL", true, 100, 98226, 100)...)
	all = append(all, forms("trf", true, 256, 65000, 128)...)
	all = append(all, forms("trfL", true, 1024, 35000, 128)...)
	all = append(all, forms("lin", false, 5000, 100, 150)...)
	all = append(all, forms("sm", false, 300, 300, 100)...)
	all = append(all, forms("gnn1", true, 3200, 100, 150)...)
	all = append(all, forms("gnn2", true, 3200, 300, 200)...)
	all = append(all, forms("gnn3", true, 3200, 300, 100)...)
	return append(all,
		Product{"gru", false, false, 256, 384, 128},
		Product{"sq128", false, false, 128, 128, 128},
		Product{"tiny64", false, false, 64, 60, 60},
		Product{"tiny20", false, true, 20, 20, 32},
		Product{"sq1000", false, false, 1000, 1000, 1000})
}

// GEMM measures the dense product at Products on the current workers.
func GEMM(ctx context.Context, o Options) ([]Result, error) {
	if o.Time < 0 {
		return nil, fmt.Errorf("bench: time %v a case", o.Time)
	}
	if o.Time == 0 {
		o.Time = ProductTime
	}
	var all []Result
	for _, p := range Products() {
		if !strings.Contains(p.Name, o.Only) {
			continue
		}
		r, err := p.Run(ctx, o.Time)
		if err != nil {
			return all, fmt.Errorf("bench gemm %s: %w", p.Name, err)
		}
		all = append(all, r)
	}
	return all, nil
}

// Run measures p for about d.
func (p Product) Run(ctx context.Context, d time.Duration) (Result, error) {
	a, b, c := table(p.TA, p.M, p.K), table(p.TB, p.K, p.N), tensor.NewTable(p.M, p.N)
	defer func() {
		tensor.Free(a)
		tensor.Free(b)
		tensor.Free(c)
	}()
	median, least, err := Measure(ctx, d, func() { tensor.Gemm(p.TA, p.TB, 1, a, b, 0, c) })
	if err != nil {
		return Result{}, err
	}
	return Result{
		Name: "gemm " + p.Name, Shape: p.Shape(), Threads: tensor.Workers(),
		MedianS: median, MinS: least,
		GFLOPS: 2 * float64(p.M) * float64(p.N) * float64(p.K) / least / 1e9,
		RSSMB:  residentMB(),
	}, nil
}

// table returns a matrix of rows x cols values around zero, transposed if t.
func table(t bool, rows, cols int) tensor.Matrix {
	if t {
		rows, cols = cols, rows
	}
	m := tensor.NewTable(rows, cols)
	x := uint32(1)
	for i := range m.Data {
		x = x*1664525 + 1013904223 // any values that vary will do
		m.Data[i] = tensor.Float(int32(x)) / (1 << 31)
	}
	return m
}
