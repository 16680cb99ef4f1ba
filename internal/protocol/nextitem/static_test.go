package nextitem

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"privrec/internal/autograd"
	"privrec/internal/dataset"
	"privrec/internal/graph"
	"privrec/internal/model/bpr"
	"privrec/internal/model/bprmf"
	"privrec/internal/nn"
	"privrec/internal/run"
	"privrec/internal/tensor"
)

// factors is matrix factorisation as Vectors.
type factors struct{ *bprmf.Model }

func (f factors) All() (users, items tensor.Matrix, err error) {
	users, items = f.Model.All()
	return users, items, nil
}

// Pairs are a user's distinct items, less those that are nothing but held-out labels.
func TestPairs(t *testing.T) {
	d := &dataset.Sequential{Name: "hand", Users: 3, Items: 5, Train: [][]int32{{1, 2, 1, 3}, {}, {5, 4, 4, 2}}, Test: [][]int32{{1, 2}, {}, {}}, UserIDs: []string{"a", "b", "c"}}
	s := small()
	s.Fit.Validation, s.Fit.Refit, s.Fit.Select, s.Fit.Patience, s.Eval.K = 0, false, SelectLast, 0, []int{2}
	x, err := Cut(run.Rehearse(1), s, d)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		held []int32 // labels, by sample: of a at 1 to 3, of c at 1 to 3
		want string
	}{
		{nil, "[0 1 2] [] [1 3 4]"},
		{[]int32{0}, "[0 2] [] [1 3 4]"},      // 2 of a
		{[]int32{1, 3}, "[0 1 2] [] [1 3 4]"}, // 1 of a, which is the first item too; one of the 4s of c
		{[]int32{3, 4, 5}, "[0 1 2] [] [4]"},  // all of c but the first
		{[]int32{0, 1, 2, 5}, "[0] [] [3 4]"}, // 2, 1, 3 of a; 2 of c
	} {
		var learned dataset.Samples
		for i := range x.Train.Samples.User {
			if !slices.Contains(c.held, int32(i)) {
				learned.User, learned.Length = append(learned.User, x.Train.Samples.User[i]), append(learned.Length, x.Train.Samples.Length[i])
			}
		}
		g, err := x.Pairs(x.Train.with("train", learned))
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(g.ItemsOf(0), g.ItemsOf(1), g.ItemsOf(2)); got != c.want {
			t.Errorf("without the labels of %v: %s, want %s", c.held, got, c.want)
		}
	}
}

// Every sample is ranked by its user's vector, whatever its prefix; a training learns the
// pairs of its part alone; the second one begins anew.
func TestStatic(t *testing.T) {
	s := small()
	s.Method, s.Fit.L2, s.Fit.Rate, s.Fit.Epochs = "BPRMF", 0, 0.01, 3
	inRun(t, s, func(ctx context.Context, x *Experiment) error {
		var learned []*graph.Bipartite
		x.New = func(q *Part) (Learner, error) {
			o := bpr.SamplerOptions{Positives: bpr.Pass, Negatives: bpr.Unseen, Batch: x.Fit.Batch, Seed: x.Env.Seed}
			return NewStatic(x, q, o, 1e-4, func(g *graph.Bipartite) (bpr.Static, error) {
				learned = append(learned, g)
				return factors{bprmf.New(g.Users, g.Items, 4, nn.Normal(x.Env.Seed, 0.1))}, nil
			})
		}
		f, err := x.fit(ctx)
		if err != nil {
			return err
		}
		if len(learned) != 2 || learned[0].Edges() >= learned[1].Edges() || len(f.Epochs) != f.Chose().Best+1 {
			t.Errorf("%d models; %d epochs, %d chosen", len(learned), len(f.Epochs), f.Chose().Best+1)
		}
		if n := x.Model.Count(x.Train); n != learned[0].Edges() {
			t.Errorf("%d pairs are counted, %d learned", n, learned[0].Edges())
		}
		held := map[graph.Edge]bool{}
		for i, u := range x.Valid.Samples.User {
			held[graph.Edge{User: u, Item: x.Valid.Labels[i]}] = true
		}
		kept := 0
		for e := range held {
			if learned[0].Has(e.User, e.Item) {
				kept++ // it is another sample's label, or first, as well
			}
			if !learned[1].Has(e.User, e.Item) {
				t.Errorf("the second training lacks %v", e)
			}
		}
		if kept > len(held)/2 {
			t.Errorf("%d of %d held-out labels are learned", kept, len(held))
		}
		m := x.Model.(*Static)
		scorer, err := m.Scorer(x.Test, 0, false)
		if err != nil {
			return err
		}
		samples := []int32{0, 1, int32(x.Test.Samples.Len() - 1)}
		scores := tensor.New(len(samples), x.Items)
		if err := scorer.Score(autograd.NewTape(), samples, scores); err != nil {
			return err
		}
		users, items, err := m.All()
		if err != nil {
			return err
		}
		for k, i := range samples {
			u := int(x.Test.Samples.User[i])
			for j := range x.Items {
				if got, want := tensor.Row(scores, k)[j], tensor.Dot(tensor.Row(users, u), tensor.Row(items, j)); got-want > 1e-5 || want-got > 1e-5 {
					t.Fatalf("sample %d, item %d: %v, want %v", i, j, got, want)
				}
			}
		}
		o, err := x.measure(ctx, f)
		if err == nil && o.Evaluations[0].Values["Recall@20"] <= o.Floors[0].Values["Recall@20"] {
			t.Errorf("Recall@20 %v, a random order %v", o.Evaluations[0].Values, o.Floors[0].Values)
		}
		return err
	})
}
