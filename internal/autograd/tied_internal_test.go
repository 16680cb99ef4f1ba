package autograd

import (
	"slices"
	"testing"

	"privrec/internal/tensor"
)

// tiedParams returns a table (v, d) and rows (b, d) of fixed numbers.
func tiedParams(b, v, d int) (table, h *Param) {
	table, h = NewParam("table", v, d), NewParam("h", b, d)
	for i := range table.Value.Data {
		table.Value.Data[i] = tensor.Float((i*37)%19)/10 - 1
	}
	for i := range h.Value.Data {
		h.Value.Data[i] = tensor.Float((i*53)%17)/10 - 1
	}
	return table, h
}

// TestTiedChunks: gradients that chunks of rows form on the way forward are those of exponentials that
// are kept for the way back, whatever the upstream gradient.
func TestTiedChunks(t *testing.T) {
	const b, v, d = 523, 300, 4 // three chunks of rows
	table, h := tiedParams(b, v, d)
	targets := make([]int32, b)
	for i := range targets {
		targets[i] = int32(i * 13 % v)
	}
	run := func(limit int) (*Tape, float64) {
		defer func(old int) { tiedBuffer = old }(tiedBuffer)
		tiedBuffer = limit
		tp := NewTape()
		l := tp.TiedCrossEntropy(tp.Use(h), table, 0, targets)
		if now := tp.tieds[0].now; now != (limit < b*v) {
			t.Fatalf("limit %d: on the way forward %t", limit, now)
		}
		tp.Backward(l.Scale(1.75))
		return tp, l.Scalar()
	}
	one, l1 := run(1 << 20)
	two, l2 := run(b*v - 1)
	if d := l1 - l2; d > 1e-6 || d < -1e-6 {
		t.Errorf("loss %v and %v", l1, l2)
	}
	for _, p := range []*Param{table, h} {
		a, _ := one.Grads().Dense(p)
		c, _ := two.Grads().Dense(p)
		for i := range a.Data {
			if d := a.Data[i] - c.Data[i]; d > 1e-6 || d < -1e-6 {
				t.Fatalf("%s[%d]: %v and %v", p.Name, i, a.Data[i], c.Data[i])
			}
		}
	}
}

// TestTiedNear: probabilities have the same bits where the exponentials are only read.
func TestTiedNear(t *testing.T) {
	const b, v, d = 37, 700, 4
	table, h := tiedParams(b, v, d)
	targets := make([]int32, b)
	for i := range targets {
		targets[i] = int32(1 + i*13%(v-1))
	}
	run := func(near, buffer int) *Tape {
		defer func(x, y int) { tiedNear, tiedBuffer = x, y }(tiedNear, tiedBuffer)
		tiedNear, tiedBuffer = near, buffer
		tp := NewTape()
		tp.Backward(tp.TiedCrossEntropy(tp.Use(h), table, 1, targets))
		if got := tp.tieds[0].near != nil; got != (near == 0) {
			t.Fatalf("from %d on: near %t", near, got)
		}
		return tp
	}
	for _, buffer := range []int{1 << 20, 1000} { // exponentials of all rows are kept, or of some
		one, two := run(1<<20, buffer), run(0, buffer)
		for _, p := range []*Param{table, h} {
			a, _ := one.Grads().Dense(p)
			c, _ := two.Grads().Dense(p)
			if !slices.Equal(a.Data, c.Data) {
				t.Errorf("%d kept: gradients of %s differ", buffer, p.Name)
			}
		}
	}
}

// TestTiedSoftmaxChunks: any number of rows in a chunk gives the same loss and gradients, to rounding.
func TestTiedSoftmaxChunks(t *testing.T) {
	const b, v, d = 61, 300, 4
	table, h, bias := NewParam("table", v, d), NewParam("h", b, d), NewParam("bias", 1, v)
	for i, p := range []*Param{table, h, bias} {
		for k := range p.Value.Data {
			p.Value.Data[k] = tensor.Float((k*(37+i))%19)/10 - 1
		}
	}
	q := SoftTargets{Off: []int32{0}, On: 0.5, Rest: 0.001}
	for i := range b {
		q.Class = append(q.Class, int32(i*13%v), int32((i*13+7)%v))
		q.Off = append(q.Off, int32(len(q.Class)))
	}
	run := func(buffer, rows int) (*Tape, float64, int) {
		defer func(x, y int) { softBuffer, softRows = x, y }(softBuffer, softRows)
		softBuffer, softRows = buffer, rows
		tp := NewTape()
		l := tp.TiedSoftmax(tp.Use(h), table, bias, q)
		tp.Backward(l)
		return tp, l.Scalar(), tp.tieds[0].soft.rows
	}
	one, l1, _ := run(1<<24, 256)
	for _, c := range []struct{ buffer, rows, want int }{{1 << 24, 7, 7}, {20 * 320, 256, 20}, {1, 256, 16}} {
		two, l2, rows := run(c.buffer, c.rows)
		if rows != c.want {
			t.Errorf("%v: %d rows in a chunk", c, rows)
		}
		if d := l1 - l2; d > 1e-6 || d < -1e-6 {
			t.Errorf("%v: loss %v and %v", c, l1, l2)
		}
		for _, p := range []*Param{table, h, bias} {
			a, _ := one.Grads().Dense(p)
			g, _ := two.Grads().Dense(p)
			for i := range a.Data {
				if d := a.Data[i] - g.Data[i]; d > 1e-6 || d < -1e-6 {
					t.Fatalf("%v: %s[%d]: %v and %v", c, p.Name, i, a.Data[i], g.Data[i])
				}
			}
		}
	}
}
