package experiment

import (
	"errors"
	"path/filepath"
	"testing"

	"privrec/internal/autograd"
	"privrec/internal/run"
	"privrec/internal/tensor"
)

// counted is a model that counts how often it is closed.
type counted struct {
	params []*autograd.Param
	closed int
}

func (c *counted) Params() []*autograd.Param { return c.params }
func (c *counted) Close()                    { c.closed++ }

// A maker closes the last model before it makes another one, holds none after a failure, and fills in the parameters
// of a finished run if there are any.
func TestMaker(t *testing.T) {
	dir, bad := t.TempDir(), errors.New("bad rows")
	put(t, filepath.Join(dir, ModelFile), nil, run.MatrixTensor("w", filled(1, 2, 7)))
	first, second := &counted{}, &counted{params: []*autograd.Param{{Name: "w", Value: tensor.New(1, 2)}}}
	k := Maker[Model, string]{New: func(rows string) (Model, error) {
		switch rows {
		case "first":
			return first, nil
		case "second":
			return second, nil
		}
		return (*counted)(nil), bad // a nil pointer, as constructors return it beside an error
	}}
	for _, c := range []struct {
		rows   string
		want   Model
		err    error
		closed int // how often first and second are closed so far
	}{
		{"first", first, nil, 0}, {"second", second, nil, 1}, {"none", nil, bad, 2}, {"none", nil, bad, 2},
	} {
		err := k.Load(dir, c.rows)
		if !errors.Is(err, c.err) || k.Model != c.want || first.closed+second.closed != c.closed {
			t.Errorf("%s: %v, %v, closed %d", c.rows, err, k.Model, first.closed+second.closed)
		}
	}
	if v := second.params[0].Value.Data[0]; v != 7 {
		t.Errorf("the parameter is %v, the file has 7", v)
	}
	if err := k.Load(t.TempDir(), "second"); err == nil {
		t.Error("parameters were read from an empty folder")
	}
}
