package tensor

import (
	"fmt"

	"privrec/internal/tensor/kernel"
)

// Packed holds the right operand of products, laid out once for many products by the kernels. Any number of goroutines
// may use it.
type Packed struct {
	k, n int
	data []Float
}

// PackedSize returns the number of elements that the layout of an operand (k, n) takes.
func PackedSize(k, n int) int { return k * packedWidth(n) }

// packedWidth returns n rounded up to whole panels.
func packedWidth(n int) int {
	_, nr, _ := kernel.Tile()
	return (n + nr - 1) / nr * nr
}

// Pack lays out op(b), which transposes if tB is set, in data, which has PackedSize elements or more. The result keeps
// data.
func Pack(data []Float, tB bool, b Matrix) Packed {
	check("pack", b)
	p := Packed{k: b.Rows, n: b.Cols, data: data}
	if tB {
		p.k, p.n = p.n, p.k
	}
	if size := PackedSize(p.k, p.n); len(data) < size {
		panic(fmt.Sprintf("tensor: pack: %d x %d into %d numbers, want %d", p.k, p.n, len(data), size))
	}
	if p.k > 0 && p.n > 0 {
		p.blocks(func(l0, l1 int, dst *Float) {
			kernel.PackB(tB, l1-l0, p.n, element(&b.Data[0], b.Stride, tB, l0, 0), b.Stride, dst)
		})
	}
	return p
}

// blocks calls f for each block into which Gemm cuts the inner dimension, with the address of its data.
func (p Packed) blocks(f func(l0, l1 int, data *Float)) {
	width, n := packedWidth(p.n), (p.k+blockK-1)/blockK
	for l := range n {
		l0, l1 := p.k*l/n, p.k*(l+1)/n
		f(l0, l1, &p.data[l0*width])
	}
}

// Mul sets c = a p, or with add c += a p, on the calling goroutine. Call it for some rows at a time inside Parallel.
// The bits are those of Gemm if that does not cut the inner dimension, as below 1024.
func (p Packed) Mul(a Matrix, add bool, c Matrix) {
	check("packed mul", a)
	check("packed mul", c)
	if a.Cols != p.k || c.Rows != a.Rows || c.Cols != p.n {
		panic(fmt.Sprintf("tensor: packed mul: %d x %d times %d x %d into %d x %d", a.Rows, a.Cols, p.k, p.n, c.Rows,
			c.Cols))
	}
	if c.Rows == 0 || c.Cols == 0 {
		return
	}
	if p.k == 0 {
		if !add {
			scaleMatrix(0, c)
		}
		return
	}
	j := takeJob()
	defer j.release()
	j.gemmArgs = gemmArgs{m: a.Rows, n: p.n, k: p.k, a: &a.Data[0], lda: a.Stride}
	j.workers(1)
	p.blocks(func(l0, l1 int, data *Float) {
		j.rowsOf(j.scratch[0], 0, a.Rows, l0, l1, data, &c.Data[0], c.Stride, p.n, 1, add || l0 > 0)
	})
}
