package bpr

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"privrec/internal/graph"
	"privrec/internal/rng"
)

// small is a graph of 4 users and 6 items in which user 2 has nothing.
func small(t testing.TB) *graph.Bipartite {
	t.Helper()
	g, err := graph.NewBipartite(4, 6, []graph.Edge{{User: 0, Item: 1}, {User: 0, Item: 4}, {User: 1, Item: 0}, {User: 1, Item: 2}, {User: 1, Item: 3}, {User: 1, Item: 4}, {User: 1, Item: 5}, {User: 3, Item: 5}})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func sampler(t testing.TB, g *graph.Bipartite, o SamplerOptions) *Sampler {
	t.Helper()
	s, err := NewSampler(g, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func all(n int) []int32 {
	list := make([]int32, n)
	for i := range list {
		list[i] = int32(i)
	}
	return list
}

// near fails where a count of successes of independent trials is outside what its
// probability allows: Bernstein's inequality, false alarms below 1e-9 / 1000.
func near(t *testing.T, what string, count, trials int, p float64) {
	t.Helper()
	l := math.Log(2 * 1000 * 1e9)
	allowed := math.Sqrt(2*float64(trials)*p*(1-p)*l) + 2*l/3
	if want := float64(trials) * p; math.Abs(float64(count)-want) > allowed {
		t.Errorf("%s: %d of %d, want %.0f within %.0f", what, count, trials, want, allowed)
	}
}

func TestPassTakesTheEdgesNamed(t *testing.T) {
	g := small(t)
	s := sampler(t, g, SamplerOptions{Positives: Pass, Negatives: Unseen, Batch: 3, Seed: 1})
	got := s.Draw(7, []int32{5, 0, 7})
	if !slices.Equal(got.Users, []int32{1, 0, 3}) || !slices.Equal(got.Items[:3], []int32{4, 1, 5}) || len(got.Items) != 6 {
		t.Errorf("%+v", got)
	}
	if s.Count(3) != 3 {
		t.Errorf("a sum of 3 pairs is divided by %v", s.Count(3))
	}
}

func TestMissing(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, 40).Draw(rt, "items")
		var held, want []int32
		for i := range n {
			if rapid.Bool().Draw(rt, "held") {
				held = append(held, int32(i))
			} else {
				want = append(want, int32(i))
			}
		}
		for k, w := range want {
			if got := missing(held, k); got != w {
				rt.Fatalf("missing number %d of %v is %d, want %d", k, held, got, w)
			}
		}
	})
}

// User 1 lacks a single item, user 0 four: negatives are uniform among those.
func TestNegatives(t *testing.T) {
	g := small(t)
	const steps = 20_000
	for _, kind := range []string{Unseen, All} {
		t.Run(kind, func(t *testing.T) {
			s := sampler(t, g, SamplerOptions{Positives: Pass, Negatives: kind, Batch: 2, Seed: 3})
			var counts [4][6]int
			for step := range steps {
				d := s.Draw(step, []int32{0, 2})
				for k, u := range d.Users {
					counts[u][d.Items[len(d.Users)+k]]++
				}
			}
			for _, u := range []int{0, 1} {
				for i := range g.Items {
					p := 1 / float64(g.Items)
					if kind == Unseen {
						p = 1 / float64(g.Items-g.UserDegree(u))
						if g.Has(int32(u), int32(i)) {
							p = 0
						}
					}
					if p == 0 && counts[u][i] > 0 {
						t.Errorf("user %d got item %d, which they have, %d times", u, i, counts[u][i])
					}
					near(t, "negatives", counts[u][i], steps, p)
				}
			}
		})
	}
}

