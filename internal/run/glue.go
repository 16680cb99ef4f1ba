package run

import (
	"fmt"
	"runtime"
	"slices"

	"privrec/internal/tensor"
)

func simdPath() string { return tensor.SIMD() }
func workers() int     { return tensor.Workers() }

// setWorkers sets the number of threads; 0 takes all cores, whatever an earlier
// task of this process asked for.
func setWorkers(n int) {
	if n == 0 {
		n = runtime.GOMAXPROCS(0)
	}
	tensor.SetWorkers(n)
}

var floatName = func() string {
	var x any = tensor.Float(0)
	return fmt.Sprintf("%T", x)
}()

// MatrixTensor is a view of a matrix as a tensor of shape (rows, cols); a
// strided matrix is copied.
func MatrixTensor(name string, m tensor.Matrix) NamedTensor {
	n := m.Rows * m.Cols
	data := m.Data
	if m.Stride == m.Cols || m.Rows <= 1 {
		data = data[:n]
	} else {
		data = make([]tensor.Float, 0, n)
		for i := range m.Rows {
			data = append(data, tensor.Row(m, i)...)
		}
	}
	return NamedTensor{Name: name, Shape: []int{m.Rows, m.Cols}, Data: data}
}

// CopyTo copies the tensor into m. A shape or element type other than m's is
// an error: a float64 build does not go on from a float32 checkpoint.
func (t NamedTensor) CopyTo(m tensor.Matrix) error {
	got, err := t.Matrix()
	if err != nil {
		return err
	}
	if got.Rows != m.Rows || got.Cols != m.Cols {
		return fmt.Errorf("tensor %q has shape %v, want (%d, %d)", t.Name, t.Shape, m.Rows, m.Cols)
	}
	for i := range m.Rows {
		copy(tensor.Row(m, i), tensor.Row(got, i))
	}
	return nil
}

// Matrix is a view of the tensor as a matrix, of one row where it has one
// dimension.
func (t NamedTensor) Matrix() (tensor.Matrix, error) {
	data, ok := t.Data.([]tensor.Float)
	if !ok {
		dtype, _, _ := layout(t.Data)
		return tensor.Matrix{}, fmt.Errorf("tensor %q holds %s, this build computes in %s", t.Name, dtype, floatName)
	}
	shape := slices.Clone(t.Shape)
	for len(shape) < 2 {
		shape = slices.Insert(shape, 0, 1)
	}
	if len(shape) != 2 {
		return tensor.Matrix{}, fmt.Errorf("tensor %q has shape %v, want a matrix", t.Name, t.Shape)
	}
	return tensor.Matrix{Rows: shape[0], Cols: shape[1], Stride: max(1, shape[1]), Data: data}, nil
}
