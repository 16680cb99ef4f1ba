package autograd

import (
	"testing"

	"privrec/internal/tensor"
)

// TestTiedRecomputes: chunks of rows that are computed again on the way back give what the kept
// exponentials give.
func TestTiedRecomputes(t *testing.T) {
	const b, v, d = 523, 300, 4 // three chunks of rows
	table, h := NewParam("table", v, d), NewParam("h", b, d)
	for i := range table.Value.Data {
		table.Value.Data[i] = tensor.Float((i*37)%19)/10 - 1
	}
	for i := range h.Value.Data {
		h.Value.Data[i] = tensor.Float((i*53)%17)/10 - 1
	}
	targets := make([]int32, b)
	for i := range targets {
		targets[i] = int32(i * 13 % v)
	}
	run := func(limit int) (*Tape, float64) {
		defer func(old int) { tiedBuffer = old }(tiedBuffer)
		tiedBuffer = limit
		tp := NewTape()
		l := tp.TiedCrossEntropy(tp.Use(h), table, 0, targets)
		if kept := tp.tieds[0].kept; kept != (limit > b*v) {
			t.Fatalf("limit %d: kept %t", limit, kept)
		}
		tp.Backward(l)
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
