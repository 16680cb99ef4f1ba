package mechanism

import "strconv"

// Exact is a number whose JSON keeps every bit, including infinities and NaN.
type Exact float64

// MarshalText writes a hexadecimal float.
func (e Exact) MarshalText() ([]byte, error) {
	return strconv.AppendFloat(nil, float64(e), 'x', -1, 64), nil
}

// UnmarshalText reads a hexadecimal float.
func (e *Exact) UnmarshalText(b []byte) error {
	v, err := strconv.ParseFloat(string(b), 64)
	*e = Exact(v)
	return err
}
