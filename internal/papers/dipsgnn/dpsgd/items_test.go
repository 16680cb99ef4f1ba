package dpsgd

import (
	"math"
	"slices"
	"testing"

	"privrec/internal/autograd"
	"privrec/internal/dataset"
	"privrec/internal/model/userinput"
	"privrec/internal/nn"
	"privrec/internal/papers/dipsgnn"
	"privrec/internal/privacy"
	"privrec/internal/privacy/descent"
	"privrec/internal/protocol/nextitem"
	"privrec/internal/rng"
	"privrec/internal/run"
	"privrec/internal/tensor"
	"privrec/internal/train"
)

// The data of the tests: items 1 to 4.
var (
	trainRows = [][]int32{{1, 2, 1, 3}, {}, {4, 4, 2}}
	testRows  = [][]int32{{2, 3}, {1}, {}}
)

// exchanged calls f with every neighbour of the data: one item exchanged for another. at is its position in the training
// sequence of user u, or -1 for an item of the test sequences.
func exchanged(f func(train, test [][]int32, u, at int)) {
	for k, part := range [][][]int32{trainRows, testRows} {
		for u, s := range part {
			for at, item := range s {
				for other := int32(1); other <= 4; other++ {
					if other == item {
						continue
					}
					parts := [][][]int32{slices.Clone(trainRows), slices.Clone(testRows)}
					parts[k][u] = slices.Clone(s)
					parts[k][u][at] = other
					if k == 1 {
						f(parts[0], parts[1], u, -1)
					} else {
						f(parts[0], parts[1], u, at)
					}
				}
			}
		}
	}
}

// Another item at one position moves one row of what is released, by at most 2 C, and no item there by at most C.
func TestSensitivityOfItems(t *testing.T) {
	const norm = 0.7
	code := codes(4, 3, norm, rng.Seed(1).Stream("codes"))
	own, places := lay(trainRows, testRows, code)
	if own.rows.Rows != 10 || !slices.Equal(places.sequence, []int32{0, 2, 3, 4}) || !slices.Equal(places.part, []int32{0, 0, 0, 0, 1, 1, 1, 2, 2, 3}) ||
		!slices.Equal(places.at, []int32{0, 1, 2, 3, 0, 1, 2, 0, 1, 0}) || !slices.Equal(own.train, []int{0, 4, 4}) || !slices.Equal(own.test, []int{7, 9, 10}) {
		t.Fatalf("%+v %+v", own, places)
	}
	farthest := 0.0
	exchanged(func(train, test [][]int32, _, _ int) {
		other, _ := lay(train, test, code)
		moved, sq := 0, 0.0
		for i := range own.rows.Rows {
			d := 0.0
			for k, v := range tensor.Row(own.rows, i) {
				d += math.Pow(float64(v-tensor.Row(other.rows, i)[k]), 2)
			}
			if d > 0 {
				moved++
			}
			sq += d
		}
		farthest = max(farthest, math.Sqrt(sq))
		if moved != 1 {
			t.Errorf("%d rows move", moved)
		}
	})
	if farthest > 2*norm || farthest < norm {
		t.Errorf("the release moves by up to %v, C is %v", farthest, norm)
	}
	for i := 1; i <= 4; i++ {
		if n := math.Sqrt(tensor.SumSq(tensor.Row(code, i))); n > norm || n < norm*(1-1e-5) {
			t.Errorf("the code of item %d has the length %v, want %v or a little less", i, n, norm)
		}
	}
	c := Interactions()
	c.Model.Norm = norm
	law, err := c.items()
	if err != nil || law.Sensitivity != norm || law.Unit != privacy.Interaction || law.Neighbouring != privacy.AddRemove {
		t.Errorf("%+v, %v", law, err)
	}
}

