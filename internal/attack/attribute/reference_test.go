package attribute

import (
	"encoding/json"
	"math"
	"os"
	"testing"

	"privrec/internal/rng"
	"privrec/internal/tensor"
)

// reference is a case of testdata/attackers.json, which testdata/attackers.py wrote with scikit-learn.
type reference struct {
	Name             string
	Classes          int
	X, XTest         [][]float64
	Class, ClassTest []int32
	Attackers        map[string]struct {
		P      [][]float64
		Scores Scores
	}
	Tree struct {
		P                  [][]float64 // nil where ties decide
		RootGain, Training float64
	}
	Forest *struct {
		N         int
		Mean, Std [][]float64
	}
}

func references(t *testing.T) []reference {
	t.Helper()
	data, err := os.ReadFile("testdata/attackers.json")
	if err != nil {
		t.Fatal(err)
	}
	var all []reference
	if err := json.Unmarshal(data, &all); err != nil || len(all) != 7 {
		t.Fatalf("%d cases, %v", len(all), err)
	}
	return all
}

// matrix returns rows as a matrix with a stride of its own.
func matrix(rows [][]float64) tensor.Matrix {
	wide := tensor.New(len(rows), len(rows[0])+3)
	x := tensor.ColsView(wide, 1, 1+len(rows[0]))
	for i, r := range rows {
		for j, v := range r {
			tensor.Row(x, i)[j] = tensor.Float(v)
		}
	}
	return x
}

// room returns room for probabilities.
func room(rows, classes int) [][]float64 {
	p := make([][]float64, rows)
	for i := range p {
		p[i] = make([]float64, classes)
		for c := range p[i] {
			p[i][c] = math.NaN()
		}
	}
	return p
}

// guess fits the attacker of that name and returns its probabilities.
func guess(t *testing.T, name string, x tensor.Matrix, class []int32, classes int, test tensor.Matrix, s rng.Stream) [][]float64 {
	t.Helper()
	a, err := ByName(name)
	if err != nil {
		t.Fatal(err)
	}
	g, err := a.Fit(t.Context(), x, class, classes, s)
	if err != nil {
		t.Fatal(err)
	}
	p := room(test.Rows, classes)
	if err := g.Probabilities(test, p); err != nil {
		t.Fatal(err)
	}
	for i, row := range p {
		sum := 0.0
		for _, v := range row {
			if !(v >= 0 && v <= 1) {
				t.Fatalf("%s: row %d has probabilities %v", name, i, row)
			}
			sum += v
		}
		if math.Abs(sum-1) > 1e-9 {
			t.Fatalf("%s: probabilities of row %d sum to %v", name, i, sum)
		}
	}
	return p
}

// TestReference compares every attacker that draws nothing with scikit-learn's, and the measures.
func TestReference(t *testing.T) {
	for _, r := range references(t) {
		x, test := matrix(r.X), matrix(r.XTest)
		for name, want := range r.Attackers {
			t.Run(r.Name+"/"+name, func(t *testing.T) {
				tol := 1e-6
				if name == "gaussian-process" {
					tol = 1e-4
				}
				p := guess(t, name, x, r.Class, r.Classes, test, rng.Seed(1).Stream("x"))
				for i := range p {
					for c, v := range p[i] {
						if math.Abs(v-want.P[i][c]) > tol {
							t.Fatalf("row %d, class %d: %v, scikit-learn has %v", i, c, v, want.P[i][c])
						}
					}
				}
				got, err := Measure(want.P, r.ClassTest, r.Classes)
				if err != nil {
					t.Fatal(err)
				}
				w := want.Scores
				for k, pair := range [][2]float64{{got.Micro, w.Micro}, {got.Macro, w.Macro}, {got.Weighted, w.Weighted}, {got.Balanced, w.Balanced}, {got.AUC, w.AUC}} {
					if math.Abs(pair[0]-pair[1]) > 1e-9 {
						t.Errorf("measure %d: %v, scikit-learn has %v", k, pair[0], pair[1])
					}
				}
			})
		}
	}
}

// TestTreeReference compares the decision tree where scikit-learn's tree does not depend on ties.
func TestTreeReference(t *testing.T) {
	for _, r := range references(t) {
		t.Run(r.Name, func(t *testing.T) {
			x := matrix(r.X)
			p := guess(t, "decision-tree", x, r.Class, r.Classes, matrix(r.XTest), rng.Stream{})
			compared := 0
			for i, want := range r.Tree.P {
				for c, v := range want {
					compared++
					if math.Abs(p[i][c]-v) > 1e-9 {
						t.Errorf("row %d, class %d: %v, scikit-learn has %v", i, c, p[i][c], v)
					}
				}
			}
			if compared == 0 {
				t.Error("no row to compare")
			}
			s, err := Measure(guess(t, "decision-tree", x, r.Class, r.Classes, x, rng.Stream{}), r.Class, r.Classes)
			if err != nil || math.Abs(s.Micro-r.Tree.Training) > 1e-12 {
				t.Errorf("%v of the training users, scikit-learn has %v, %v", s.Micro, r.Tree.Training, err)
			}
			if got := rootGain(t, x, r.Class, r.Classes); math.Abs(got-r.Tree.RootGain) > 1e-9 {
				t.Errorf("the first split removes impurity %v, scikit-learn's %v", got, r.Tree.RootGain)
			}
		})
	}
}

// rootGain returns the Gini impurity that the first split of a tree removes, times the users.
func rootGain(t *testing.T, x tensor.Matrix, class []int32, classes int) float64 {
	t.Helper()
	count, present, err := countClasses(class, classes)
	if err != nil {
		t.Fatal(err)
	}
	weight := make([]int64, len(class))
	for u := range weight {
		weight[u] = 1
	}
	grown, err := newTable(&training{"", x, class, classes, count, present}).grow(t.Context(), weight, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	var sides [3][]float64 // all, left, right
	for k := range sides {
		sides[k] = make([]float64, classes)
	}
	for u, c := range class {
		sides[0][c]++
		if float64(tensor.Row(x, u)[grown[0].column]) <= grown[0].threshold {
			sides[1][c]++
		} else {
			sides[2][c]++
		}
	}
	gini := func(n []float64) float64 {
		sum, sq := 0.0, 0.0
		for _, v := range n {
			sum, sq = sum+v, sq+v*v
		}
		return sum - sq/sum
	}
	return gini(sides[0]) - gini(sides[1]) - gini(sides[2])
}
