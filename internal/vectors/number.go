package vectors

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"privrec/internal/tensor"
)

// number describes a type of floating-point number in a file.
type number struct {
	name string
	size int
	get  func(b []byte) float64
}

// float returns the IEEE type of a size in bytes: 2, 4 or 8.
func float(size int, order binary.ByteOrder) number {
	switch size {
	case 2:
		return number{"float16", 2, func(b []byte) float64 { return half(order.Uint16(b)) }}
	case 4:
		return number{"float32", 4, func(b []byte) float64 { return float64(math.Float32frombits(order.Uint32(b))) }}
	}
	return number{"float64", 8, func(b []byte) float64 { return math.Float64frombits(order.Uint64(b)) }}
}

// bfloat describes the upper half of a float32.
var bfloat = number{"bfloat16", 2, func(b []byte) float64 {
	return float64(math.Float32frombits(uint32(binary.LittleEndian.Uint16(b)) << 16))
}}

// half returns the value of an IEEE binary16: a sign, 5 bits of exponent with bias 15, 10 bits of fraction.
func half(x uint16) float64 {
	sign, exponent, fraction := 1-2*float64(x>>15), int(x>>10&31), float64(x&1023)
	switch exponent {
	case 0:
		return sign * math.Ldexp(fraction, -24)
	case 31:
		if fraction != 0 {
			return math.NaN()
		}
		return sign * math.Inf(1)
	}
	return sign * math.Ldexp(1024+fraction, exponent-25)
}

// narrow returns a number in the program's floating-point type.
func narrow(x float64) (tensor.Float, error) {
	v := tensor.Float(x)
	switch {
	case math.IsNaN(x) || math.IsInf(x, 0):
		return 0, fmt.Errorf("not a finite number: %v", x)
	case math.IsInf(float64(v), 0):
		return 0, fmt.Errorf("%g is too large for 32 bits", x)
	}
	return v, nil
}

// cellError is the error for a number of a matrix.
type cellError struct {
	row, col int // from 0, as NumPy counts
	err      error
}

func (e *cellError) Error() string { return fmt.Sprintf("row %d, column %d: %v", e.row, e.col, e.err) }

// errCut is the error for a file that ends within its numbers.
var errCut = errors.New("the file ends before its numbers do: was it cut?")

// fill returns a matrix of rows x cols numbers. Memory grows as they come, from room for ready bytes, which must be
// there.
func (a array) fill(ctx context.Context, r io.Reader, rows, cols int, ready int64) (tensor.Matrix, error) {
	n, size := rows*cols, a.of.size
	flat := make([]tensor.Float, 0, min(int64(n), ready/int64(size)))
	buf := make([]byte, 1<<16)
	for len(flat) < n {
		if err := ctx.Err(); err != nil {
			return tensor.Matrix{}, err
		}
		b := buf[:min(len(buf), (n-len(flat))*size)]
		if _, err := io.ReadFull(r, b); err != nil {
			if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
				err = errCut
			}
			return tensor.Matrix{}, err
		}
		for ; len(b) > 0; b = b[size:] {
			v, err := narrow(a.of.get(b))
			if err != nil {
				row, col := len(flat)/cols, len(flat)%cols
				if a.byColumns {
					row, col = len(flat)%rows, len(flat)/rows
				}
				return tensor.Matrix{}, &cellError{row, col, err}
			}
			flat = append(flat, v)
		}
	}
	if !a.byColumns {
		return tensor.From(rows, cols, flat), nil
	}
	m := tensor.New(rows, cols)
	for i, v := range flat {
		m.Data[i%rows*cols+i/rows] = v
	}
	return m, nil
}

// tensors maps the types of safetensors that are read to number types.
var tensors = map[string]number{
	"F16": float(2, binary.LittleEndian), "BF16": bfloat, "F32": float(4, binary.LittleEndian),
	"F64": float(8, binary.LittleEndian),
}
