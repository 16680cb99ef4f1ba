package forgetting

import (
	"fmt"
	"slices"
	"testing"

	"privrec/internal/dataset"
	"privrec/internal/graph"
	"privrec/internal/model/bpr"
	"privrec/internal/model/bprmf"
	"privrec/internal/nn"
	"privrec/internal/rng"
	"privrec/internal/run"
	"privrec/internal/tensor"
)

// factors is a Build of matrix factorisation for any name.
func factors(m ModelConfig, g *graph.Bipartite, seed rng.Seed) (bpr.Static, error) {
	return tables{bprmf.New(g.Users, g.Items, m.Dim, nn.Xavier(seed))}, nil
}

// tables has the vectors of matrix factorisation, which cannot fail.
type tables struct{ *bprmf.Model }

func (t tables) All() (users, items tensor.Matrix, err error) {
	users, items = t.Model.All()
	return users, items, nil
}

// planted returns rows of users who have nothing in common: so many random items each, and one more in validation and
// one in test. What a model shows of a user it can only have from that user's rows.
func planted(users, items, rows int) *dataset.Interactions {
	d := &dataset.Interactions{Name: "planted", Users: users, Items: items}
	for i := range items {
		d.ItemIDs = append(d.ItemIDs, fmt.Sprintf("i%04d", i))
	}
	for u := range users {
		d.UserIDs = append(d.UserIDs, fmt.Sprintf("u%04d", u))
		s := rng.Seed(1).Stream("planted", uint64(u))
		p := s.Perm(items)
		own := p[:rows]
		slices.Sort(own)
		d.Train, d.Valid = append(d.Train, own), append(d.Valid, p[rows:rows+1])
		d.Test = append(d.Test, p[rows+1:rows+2])
	}
	return d
}

// ready returns a study of planted rows, after its draws.
func ready(t *testing.T, d *dataset.Interactions, change func(c *Config)) *study {
	t.Helper()
	c := Default()
	c.Model.Dim, c.Train = 16, TrainConfig{Epochs: 30, Batch: 256, Rate: 0.02, L2: 0.001}
	c.Forget.Share, c.Attack.References = 0.2, 1
	change(&c)
	s := &study{Config: c, env: run.Rehearse(1), build: factors, data: d}
	var err error
	if s.groups, err = drawGroups(d, c.Forget.Share, s.env.Seed); err != nil {
		t.Fatal(err)
	}
	if s.rest, err = graphOf(d, s.remaining); err != nil {
		t.Fatal(err)
	}
	return s
}
