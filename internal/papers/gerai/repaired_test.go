package gerai

import (
	"fmt"
	"math"
	"testing"

	"privrec/internal/autograd"
	"privrec/internal/eval"
	"privrec/internal/graph"
	"privrec/internal/model/bpr"
	gcn "privrec/internal/model/gerai"
	"privrec/internal/optim"
	"privrec/internal/privacy/mechanism/local"
	"privrec/internal/protocol/topn"
	"privrec/internal/tensor"
)

// recommended trains the repaired setting on a graph of three users and the given reports (one
// row a user), and returns the lists of all users as text.
func recommended(t *testing.T, reports [][]tensor.Float) string {
	t.Helper()
	g, err := graph.NewBipartite(3, 6, []graph.Edge{{User: 0, Item: 0}, {User: 0, Item: 1}, {User: 1, Item: 1}, {User: 1, Item: 2}, {User: 2, Item: 3}})
	if err != nil {
		t.Fatal(err)
	}
	x := tensor.New(3, len(reports[0]))
	for u, r := range reports {
		copy(tensor.Row(x, u), r)
	}
	c := Repaired()
	c.Model.Dim = 4
	net, err := gcn.New(g, x, c.Model, 1, c.Model.Initial(1))
	if err != nil {
		t.Fatal(err)
	}
	sampler, err := bpr.NewSampler(g, bpr.SamplerOptions{Positives: bpr.Pass, Negatives: bpr.Unseen, Batch: 5, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	l, adam, tape := &learner{Model: net, o: gcn.Objective{Exact: true, Gamma: c.Loss.Gamma, Sum: 5}}, optim.NewAdam(0), autograd.NewTape()
	for step := range 12 {
		tape.Reset()
		loss, err := l.Loss(tape, topn.Step{Triples: sampler.Draw(step, []int32{0, 1, 2, 3, 4}), Number: step, Count: 5})
		if err != nil {
			t.Fatal(err)
		}
		tape.Backward(loss)
		if err := adam.Step(net.Params(), tape.Grads(), 0.05); err != nil {
			t.Fatal(err)
		}
	}
	v, err := l.Release("", 0)
	if err != nil {
		t.Fatal(err)
	}
	lists, err := eval.Top(t.Context(), &gcn.Ranking{Users: v.Users, Goods: v.Items, H: v.Output, Norm: c.Model.Norm}, []int32{0, 1, 2}, 3, eval.Options{})
	if err != nil {
		t.Fatal(err)
	}
	text := ""
	for _, list := range lists {
		for _, i := range list {
			text += fmt.Sprint(i.Index, " ")
		}
	}
	return text
}

// law returns the probability of every report of a category, reports as rows of features.
func law(o local.Oracle, category int) (reports [][]tensor.Float, p []float64) {
	k := o.Categories
	if o.Kind == local.GRR {
		for r := range k {
			row := make([]tensor.Float, k)
			row[r] = 1
			reports, p = append(reports, row), append(p, map[bool]float64{true: o.P(), false: o.Q()}[r == category])
		}
		return reports, p
	}
	for bits := range 1 << k {
		row, q := make([]tensor.Float, k), 1.0
		for i := range k {
			one := o.Q()
			if i == category {
				one = o.P()
			}
			if bits>>i&1 == 1 {
				row[i] = 1
			} else {
				one = 1 - one
			}
			q *= one
		}
		reports, p = append(reports, row), append(p, q)
	}
	return reports, p
}

// The guarantee of Repaired by brute force: over all reports of two users, the probabilities of
// their recommendations, for attributes that differ for the first one, are within e^epsilon of
// each other. A list that a single report gives attains the bound of randomised response, so a
// mechanism of a larger epsilon would be noticed, and so would attributes in the clear.
func TestRepairedByBruteForce(t *testing.T) {
	epsilon := Repaired().Features.Epsilon
	for _, o := range []local.Oracle{
		{Kind: local.GRR, Epsilon: epsilon, Categories: 2}, {Kind: local.GRR, Epsilon: epsilon, Categories: 3}, {Kind: local.OUE, Epsilon: epsilon, Categories: 3},
	} {
		k := o.Categories
		one := make([]tensor.Float, k) // report of the third user
		one[0] = 1
		reports, _ := law(o, 0)
		outcome := make([][]string, len(reports))
		met := map[string]bool{}
		for i, a := range reports {
			for _, b := range reports {
				text := recommended(t, [][]tensor.Float{a, b, one})
				outcome[i] = append(outcome[i], text)
				met[text] = true
			}
		}
		if len(met) < 2 {
			t.Fatalf("%s over %d levels: reports change no list", o.Kind, k)
		}
		// lists returns the law of what is recommended, by the attributes of both users.
		lists := func(first, second int) map[string]float64 {
			_, p := law(o, first)
			_, q := law(o, second)
			sum := map[string]float64{}
			for i, a := range p {
				for j, b := range q {
					sum[outcome[i][j]] += a * b
				}
			}
			return sum
		}
		worst := 0.0
		for a := range k {
			for b := range k {
				for second := range k {
					x, y := lists(a, second), lists(b, second)
					total := 0.0
					for text, p := range x {
						total += p
						worst = max(worst, math.Log(p/y[text]))
					}
					if math.Abs(total-1) > 1e-12 {
						t.Errorf("%s: probabilities add up to %v", o.Kind, total)
					}
				}
			}
		}
		if worst > epsilon*(1+1e-9) {
			t.Errorf("%s over %d levels: recommendations tell %v of one attribute, more than %v", o.Kind, k, worst, epsilon)
		}
		if worst < epsilon/3 {
			t.Errorf("%s over %d levels: recommendations tell only %v: the check would not see much larger budgets", o.Kind, k, worst)
		}
	}
}
