package topn

import (
	"errors"
	"testing"

	"privrec/internal/autograd"
	"privrec/internal/model/bpr"
	"privrec/internal/run"
	"privrec/internal/tensor"
)

// misshapen gives items longer vectors than users.
type misshapen struct{ Encoder }

func (misshapen) Params() []*autograd.Param { return nil }

func (misshapen) Encode(t *autograd.Tape, _ int, users, items []int32) (bpr.Encoded, error) {
	return bpr.Encoded{Users: t.Const(tensor.New(len(users), 3)), Items: t.Const(tensor.New(len(items), 4))}, nil
}

// A mistake in the shapes of a model is an error that names the operation, not a panic.
func TestForecastOfWrongShapes(t *testing.T) {
	x := made(t, interactions(4, [][]int32{{0, 1}, {2}}, nil, [][]int32{{3}, {1}}))
	x.Model = x.ByBPR(misshapen{})
	_, err := x.Forecast(t.Context())
	var shape *autograd.Error
	if !errors.As(err, &shape) {
		t.Errorf("error %v", err)
	}
}

// What is made at once has no forecast.
func TestForecastOfMade(t *testing.T) {
	x := made(t, interactions(4, [][]int32{{0, 1}, {2}}, nil, [][]int32{{3}, {1}}))
	if _, err := x.Forecast(t.Context()); !errors.Is(err, run.ErrNoForecast) {
		t.Errorf("error %v", err)
	}
}
