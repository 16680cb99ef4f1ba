package topn_test

import (
	"errors"
	"slices"
	"testing"

	"privrec/internal/dataset"
	"privrec/internal/protocol/topn"
	"privrec/internal/run"
)

// A model learns from the rows that users changed, and is measured on what is left of the
// others. Data that cannot be changed are not loaded.
func TestLoadChanged(t *testing.T) {
	m := topn.Method{Data: topn.DataConfig{Name: "standin-tiny", Recipe: "rdpgcf"}, Train: topn.DefaultTrain(), Eval: topn.DefaultEval()}
	users := 0
	x, err := topn.LoadChanged(t.Context(), run.Rehearse(1), m, func(d *dataset.Interactions) (*dataset.Interactions, error) {
		y := *d
		y.Train, y.Test = slices.Clone(d.Train), slices.Clone(d.Test)
		item := d.Test[0][0]
		y.Train[0] = slices.Sorted(slices.Values(append(slices.Clone(d.Train[0]), item)))
		y.Test[0], y.Test[1] = slices.DeleteFunc(slices.Clone(d.Test[0]), func(i int32) bool { return i == item }), nil
		for _, items := range d.Test {
			users += min(1, len(items))
		}
		return &y, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	y, err := topn.Load(t.Context(), run.Rehearse(1), m)
	if err != nil {
		t.Fatal(err)
	}
	if x.Graph.Edges() != y.Graph.Edges()+1 || y.TestUsers() != users || x.TestUsers() != users-1 {
		t.Errorf("%d edges of %d, %d users of %d", x.Graph.Edges(), y.Graph.Edges(), x.TestUsers(), y.TestUsers())
	}
	broken := errors.New("broken")
	if _, err := topn.LoadChanged(t.Context(), run.Rehearse(1), m, func(*dataset.Interactions) (*dataset.Interactions, error) { return nil, broken }); !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
}
