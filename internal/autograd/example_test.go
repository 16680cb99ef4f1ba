package autograd_test

import (
	"fmt"

	"privrec/internal/autograd"
	"privrec/internal/tensor"
)

// A step: leaves enter through the tape, the loss is differentiated, gradients are read by
// parameter.
func Example() {
	w := &autograd.Param{Name: "w", Value: tensor.From(1, 2, []tensor.Float{1, -1})}
	x := tensor.From(3, 2, []tensor.Float{1, 2, 3, 4, 5, 6})

	t := autograd.NewTape()
	for range 2 { // every step starts with Reset and uses the same memory
		t.Reset()
		loss := t.Const(x).Linear(t.Use(w), nil).SumSq() // (3, 2) -> (3, 1) -> (1, 1)
		t.Backward(loss)
		g, _ := t.Grads().Dense(w)
		fmt.Println(loss.Scalar(), g.Data)
		tensor.Axpy(-1.0/128, g.Data, w.Value.Data)
	}
	// Output:
	// 3 [-18 -24]
	// 0.949951171875 [8.34375 9.375]
}
