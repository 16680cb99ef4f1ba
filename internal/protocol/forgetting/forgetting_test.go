package forgetting

import (
	"math"
	"slices"
	"testing"

	"privrec/internal/dataset"
	"privrec/internal/metrics"
	"privrec/internal/rng"
	"privrec/internal/tensor"
)

// Groups are of equal size, disjoint, and everybody; they depend on ids and not on numbers.
func TestDrawGroups(t *testing.T) {
	d := planted(100, 30, 3)
	d.Train[7] = nil
	g, err := drawGroups(d, 0.1, 1)
	if err != nil {
		t.Fatal(err)
	}
	if len(g.forgotten) != 10 || len(g.strangers) != 10 || len(g.remaining) != 79 {
		t.Fatalf("%d, %d and %d users", len(g.forgotten), len(g.strangers), len(g.remaining))
	}
	all := slices.Sorted(slices.Values(slices.Concat(g.forgotten, g.strangers, g.remaining)))
	if len(slices.Compact(all)) != 99 || slices.Contains(all, 7) {
		t.Error("the groups overlap, or have a user without rows")
	}
	backwards := *d
	backwards.UserIDs, backwards.Train = slices.Clone(d.UserIDs), slices.Clone(d.Train)
	slices.Reverse(backwards.UserIDs)
	slices.Reverse(backwards.Train)
	r, err := drawGroups(&backwards, 0.1, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range g.forgotten {
		if !slices.Contains(r.forgotten, 99-u) {
			t.Errorf("user %q is forgotten under one number only", d.UserIDs[u])
		}
	}
	if other, err := drawGroups(d, 0.1, 2); err != nil || slices.Equal(other.forgotten, g.forgotten) {
		t.Errorf("another seed draws the same users (%v)", err)
	}
	if _, err := drawGroups(d, 0.02, 1); err == nil {
		t.Error("two users are enough")
	}
}

// chance is the most that the AUC of exchangeable users differs from one half, but for one case in 1e9: 6.2 deviations
// of the statistic of Mann and Whitney.
func chance(n int) float64 { return 6.2 * math.Sqrt(float64(2*n+1)/(12*float64(n)*float64(n))) }

// The attack finds users in the model that was trained on them, and equally after an unlearning that does nothing but
// delete their vectors. In a model trained from the start it finds nothing. The false-alarm rate is 1e-9 for each.
func TestWhoIsForgotten(t *testing.T) {
	s := ready(t, planted(1500, 120, 10), func(c *Config) { c.Eval.Resamples = 200 })
	ctx, x := t.Context(), &compared{}
	first, err := s.fitted(ctx, s.env.Seed, s.forgotten, s.remaining)
	if err != nil {
		t.Fatal(err)
	}
	nothing, err := s.over(first, s.rest)
	if err != nil {
		t.Fatal(err)
	}
	again, err := s.fitted(ctx, s.env.Seed, s.remaining)
	if err != nil {
		t.Fatal(err)
	}
	reference, err := s.fitted(ctx, 99, s.remaining)
	if err != nil {
		t.Fatal(err)
	}
	for name, m := range map[string]*network{"before": first, "nothing": nothing, "again": again, "": reference} {
		w := &way{name: name}
		if w.shown, err = show(m); err != nil {
			t.Fatal(err)
		}
		if w.evidence, err = s.signals(w.models); err != nil {
			t.Fatal(err)
		}
		if name == "" {
			x.references = append(x.references, w)
		} else {
			x.ways = append(x.ways, w)
		}
	}
	auc, most := map[string][]float64{}, chance(len(s.forgotten))
	for _, w := range x.ways {
		for _, a := range x.attacks(w.evidence) {
			v, err := metrics.AUC(a.score, s.positive())
			if err != nil {
				t.Fatal(err)
			}
			auc[w.name] = append(auc[w.name], v)
		}
	}
	t.Logf("AUC %v, chance within %.3f", auc, most)
	if !slices.Equal(auc["before"], auc["nothing"]) {
		t.Errorf("doing nothing changes what is found: %v, %v", auc["before"], auc["nothing"])
	}
	if auc["before"][mainAttack] < 0.5+most {
		t.Errorf("the attack finds nothing before: %v", auc["before"])
	}
	for k, v := range auc["again"] {
		if math.Abs(v-0.5) > most {
			t.Errorf("attack %d finds users in a model that never had them: %.3f", k, v)
		}
	}
	o := &Outcome{}
	if err := s.detect(x, o); err != nil {
		t.Fatal(err)
	}
	for _, w := range o.Ways {
		if w.Name != "again" && w.found() == 0 {
			t.Errorf("%s: no interval is without one half: %+v", w.Name, w.Attacks)
		}
	}
}

// A shard without the users who leave is the same model; it is not trained again, and its bytes are those of a
// training of its own. The shard that they leave is trained anew, as if they had never been there.
func TestOnlyTheirShardIsTrainedAgain(t *testing.T) {
	s := ready(t, planted(80, 40, 6), func(c *Config) { c.Train.Epochs, c.Shards.Number = 2, 4 })
	everybody := slices.Sorted(slices.Values(slices.Concat(s.forgotten, s.remaining)))
	was, err := s.shard(t.Context(), everybody, nil)
	if err != nil {
		t.Fatal(err)
	}
	left := slices.Sorted(slices.Values(slices.Concat(s.forgotten[1:], s.remaining)))
	s.begin()
	now, err := s.shard(t.Context(), left, was)
	if err != nil {
		t.Fatal(err)
	}
	read := s.pairs
	alone, err := s.shard(t.Context(), left, nil)
	if err != nil {
		t.Fatal(err)
	}
	trained := 0
	for k, m := range now.models {
		same := m == was.models[k]
		if same == slices.Contains(was.users[k], s.forgotten[0]) {
			t.Errorf("shard %d: trained again is %v, has the user is %v", k, !same, same)
		}
		if !same {
			trained++
			if want := int64(s.Train.Epochs * m.graph.Edges()); read != want {
				t.Errorf("%d pairs are read, want the %d of the shard", read, want)
			}
		}
		for p, param := range m.Params() {
			if !slices.Equal(param.Value.Data, alone.models[k].Params()[p].Value.Data) {
				t.Errorf("shard %d: parameter %s is not that of a training of its own", k, param.Name)
			}
		}
	}
	if trained != 1 {
		t.Errorf("%d shards are trained again", trained)
	}
	r := s.requests(1, len(s.forgotten), 1000)
	if len(r) != 2 || r[0].Shards != 1 || r[1].Shards != 4 || r[0].Work >= r[1].Work || math.Abs(r[1].Work-1) > 1e-12 {
		t.Errorf("requests %+v", r)
	}
}

// Ascent raises the loss of the forgotten rows and repair trains the others: more epochs show less of the users.
func TestAscentForgetsMoreByMoreEpochs(t *testing.T) {
	s := ready(t, planted(600, 80, 8), func(c *Config) { c.Ascent.Rate = 0.02 })
	first, err := s.fitted(t.Context(), s.env.Seed, s.forgotten, s.remaining)
	if err != nil {
		t.Fatal(err)
	}
	before := slices.Clone(first.Params()[1].Value.Data)
	last := math.Inf(1)
	for _, epochs := range []int{1, 8} {
		m, err := s.ascent(t.Context(), first, epochs)
		if err != nil {
			t.Fatal(err)
		}
		x, err := show(m)
		if err != nil {
			t.Fatal(err)
		}
		e, err := s.signals(x.models)
		if err != nil {
			t.Fatal(err)
		}
		fit := 0.0
		for k := range s.forgotten {
			fit += e.fit[k]
		}
		if fit >= last {
			t.Errorf("after %d epochs the forgotten fit by %g, after fewer by %g", epochs, fit, last)
		}
		last = fit
	}
	if !slices.Equal(before, first.Params()[1].Value.Data) {
		t.Error("ascent changes the first model")
	}
}

// strongest takes the last strength before the first that keeps too little, and the gentlest if none keeps enough.
func TestStrongest(t *testing.T) {
	s := ready(t, planted(200, 40, 8), func(c *Config) { c.Forget.Keep = 0.9 })
	first, err := s.fitted(t.Context(), s.env.Seed, s.forgotten, s.remaining)
	if err != nil {
		t.Fatal(err)
	}
	x := &compared{ways: []*way{{}}, references: []*way{{}}}
	if x.ways[0].shown, err = show(first); err != nil {
		t.Fatal(err)
	}
	if x.references[0].evidence, err = s.signals(x.ways[0].models); err != nil {
		t.Fatal(err)
	}
	// a strength of 3 and more takes the vectors of items away
	broken := func(strength float64) (*network, error) {
		m, err := s.over(first, s.rest)
		if err == nil && strength >= 3 {
			tensor.Scale(-1, m.Params()[1].Value.Data)
		}
		return m, err
	}
	for _, c := range []struct {
		strengths []float64
		tries     int
	}{{[]float64{1, 2, 3, 4}, 3}, {[]float64{1, 2}, 2}, {[]float64{3, 4}, 1}} {
		w := &way{}
		if err := s.strongest(t.Context(), x, w, c.strengths, broken); err != nil {
			t.Fatal(err)
		}
		if len(w.tries) != c.tries || w.evidence == nil {
			t.Errorf("%v: tries %+v", c.strengths, w.tries)
		}
		kept := slices.Equal(w.Goods.Data, x.ways[0].Goods.Data)
		if kept == (c.strengths[0] == 3) {
			t.Errorf("%v: the way has the vectors of the first model: %v", c.strengths, kept)
		}
	}
}

// fit minimises what it says: the derivative by plain loops is zero.
func TestFit(t *testing.T) {
	items := tensor.New(12, 3)
	for k := range items.Data {
		items.Data[k] = tensor.Float(math.Sin(float64(3 * k)))
	}
	a := AttackConfig{Unobserved: 0.2, Ridge: 0.3}
	f, err := newFolder(items, a)
	if err != nil {
		t.Fatal(err)
	}
	own, w := []int32{1, 4, 7}, make([]tensor.Float, 3)
	if err := f.fit(own, tensor.New(3, 3), w); err != nil {
		t.Fatal(err)
	}
	for j := range w {
		g := a.Ridge * float64(w[j])
		for i := range 12 {
			z := tensor.Row(f.items, i)
			g += a.Unobserved * float64(tensor.Dot(w, z)) * float64(z[j])
			if slices.Contains(own, int32(i)) {
				g -= (1 - float64(tensor.Dot(w, z))) * float64(z[j])
			}
		}
		if math.Abs(g) > 1e-5 {
			t.Errorf("the derivative by column %d is %g", j, g)
		}
	}
	if _, err := newFolder(tensor.New(3, 2), a); err == nil {
		t.Error("vectors of zeros are taken")
	}
}

func TestSignalsOfScores(t *testing.T) {
	scores := []tensor.Float{4, 1, 1, 2, 0}
	if got := placed(scores, []int32{0, 3}, []int32{0, 3}); got != 1 {
		t.Errorf("the best items are placed at %g", got)
	}
	if got := placed(scores, []int32{1}, []int32{0, 1}); math.Abs(got-0.5) > 1e-12 {
		t.Errorf("an item with one below and one equal of three is placed at %g", got)
	}
	if placed(scores, nil, nil) != 0.5 || standing(make([]tensor.Float, 3), []int32{1}) != 0 {
		t.Error("nothing is something")
	}
	if got, want := standing(scores, []int32{0}), (4-1.6)/math.Sqrt(22.0/5-1.6*1.6); math.Abs(got-want) > 1e-9 {
		t.Errorf("standing %g, want %g", got, want)
	}
	if got := correlation(scores, []tensor.Float{8, 2, 2, 4, 0}); math.Abs(got-1) > 1e-9 {
		t.Errorf("correlation %g", got)
	}
	if correlation(scores, make([]tensor.Float, 5)) != 0 {
		t.Error("a constant correlates")
	}
}

// Halves are of the rows, once each, and keyed by ids.
func TestHalves(t *testing.T) {
	ids := []string{"a", "b", "c", "d", "e", "f", "g"}
	lots, rows := func() *dataset.Lots { return dataset.NewLots(rng.Seed(1).Stream("x")) }, []int32{0, 2, 3, 5, 6}
	a, b := halves(lots(), "u", rows, ids)
	if all := slices.Sorted(slices.Values(slices.Concat(a, b))); len(a) != 3 || !slices.Equal(all, rows) {
		t.Errorf("%v and %v", a, b)
	}
	if c, _ := halves(lots(), "u", rows, ids); !slices.Equal(a, c) {
		t.Errorf("%v, again %v", a, c)
	}
}

// The finding names every way that forgets something, by what the intervals of its attacks leave out. The models before
// are none of them.
func TestFinding(t *testing.T) {
	clean, above := Found{In: [2]float64{0.4, 0.6}}, Found{In: [2]float64{0.51, 0.6}}
	below := Found{In: [2]float64{0.2, 0.49}}
	before := Way{Name: wayBefore, Attacks: []Found{above}}
	for want, ways := range map[string][]Way{
		"nothing after retrain": {before, {Name: wayRetrain, Attacks: []Found{clean, clean}}},
		"traces after influence and shards": {before, {Name: wayNewton, Attacks: []Found{clean, above}},
			{Name: wayShards, Attacks: []Found{below}}},
		"traces after shards, nothing after retrain, gradient ascent and influence": {before,
			{Name: wayRetrain, Attacks: []Found{clean}}, {Name: wayAscent, Attacks: []Found{clean}},
			{Name: wayNewton, Attacks: []Found{clean}}, {Name: wayShards, Attacks: []Found{above, below}}},
	} {
		if got := (&Outcome{Ways: ways}).finding(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