// Every negative of a positive has the same law, and the first is that of a sampler of one.
func TestNegativesEach(t *testing.T) {
	g := small(t)
	one := sampler(t, g, SamplerOptions{Positives: Pass, Negatives: Unseen, Batch: 2, Seed: 3})
	s := sampler(t, g, SamplerOptions{Positives: Pass, Negatives: Unseen, Each: 3, Batch: 2, Seed: 3})
	const steps = 20_000
	var counts [3][6]int // of user 0, who has items 1 and 4
	both := 0
	for step := range steps {
		d := s.Draw(step, []int32{0, 2})
		if first := one.Draw(step, []int32{0, 2}); !slices.Equal(d.Items[:4], first.Items) || len(d.Items) != 8 {
			t.Fatalf("step %d: items %v, with one negative %v", step, d.Items, first.Items)
		}
		for j := range counts {
			counts[j][d.Items[2*(1+j)]]++
			if n := d.Items[2*(1+j)+1]; g.Has(d.Users[1], n) {
				t.Fatalf("step %d: user %d got item %d, which they have", step, d.Users[1], n)
			}
		}
		if d.Items[2] == 0 && d.Items[4] == 0 {
			both++
		}
	}
	for j := range counts {
		for _, i := range []int{0, 2, 3, 5} {
			near(t, "negatives", counts[j][i], steps, 0.25)
		}
	}
	near(t, "pairs of negatives", both, steps, 1.0/16)
}

func TestUserUniform(t *testing.T) {
	g := small(t)
	s := sampler(t, g, SamplerOptions{Positives: UserUniform, Negatives: Unseen, Batch: 10, Seed: 3})
	counts := map[graph.Edge]int{}
	const steps = 4_000
	for step := range steps {
		d := s.Draw(step, all(10))
		if len(d.Users) != 10 || len(d.Items) != 20 {
			t.Fatalf("%d users and %d items of 10 pairs", len(d.Users), len(d.Items))
		}
		for k, u := range d.Users {
			counts[graph.Edge{User: u, Item: d.Items[k]}]++
		}
	}
	for e := range g.Edges() {
		x := g.Edge(e)
		near(t, "pairs", counts[x], 10*steps, 1/3.0/float64(g.UserDegree(int(x.User))))
		delete(counts, x)
	}
	if len(counts) > 0 {
		t.Errorf("pairs that are no edges: %v", counts)
	}
}

// Every edge is included independently at the rate: singles, pairs and the empty
// batch come as often as they should.
func TestPoisson(t *testing.T) {
	g := small(t)
	s := sampler(t, g, SamplerOptions{Positives: Poisson, Negatives: All, Batch: 2, Seed: 9})
	const q, steps = 2.0 / 8, 40_000
	if s.Rate() != q || s.Count(5) != 2 {
		t.Errorf("rate %v, sums divided by %v", s.Rate(), s.Count(5))
	}
	var one [8]int
	var two [8][8]int
	empty := 0
	at := map[graph.Edge]int{}
	for e := range g.Edges() {
		at[g.Edge(e)] = e
	}
	for step := range steps {
		d := s.Draw(step, all(3))
		var in []int
		for k, u := range d.Users {
			e, ok := at[graph.Edge{User: u, Item: d.Items[k]}]
			if !ok || len(in) > 0 && e <= in[len(in)-1] {
				t.Fatalf("step %d: %+v are not edges in order, each once", step, d)
			}
			in = append(in, e)
		}
		if len(in) == 0 {
			empty++
		}
		for i, e := range in {
			one[e]++
			for _, f := range in[i+1:] {
				two[e][f]++
			}
		}
	}
	near(t, "empty batches", empty, steps, math.Pow(1-q, 8))
	for e := range one {
		near(t, "inclusions", one[e], steps, q)
		for f := e + 1; f < 8; f++ {
			near(t, "pairs of inclusions", two[e][f], steps, q*q)
		}
	}
	whole := sampler(t, g, SamplerOptions{Positives: Poisson, Negatives: All, Batch: 100, Seed: 9})
	if d := whole.Draw(0, nil); len(d.Users) != 8 || whole.Rate() != 1 || whole.Count(1) != 8 {
		t.Errorf("a batch above the edges takes %d of 8 at rate %v", len(d.Users), whole.Rate())
	}
}

