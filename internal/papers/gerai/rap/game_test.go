package rap

import (
	"math"
	"slices"
	"strings"
	"testing"

	"privrec/internal/autograd"
	"privrec/internal/dataset"
	"privrec/internal/model/bpr"
	"privrec/internal/model/rap"
	"privrec/internal/optim"
	"privrec/internal/protocol/topn"
	"privrec/internal/tensor"
)

// leaky makes users of two classes, each of whom has half of the items of their class, so that
// what BPR learns to recommend tells the class.
func leaky() (*dataset.Interactions, []dataset.Column) {
	d := &dataset.Interactions{Users: 40, Items: 40}
	class := dataset.Column{Name: "class", Levels: []string{"a", "b"}}
	for u := range int32(40) {
		c, items := u%2, []int32{}
		for k := range int32(20) {
			if (k+u/2)%2 == 0 {
				items = append(items, 20*c+k)
			}
		}
		d.Train, class.Codes = append(d.Train, items), append(class.Codes, c)
	}
	return d, []dataset.Column{class}
}

// setting reads nothing but the lists, so that hiding the class is up to the recommender.
func setting(weight float64) Config {
	c := Default()
	c.Model.Dim, c.Train.L2 = 6, 0.01
	c.Attack.Weight, c.Attack.Users, c.Attack.Read, c.Attack.Dim, c.Attack.Rate = weight, 40, 0, 4, 0.02
	return c
}

// step returns the triples of a step, each user with an item and a negative of the other class.
func step(d *dataset.Interactions, number int) topn.Step {
	s := topn.Step{Number: number, Count: float64(d.Users)}
	var negatives []int32
	for u, items := range d.Train {
		s.Users = append(s.Users, int32(u))
		s.Items = append(s.Items, items[number%len(items)])
		negatives = append(negatives, (items[number%len(items)]+20)%40)
	}
	s.Items = append(s.Items, negatives...)
	return s
}

// play trains for some steps, from a number of steps on.
func play(t *testing.T, g *game, from, steps int) {
	t.Helper()
	tape, adam := autograd.NewTape(), optim.NewAdam(0)
	for k := from; k < from+steps; k++ {
		tape.Reset()
		y, err := g.Loss(tape, step(g.data, k))
		if err != nil {
			t.Fatal(err)
		}
		tape.Backward(y)
		if err := adam.Step(g.Params(), tape.Grads(), 0.02); err != nil {
			t.Fatal(err)
		}
	}
}

// against returns the attacker's loss on all users.
func against(t *testing.T, g *game) float64 {
	t.Helper()
	users, r := g.read(0, 99)
	tape := autograd.NewTape()
	w, err := g.weights(tape, users)
	if err != nil {
		t.Fatal(err)
	}
	return g.attacker.Loss(tape, r, w).Scalar()
}

// On planted data the lists of BPR give the class away: the attacker that watches ends far
// below ln 2, the loss of one that knows nothing. Against the attacker as it then stands, the
// steps of a recommender that plays raise this loss, and those of one that does not lower it.
// The attacker's next steps lower it again, faster than it rises: who wins is no test's matter.
func TestTheRecommenderMisleadsTheAttacker(t *testing.T) {
	d, classes := leaky()
	after := func(weight float64) (before, loss float64) {
		g := newGame(setting(0), d, classes, 1)
		play(t, g, 0, 20)
		before = against(t, g)
		g.set.Steps, g.set.Weight = 0, weight
		play(t, g, 20, 40)
		return before, against(t, g)
	}
	before, watched := after(0)
	_, played := after(2)
	if before > 0.3*math.Ln2 || watched > before || played < 2*math.Ln2 {
		t.Errorf("the attacker's loss is %.3f of a chance of %.3f, then %.3f when it watches and %.3f when the recommender plays", before, math.Ln2, watched, played)
	}
}

