package attribute

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"privrec/internal/rng"
	"privrec/internal/tensor"
)

// plainTree predicts by a tree that is grown from the definition: every threshold between two values of every
// column is tried, impurities are exact fractions, and the first best split is taken.
func plainTree(x tensor.Matrix, class []int32, weight []int64, classes int, users []int, row []tensor.Float) []float64 {
	count := make([]int64, classes)
	total, kinds := int64(0), 0
	for _, u := range users {
		if count[class[u]] == 0 {
			kinds++
		}
		count[class[u]] += weight[u]
		total += weight[u]
	}
	var best *big.Rat
	column, threshold := -1, 0.0
	for j := range x.Cols {
		for _, low := range values(x, users, j) {
			high := math.Inf(1)
			for _, v := range values(x, users, j) {
				if v > low {
					high = min(high, v)
				}
			}
			if math.IsInf(high, 1) {
				continue
			}
			gain := new(big.Rat)
			for side := range 2 {
				n, m := make([]int64, classes), int64(0)
				for _, u := range users {
					if (float64(tensor.Row(x, u)[j]) <= low) == (side == 0) {
						n[class[u]] += weight[u]
						m += weight[u]
					}
				}
				for _, k := range n {
					gain.Add(gain, big.NewRat(k*k, m))
				}
			}
			at := low/2 + high/2
			better := best == nil || gain.Cmp(best) > 0 || gain.Cmp(best) == 0 && j == column && at < threshold
			if better {
				best, column, threshold = gain, j, at
			}
		}
	}
	if kinds < 2 || best == nil {
		p := make([]float64, classes)
		for c, k := range count {
			p[c] = float64(k) / float64(total)
		}
		return p
	}
	var same []int
	for _, u := range users {
		if (float64(tensor.Row(x, u)[column]) <= threshold) == (float64(row[column]) <= threshold) {
			same = append(same, u)
		}
	}
	return plainTree(x, class, weight, classes, same, row)
}

func values(x tensor.Matrix, users []int, j int) []float64 {
	var v []float64
	for _, u := range users {
		v = append(v, float64(tensor.Row(x, u)[j]))
	}
	return v
}

func TestTreeAgainstPlain(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n, columns, classes := rapid.IntRange(2, 14).Draw(rt, "users"), rapid.IntRange(1, 4).Draw(rt, "columns"), rapid.IntRange(2, 4).Draw(rt, "classes")
		low := rapid.SampledFrom([]int{0, 0, -2, 1}).Draw(rt, "low") // without negative values, with, without zeros
		x, class, weight := tensor.New(n, columns), make([]int32, n), make([]int64, n)
		for i := range x.Data {
			x.Data[i] = tensor.Float(rapid.IntRange(low, 2).Draw(rt, "x"))
		}
		var users []int
		for u := range class {
			class[u] = int32(rapid.IntRange(0, classes-1).Draw(rt, "class"))
			if weight[u] = int64(rapid.IntRange(0, 2).Draw(rt, "weight")); weight[u] > 0 {
				users = append(users, u)
			}
		}
		if len(users) == 0 {
			return
		}
		grown, err := newTable(&training{x: x, class: class, classes: classes}).grow(t.Context(), weight, 0, nil)
		if err != nil {
			rt.Fatal(err)
		}
		for range 20 { // rows that no user has show where thresholds lie
			row := make([]tensor.Float, columns)
			for j := range row {
				row[j] = tensor.Float(rapid.IntRange(-9, 9).Draw(rt, "row")) / 4
			}
			got, want := grown.leaf(row), plainTree(x, class, weight, classes, users, row)
			for c := range want {
				if math.Abs(got[c]-want[c]) > 1e-12 {
					rt.Fatalf("row %v: %v, want %v", row, got, want)
				}
			}
		}
	})
}

// TestSplitTie: of two equally good thresholds of a column the lower one is taken.
func TestSplitTie(t *testing.T) {
	for _, x := range [][]tensor.Float{{1, 2, 3}, {0, 1, 2}, {-3, -2, -1}, {-1, 0, 1}} {
		rows := tensor.From(3, 1, x)
		grown, err := newTable(&training{x: rows, class: []int32{0, 1, 0}, classes: 2}).grow(t.Context(), []int64{1, 1, 1}, 0, nil)
		if err != nil || grown[0].threshold != float64(x[0]+x[1])/2 {
			t.Errorf("%v: threshold %v, %v", x, grown[0].threshold, err)
		}
	}
}

// TestForestReference compares the mean of 100 forests with that of 200 of scikit-learn's. A cell's difference, in units
// of its standard error, is a Student variable with 199 degrees of freedom or more. It exceeds 8 with probability 1e-13,
// and one of 240 cells does with less than 1e-9. The rest of the tolerance is for cells that few trees touch, whose means
// are no normal variables.
func TestForestReference(t *testing.T) {
	const ours = 100
	for _, r := range references(t) {
		if r.Forest == nil {
			continue
		}
		t.Run(r.Name, func(t *testing.T) {
			x, test := matrix(r.X), matrix(r.XTest)
			mean := make([][]float64, test.Rows)
			for i := range mean {
				mean[i] = make([]float64, r.Classes)
			}
			for k := range uint64(ours) {
				for i, row := range guess(t, "random-forest", x, r.Class, r.Classes, test, rng.Seed(7).Stream("forest", k)) {
					for c, v := range row {
						mean[i][c] += v / ours
					}
				}
			}
			for i, row := range mean {
				for c, v := range row {
					se := r.Forest.Std[i][c] * math.Sqrt(1/float64(r.Forest.N)+1/float64(ours))
					if math.Abs(v-r.Forest.Mean[i][c]) > 8*se+5e-4 {
						t.Errorf("row %d, class %d: %v, scikit-learn has %v, standard error %v", i, c, v, r.Forest.Mean[i][c], se)
					}
				}
			}
		})
	}
}