// What is drawn depends on seed, step and place alone.
func TestDrawsAreKeyed(t *testing.T) {
	g := small(t)
	for _, kind := range []string{Pass, UserUniform, Poisson} {
		o := SamplerOptions{Positives: kind, Negatives: Unseen, Batch: 6, Seed: 5}
		a, b := sampler(t, g, o), sampler(t, g, o)
		want := a.Draw(3, all(6))
		want = Triples{slices.Clone(want.Users), slices.Clone(want.Items)}
		b.Draw(1, all(8))
		if got := b.Draw(3, all(6)); !slices.Equal(got.Users, want.Users) || !slices.Equal(got.Items, want.Items) {
			t.Errorf("%s: step 3 depends on what was drawn before: %+v, %+v", kind, got, want)
		}
		if got := b.Draw(4, all(6)); slices.Equal(got.Items, want.Items) {
			t.Errorf("%s: steps 3 and 4 draw alike", kind)
		}
		o.Seed = 6
		if got := sampler(t, g, o).Draw(3, all(6)); slices.Equal(got.Items, want.Items) {
			t.Errorf("%s: seeds 5 and 6 draw alike", kind)
		}
		if kind == Poisson {
			continue
		}
		part := a.Draw(3, all(4)) // the first places of a longer batch
		if !slices.Equal(part.Users, want.Users[:4]) || !slices.Equal(part.Items[4:], want.Items[6:10]) {
			t.Errorf("%s: the place in the batch does not decide", kind)
		}
	}
}

func TestSamplerRefuses(t *testing.T) {
	g := small(t)
	full, err := graph.NewBipartite(2, 2, []graph.Edge{{User: 0, Item: 0}, {User: 1, Item: 0}, {User: 1, Item: 1}})
	if err != nil {
		t.Fatal(err)
	}
	none, err := graph.NewBipartite(2, 2, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		g    *graph.Bipartite
		o    SamplerOptions
		want string
	}{
		{"positives", g, SamplerOptions{Positives: "shuffle", Negatives: Unseen, Batch: 1}, `positives "shuffle"`},
		{"negatives", g, SamplerOptions{Positives: Pass, Negatives: "hard", Batch: 1}, `negatives "hard"`},
		{"batch", g, SamplerOptions{Positives: Pass, Negatives: All}, "batch of 0"},
		{"no edges", none, SamplerOptions{Positives: Pass, Negatives: All, Batch: 1}, "without edges"},
		{"a user with everything", full, SamplerOptions{Positives: Pass, Negatives: Unseen, Batch: 1}, "user 1 has all 2 items"},
	} {
		if _, err := NewSampler(c.g, c.o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
	_, err = NewSampler(full, SamplerOptions{Positives: Pass, Negatives: Unseen, Batch: 1})
	if e := (*NoNegativeError)(nil); !errors.As(err, &e) || e.User != 1 || e.Items != 2 {
		t.Errorf("%#v", err)
	}
	if _, err := NewSampler(full, SamplerOptions{Positives: Pass, Negatives: All, Batch: 1, Seed: rng.Seed(1)}); err != nil {
		t.Errorf("negatives among all items need no user without everything: %v", err)
	}
}

// An item that a user has is no negative, also where it is no positive: one positive less changes no other triple's items.
func TestSeen(t *testing.T) {
	g := small(t)
	part, err := graph.NewBipartite(4, 6, []graph.Edge{{User: 0, Item: 1}, {User: 1, Item: 0}})
	if err != nil {
		t.Fatal(err)
	}
	drawn := func(seen *graph.Bipartite) (held int) {
		s := sampler(t, part, SamplerOptions{Positives: Pass, Negatives: Unseen, Batch: 2, Seed: 3, Seen: seen})
		for step := range 400 {
			d := s.Draw(step, all(part.Edges()))
			for k, u := range d.Users {
				if g.Has(u, d.Items[len(d.Users)+k]) {
					held++
				}
			}
		}
		return held
	}
	if n := drawn(g); n > 0 {
		t.Errorf("%d negatives are items that the user has", n)
	}
	if drawn(nil) == 0 {
		t.Error("no negative is an item that the user has either where these are positives alone: this test sees nothing")
	}
	other, err := graph.NewBipartite(4, 7, []graph.Edge{{User: 0, Item: 1}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := NewSampler(part, SamplerOptions{Positives: Pass, Negatives: Unseen, Batch: 2, Seen: other}); err == nil {
		t.Error("negatives of other items were taken")
	}
}

// A user whom no negative can be drawn for is named; other errors stay as they are.
func TestNamedKeepsOtherErrors(t *testing.T) {
	plain := errors.New("plain")
	if Named(plain, "data", nil) != plain || Named(nil, "data", nil) != nil {
		t.Error("an error of another kind is changed")
	}
	err := Named(&NoNegativeError{User: 0, Items: 2}, "data", []string{"a"})
	if none := (*NoNegativeError)(nil); !errors.As(err, &none) || !strings.Contains(err.Error(), `"a"`) {
		t.Errorf("%v", err)
	}
}