// sums returns the sum of clipped gradients over all samples, almost without noise. items: the network reads these rows;
// nil: it reads items in the clear.
func sums(t *testing.T, rows [][]int32, items *released, clip float64) []float64 {
	t.Helper()
	c := Interactions()
	c.Model.Dim, c.Model.UserDim, c.Model.UserInput, c.Model.Norm = 3, 2, userinput.ID, 0.7
	d := &dataset.Sequential{Train: rows, Test: testRows, Users: 3, Items: 4, UserIDs: []string{"a", "b", "c"}, ItemIDs: []string{"", "1", "2", "3", "4"}}
	x, err := nextitem.Cut(run.Rehearse(1), nextitem.Setting{From: c.Data, Fit: c.training(),
		Eval: nextitem.Ranking{K: []int{1}}, ByPosition: items != nil}, d)
	if err != nil {
		t.Fatal(err)
	}
	init := nn.Uniform(3, 0.9)
	network, user := dipsgnn.NewNetwork(4, c.Model, init), userinput.New(tensor.Matrix{}, 3, 2, init)
	net := dipsgnn.WithoutNoise(network, user)
	if items != nil {
		net = dipsgnn.OnInputs(network, user, items.states)
	}
	ledger, err := privacy.NewLedger(privacy.Research)
	if err != nil {
		t.Fatal(err)
	}
	law := descent.DPSGD{Purpose: purpose, Clip: clip, NoiseMultiplier: 1e-7, Examples: int64(x.Train.Samples.Len()), Sampling: privacy.Poisson, Rate: 1, Unit: privacy.Interaction}
	p := &private{Sessions: nextitem.Sessions{Net: net, Part: x.Train, Batch: 4}, Unit: privacy.Interaction,
		Noise: &noisySteps{Clip: clip, Ledger: ledger, Passes: nextitem.Passes{Epochs: 1},
			Open: func(dim int) (descent.Run[tensor.Float], error) {
				return descent.Open[tensor.Float](law, dim, ledger, rng.Seed(4).Stream("noise"))
			}}}
	l, err := p.Lessons(0)
	if err != nil {
		t.Fatal(err)
	}
	if l.Samples != x.Train.Samples.Len() {
		t.Fatalf("%d examples for %d samples", l.Samples, x.Train.Samples.Len())
	}
	tape := autograd.NewTape()
	loss, err := l.Model.Loss(tape, train.Batch{})
	if err != nil {
		t.Fatal(err)
	}
	tape.Backward(loss)
	var all []float64
	for _, q := range p.Params() {
		g, ok := tape.Grads().Dense(q)
		if !ok {
			t.Fatalf("%s has no gradient", q.Name)
		}
		for _, v := range g.Data {
			all = append(all, float64(v)*float64(l.Samples)) // a step gives the mean
		}
	}
	return all
}

func distance(a, b []float64) float64 {
	sq := 0.0
	for i := range a {
		sq += (a[i] - b[i]) * (a[i] - b[i])
	}
	return math.Sqrt(sq)
}

// Given what was released of the items, one interaction is one label: over all neighbours the sum of clipped gradients
// moves by at most twice the clip, and not at all for items that are no label. Where items are read in the clear it moves
// by more, since one item is in many samples.
func TestOneInteractionIsOneLabel(t *testing.T) {
	const clip = 0.1
	const rounding = 1e-4
	code := codes(4, 3, 0.7, rng.Seed(1).Stream("codes"))
	items, _ := lay(trainRows, testRows, code)
	items.scale = 1
	own, clear := sums(t, trainRows, items, clip), sums(t, trainRows, nil, clip)
	labels, most := 0, 0.0
	exchanged(func(train, _ [][]int32, _, at int) {
		if at < 0 { // of a test sequence, which training does not see
			return
		}
		moved := distance(own, sums(t, train, items, clip))
		if at == 0 && moved > rounding || moved > 2*clip+rounding {
			t.Errorf("position %d: the sum moves by %v, the clip is %v", at, moved, clip)
		}
		if moved > clip/10 {
			labels++
		}
		most = max(most, distance(clear, sums(t, train, nil, clip)))
	})
	if labels != 15 { // five labels, each for three others
		t.Errorf("%d of 15 exchanged labels move the sum", labels)
	}
	if most <= 2*clip+rounding {
		t.Errorf("items in the clear move the sum by %v only, no more than twice the clip %v", most, clip)
	}
}
