package autograd

import "privrec/internal/tensor"

// StackRows returns the rows of all parts one below the other; all have the same number of
// columns. A part may come several times. It fails without a part.
func (t *Tape) StackRows(parts ...*Node) *Node {
	if len(parts) == 0 {
		failf("stackRows", nil, "no parts")
	}
	y := t.link("stackRows", parts[0])
	t.join(y, parts[1:]...)
	rows, cols := 0, parts[0].Cols()
	for _, z := range parts {
		if z.Cols() != cols {
			fail("stackRows", "column counts differ", parts[0], z)
		}
		rows += z.Rows()
	}
	y.V = t.Buffer(rows, cols)
	lo := 0
	for k := range y.nin {
		z := y.operand(k)
		t.copyTo(tensor.RowsView(y.V, lo, lo+z.Rows()), z.V)
		lo += z.Rows()
	}
	if y.need {
		y.back = func() {
			lo := 0
			for k := range y.nin {
				z := y.operand(k)
				if z.need {
					d := t.Buffer(z.Rows(), cols)
					t.copyTo(d, tensor.RowsView(y.G, lo, lo+z.Rows()))
					z.give(d)
				}
				lo += z.Rows()
			}
		}
	}
	return y.checked()
}
