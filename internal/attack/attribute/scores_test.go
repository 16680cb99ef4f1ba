package attribute

import (
	"math"
	"strings"
	"testing"
)

// The measures on probabilities of attackers are compared with scikit-learn's in TestReference; here are the edges.
func TestMeasureEdges(t *testing.T) {
	for _, c := range []struct {
		name    string
		p       [][]float64
		class   []int32
		classes int
		want    Scores
	}{
		{"a tie goes to the lower class", [][]float64{{0.5, 0.5}, {0.2, 0.8}}, []int32{0, 1}, 2, Scores{1, 1, 1, 1, 1}},
		{"one class only", [][]float64{{0.6, 0.4}, {0.2, 0.8}}, []int32{0, 0}, 2, Scores{0.5, 1.0 / 3, 2.0 / 3, 0.5, math.NaN()}},
		{"one of three classes only", [][]float64{{0, 1, 0}}, []int32{1}, 3, Scores{1, 1, 1, 1, math.NaN()}},
		{"an absent class has no area", [][]float64{{0.7, 0.1, 0.2}, {0.1, 0.1, 0.8}, {0.5, 0, 0.5}}, []int32{0, 2, 2}, 3,
			Scores{2.0 / 3, 2.0 / 3, 2.0 / 3, 0.75, 1}},
	} {
		got, err := Measure(c.p, c.class, c.classes)
		if err != nil {
			t.Fatal(err)
		}
		pairs := [][2]float64{{got.Micro, c.want.Micro}, {got.Macro, c.want.Macro}, {got.Weighted, c.want.Weighted}, {got.Balanced, c.want.Balanced}, {got.AUC, c.want.AUC}}
		for _, p := range pairs {
			if !(math.Abs(p[0]-p[1]) < 1e-12 || math.IsNaN(p[0]) && math.IsNaN(p[1])) {
				t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
				break
			}
		}
	}
	for _, c := range []struct {
		p     [][]float64
		class []int32
		want  string
	}{
		{nil, nil, "0 rows"},
		{[][]float64{{1, 0}}, []int32{0, 1}, "1 rows of probabilities for the classes of 2 users"},
		{[][]float64{{1, 0, 0}}, []int32{0}, "user 0 has 3 probabilities of 2 classes"},
		{[][]float64{{1, 0}}, []int32{2}, "class 2"},
		{[][]float64{{math.NaN(), 0}}, []int32{0}, "user 0 has probability NaN of class 0"},
	} {
		if _, err := Measure(c.p, c.class, 2); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %q", err, c.want)
		}
	}
}
