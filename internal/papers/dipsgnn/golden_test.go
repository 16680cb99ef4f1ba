package dipsgnn

import (
	"fmt"
	"math"
	"testing"

	"privrec/internal/protocol/nextitem"

	"privrec/internal/autograd"
	"privrec/internal/dataset"
	"privrec/internal/nn"
	"privrec/internal/tensor"
	"privrec/internal/train"
)

// precise reports whether this build computes in float64.
var precise = fmt.Sprintf("%T", tensor.Float(0)) == "float64"

// golden is an example whose numbers this program did not make: d=4, d'=2, |V|=5, three
// features, C=0.5, no noise, session 1,2,1,3 with label 4, features (1,0,1).
// Tensor number t holds 0.3 sin(k+1+10t) at row-major index k, in the order of
// the published program, whose two attention biases add up to ours.
func golden(t *testing.T, steps int) *recommender {
	t.Helper()
	features := tensor.New(1, 3)
	copy(features.Data, []tensor.Float{1, 0, 1})
	n := newNoisy(5, 1, ModelConfig{
		Dim: 4, UserDim: 2, Steps: steps, Norm: 0.5, Normalise: NormaliseRescale, Adjacency: AdjacencyCounts,
	}, features, nn.Zeros)
	p := nextitem.NewPart("train", [][]int32{{1, 2, 1, 3, 4}}, dataset.Samples{User: []int32{0}, Length: []int32{4}}, 5)
	r := newRecommender(t, n, p, nil)
	gru, read := n.Cell.GRU, n.Read
	second := autograd.NewParam("c2", 1, 4)
	for i, param := range []*autograd.Param{
		n.Item, n.user.Table, n.In.W, n.Out.W, n.In.B, n.Out.B, gru.Wih, gru.Whh, gru.Bih, gru.Bhh,
		read.Last.W, read.Each.B, read.Each.W, second, read.Query, read.Join.W, read.Join.B,
	} {
		for k := range param.Value.Data {
			param.Value.Data[k] = tensor.Float(0.3 * math.Sin(float64(k+1+10*i)))
		}
	}
	tensor.Add(read.Each.B.Value.Data, second.Value.Data)
	return r
}

func TestGolden(t *testing.T) {
	tolerance := 1e-4
	if precise {
		tolerance = 1e-7
	}
	for _, c := range []struct {
		steps  int
		loss   float64
		scores []float64
		norms  map[string]float64 // of the gradient, by parameter
		dE10   float64            // dE[1][0]
	}{
		{
			1, 1.4862130713, []float64{0.10742153, 0.00084686, -0.10852863, 0.14103123, -0.07583970},
			map[string]float64{
				"item": 0.4766661989, "user": 0.0376906982, "in.W": 0.0076489643, "out.W": 0.0050254928,
				"cell.Wih": 0.0344750911, "cell.Whh": 0.0055151132, "read.join.W": 0.2217758252,
			},
			-0.0783875424,
		},
		{
			2, 1.4950620213, []float64{0.09977918, 0.00000964, -0.09979178, 0.13044688, -0.07073977},
			map[string]float64{"item": 0.5559865883, "cell.Wih": 0.0581652189, "in.W": 0.0131941697},
			-0.0735078718,
		},
	} {
		t.Run(fmt.Sprintf("T=%d", c.steps), func(t *testing.T) {
			near := func(what string, got, want float64) {
				if !(math.Abs(got-want) <= tolerance*max(1, math.Abs(want))) {
					t.Errorf("%s is %.10f, want %.10f", what, got, want)
				}
			}
			r := golden(t, c.steps)
			scores := tensor.New(1, 5)
			if err := r.Score(autograd.NewTape(), []int32{0}, scores); err != nil {
				t.Fatal(err)
			}
			for j, want := range c.scores {
				near(fmt.Sprintf("score %d", j+1), float64(scores.Data[j]), want)
			}
			tape := autograd.NewTape()
			loss, err := r.Loss(tape, train.Batch{Samples: []int32{0}})
			if err != nil {
				t.Fatal(err)
			}
			near("loss", loss.Scalar(), c.loss)
			tape.Backward(loss)
			params := map[string]*autograd.Param{}
			for _, p := range r.Params() {
				params[p.Name] = p
			}
			for name, want := range c.norms {
				p := params[name]
				if p == nil {
					t.Fatalf("no parameter %q", name)
				}
				near("|d "+name+"|", math.Sqrt(tensor.SumSq(gradient(tape, p).Data)), want)
			}
			near("dE[1][0]", float64(gradient(tape, params["item"]).Data[4]), c.dE10)
		})
	}
}

// gradient is the gradient of p as a dense matrix.
func gradient(t *autograd.Tape, p *autograd.Param) tensor.Matrix {
	if m, ok := t.Grads().Dense(p); ok {
		return m
	}
	m := tensor.New(p.Value.Rows, p.Value.Cols)
	if rows, values, ok := t.Grads().Sparse(p); ok {
		for i, row := range rows {
			copy(tensor.Row(m, int(row)), tensor.Row(values, i))
		}
	}
	return m
}