// The loss of the recommender is BPR with its penalty, minus a times the attacker's loss after
// the attacker's steps.
func TestLossIsBPRMinusTheAttackers(t *testing.T) {
	d, classes := leaky()
	g, twin := newGame(setting(1.5), d, classes, 3), newGame(setting(1.5), d, classes, 3)
	s := step(d, 4)
	y, err := g.Loss(autograd.NewTape(), s)
	if err != nil {
		t.Fatal(err)
	}
	for k := range twin.set.Steps {
		if err := twin.attack(4, k); err != nil {
			t.Fatal(err)
		}
	}
	tape := autograd.NewTape()
	users, r := twin.read(4, twin.set.Steps)
	w, err := twin.weights(tape, users)
	if err != nil {
		t.Fatal(err)
	}
	theirs := twin.attacker.Loss(tape, r, w).Scalar()
	u, i := rows(tape, twin.vectors.User, s.Users), rows(tape, twin.vectors.Item, s.Items)
	ours := bpr.Loss(u, i, 1, s.Count).Scalar() + bpr.Penalty(0.01, s.Count, u, i).Scalar()
	if want := ours - 1.5*theirs; math.Abs(y.Scalar()-want) > 1e-5 {
		t.Errorf("loss %v, want %v - 1.5 * %v", y.Scalar(), ours, theirs)
	}
}

// What the attacker reads of a user are items that they have, at most so many, each once. The
// list has items that they do not have: all, or as many as asked for, of which none left out
// scores higher.
func TestRead(t *testing.T) {
	d, classes := leaky()
	for _, k := range []int{0, 5} {
		c := setting(1)
		c.Attack.Read, c.Attack.Users, c.Attack.K = 4, 17, k
		g := newGame(c, d, classes, 3)
		users, r := g.read(3, 0)
		list, err := g.list(autograd.NewTape(), users)
		if err != nil || len(users) != 17 || len(r.Items) != 17 || len(r.Labels[0]) != 17 || list.Rows != 17 || list.Cols != 40 {
			t.Fatalf("%d users, %d rows, %d labels, %v", len(users), len(r.Items), len(r.Labels[0]), err)
		}
		for n, u := range users {
			if slices.Contains(users[:n], u) || r.Labels[0][n] != classes[0].Codes[u] || len(r.Items[n]) != 4 {
				t.Errorf("user %d: label %d, %d items", u, r.Labels[0][n], len(r.Items[n]))
			}
			for j, i := range r.Items[n] {
				if !slices.Contains(d.Train[u], i) || slices.Contains(r.Items[n][:j], i) {
					t.Errorf("user %d is read as %v of %v", u, r.Items[n], d.Train[u])
				}
			}
			in, worst, best := 0, tensor.Float(math.Inf(1)), tensor.Float(math.Inf(-1))
			for i, x := range tensor.Row(list, n) {
				has, score := slices.Contains(d.Train[u], int32(i)), g.score(u, int32(i))
				switch {
				case x == 0 && !has:
					in, worst = in+1, min(worst, score)
				case x == rap.Outside && !has:
					best = max(best, score)
				case x != rap.Outside:
					t.Errorf("user %d, item %d: %v in the list, had is %v", u, i, x, has)
				}
			}
			if k == 0 && in != 30 || k > 0 && (in != k || worst < best) {
				t.Errorf("user %d: a list of %d, whose worst score is %v and the best outside %v", u, in, worst, best)
			}
		}
		if again, _ := g.read(3, 1); slices.Equal(users, again) {
			t.Error("another step draws the same users")
		}
	}
}

func (g *game) score(u, i int32) tensor.Float {
	return tensor.Dot(tensor.Row(g.vectors.User.Value, int(u)), tensor.Row(g.vectors.Item.Value, int(i)))
}

// What a checkpoint keeps brings another game to the same place. What it should not keep is
// refused, and changes nothing.
func TestState(t *testing.T) {
	d, classes := leaky()
	g := newGame(setting(1), d, classes, 3)
	play(t, g, 0, 20)
	kept, err := g.Save()
	if err != nil {
		t.Fatal(err)
	}
	other := newGame(setting(1), d, classes, 4)
	if err := other.Load(kept); err != nil {
		t.Fatal(err)
	}
	if again, err := other.Save(); err != nil || string(again) != string(kept) {
		t.Errorf("another state after loading (%v)", err)
	}
	wide := setting(1)
	wide.Attack.Dim = 5
	for name, c := range map[string]struct {
		g *game
		b string
	}{
		"another width": {newGame(wide, d, classes, 3), string(kept)},
		"no JSON":       {other, "{"},
		"nothing":       {other, "{}"},
		"a short one":   {other, strings.Replace(string(kept), `"bits":"`, `"bits":"AAAA`, 1)},
	} {
		before, err := c.g.Save()
		if err != nil {
			t.Fatal(err)
		}
		if c.g.Load([]byte(c.b)) == nil {
			t.Errorf("%s: no error", name)
		}
		if after, err := c.g.Save(); err != nil || string(after) != string(before) {
			t.Errorf("%s: the state changed (%v)", name, err)
		}
	}
}
