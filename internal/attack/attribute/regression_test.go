package attribute

import (
	"math"
	"testing"

	"privrec/internal/rng"
	"privrec/internal/tensor"
)

// The weights are the slopes of the log odds that the fitted attacker predicts: what a row with
// one column at 1 has above the empty row.
func TestLogisticWeights(t *testing.T) {
	const users, columns = 60, 7
	x, class, s := tensor.New(users, columns), make([]int32, users), rng.Seed(3).Stream("rows")
	for u := range users {
		for j := range columns {
			if s.IntN(2) == 0 {
				tensor.Row(x, u)[j] = tensor.Float(1 + s.IntN(5))
			}
		}
		class[u] = int32(s.IntN(2))
	}
	w, err := LogisticWeights(t.Context(), x, class)
	if err != nil {
		t.Fatal(err)
	}
	a, err := ByName("logistic-regression")
	if err != nil {
		t.Fatal(err)
	}
	g, err := a.Fit(t.Context(), x, class, 2, s)
	if err != nil {
		t.Fatal(err)
	}
	probe, p := tensor.New(columns+1, columns), make([][]float64, columns+1)
	for j := range p {
		p[j] = make([]float64, 2)
		if j < columns {
			tensor.Row(probe, j)[j] = 1
		}
	}
	if err := g.Probabilities(probe, p); err != nil {
		t.Fatal(err)
	}
	empty := math.Log(p[columns][1] / p[columns][0])
	for j := range columns {
		if slope := math.Log(p[j][1]/p[j][0]) - empty; math.Abs(slope-w[j]) > 1e-9 || w[j] == 0 {
			t.Errorf("column %d: weight %v, slope %v", j, w[j], slope)
		}
	}
	if _, err := LogisticWeights(t.Context(), x, make([]int32, users)); err == nil {
		t.Error("no error for one class")
	}
}
