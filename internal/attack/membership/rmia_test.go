package membership

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"privrec/internal/metrics"
)

// toy holds candidates with normal scores: those of members are higher by lift, under the attacked model and under
// reference models, of which each candidate is in one of every two.
type toy struct {
	score  []float64
	member []bool
	refs   References
}

func newToy(seed uint64, candidates, models int, spread, lift float64) toy {
	r := rand.New(rand.NewPCG(seed, 7))
	base := make([]float64, candidates)
	for i := range base {
		base[i] = spread * r.NormFloat64()
	}
	draw := func(in []bool) []float64 {
		out := make([]float64, candidates)
		for i := range out {
			out[i] = base[i] + 0.3*r.NormFloat64()
			if in[i] {
				out[i] += lift
			}
		}
		return out
	}
	half := func() []bool {
		in := make([]bool, candidates)
		for i := range in {
			in[i] = r.IntN(2) == 1
		}
		return in
	}
	w := toy{member: half()}
	w.score = draw(w.member)
	for k := range models {
		in := half()
		for i := range in {
			in[i] = in[i] && k%2 == 0 || k%2 == 1 && !w.refs.In[k-1][i]
		}
		w.refs.In, w.refs.Score = append(w.refs.In, in), append(w.refs.Score, draw(in))
	}
	return w
}

// relative computes the score of RMIA by its definition, candidate by candidate.
func (w toy) relative(gamma float64, mean func(in, out float64) float64) []float64 {
	p := func(score float64) float64 { return math.Exp(score) / (1 + math.Exp(score)) }
	ratio := func(i int) float64 {
		var sum, n [2]float64
		for k, in := range w.refs.In {
			side := 0
			if !in[i] {
				side = 1
			}
			sum[side] += p(w.refs.Score[k][i])
			n[side]++
		}
		return p(w.score[i]) / mean(sum[0]/n[0], sum[1]/n[1])
	}
	out := make([]float64, len(w.score))
	for x := range out {
		for z := range out {
			if z != x && ratio(x)/ratio(z) >= gamma {
				out[x] += 1 / float64(len(out)-1)
			}
		}
	}
	return out
}

func TestRelativeIsItsDefinition(t *testing.T) {
	w := newToy(1, 60, 6, 1, 1)
	for _, gamma := range []float64{1, 1.1, 1.5} {
		got, err := w.refs.Relative(w.score, gamma)
		if err != nil {
			t.Fatal(err)
		}
		same(t, "online", got, w.relative(gamma, func(in, out float64) float64 { return (in + out) / 2 }))
		for _, a := range []float64{0, 0.3, 1} {
			got, err := w.refs.RelativeOffline(w.score, gamma, a)
			if err != nil {
				t.Fatal(err)
			}
			same(t, "offline", got,
				w.relative(gamma, func(_, out float64) float64 { return (out + a*out + 1 - a) / 2 }))
		}
	}
}

func same(t *testing.T, what string, got, want []float64) {
	t.Helper()
	for i := range want {
		if math.Abs(got[i]-want[i]) > 1e-12 {
			t.Fatalf("%s, candidate %d: %v, want %v", what, i, got[i], want[i])
		}
	}
}

// of returns the candidates at some indices, in their order.
func (w toy) of(at []int) toy {
	var out toy
	out.score = picked(w.score, at)
	for k := range w.refs.In {
		out.refs.In = append(out.refs.In, picked(w.refs.In[k], at))
		out.refs.Score = append(out.refs.Score, picked(w.refs.Score[k], at))
	}
	return out
}

func picked[T any](x []T, at []int) (out []T) {
	for _, i := range at {
		out = append(out, x[i])
	}
	return out
}

// The order of the candidates changes no score, and equal candidates have equal scores.
func TestRelativeOfPermutedCandidates(t *testing.T) {
	w := newToy(2, 200, 4, 1, 1)
	at := rand.New(rand.NewPCG(1, 1)).Perm(len(w.score))
	at[0] = at[1] // one twice, another left out
	w = w.of(at)
	order := rand.New(rand.NewPCG(2, 2)).Perm(len(w.score))
	moved := w.of(order)
	scores := func(w toy) [2][]float64 {
		online, err := w.refs.Relative(w.score, 1)
		if err != nil {
			t.Fatal(err)
		}
		offline, err := w.refs.RelativeOffline(w.score, 1, 0.4)
		if err != nil {
			t.Fatal(err)
		}
		return [2][]float64{online, offline}
	}
	one, two := scores(w), scores(moved)
	for k := range one {
		if !slices.Equal(picked(one[k], order), two[k]) {
			t.Errorf("attack %d: another order gives other scores", k)
		}
		if one[k][0] != one[k][1] {
			t.Errorf("attack %d: equal candidates have %v and %v", k, one[k][0], one[k][1])
		}
	}
}

// Where training lifts nothing, the AUC of any scores misses 1/2 by 6.2 deviations once in 1e9; where it lifts, RMIA
// finds most members, and with two models it still does.
func TestRelativePower(t *testing.T) {
	const candidates = 4000
	for _, c := range []struct {
		models int
		lift   float64
		least  float64
	}{{2, 0, 0}, {16, 0, 0}, {2, 1, 0.8}, {16, 1, 0.9}} {
		w := newToy(uint64(3+c.models), candidates, c.models, 1, c.lift)
		online, err := w.refs.Relative(w.score, 1)
		if err != nil {
			t.Fatal(err)
		}
		offline, err := w.refs.RelativeOffline(w.score, 1, 1)
		if err != nil {
			t.Fatal(err)
		}
		members := 0.0
		for _, in := range w.member {
			if in {
				members++
			}
		}
		bound := 6.2 * math.Sqrt((candidates+1)/(12*members*(candidates-members)))
		for name, score := range map[string][]float64{"online": online, "offline": offline} {
			auc, err := metrics.AUC(score, w.member)
			if err != nil {
				t.Fatal(err)
			}
			if c.lift == 0 && math.Abs(auc-0.5) > bound || auc < c.least {
				t.Errorf("%s, %d models, lift %v: AUC %.3f", name, c.models, c.lift, auc)
			}
		}
	}
}

// The correction is the one under which the others tell best what the first model was trained on.
func TestCorrection(t *testing.T) {
	w := newToy(9, 2000, 6, 1, 1)
	a, err := w.refs.Correction()
	if err != nil {
		t.Fatal(err)
	}
	others := References{w.refs.Score[1:], w.refs.In[1:]}
	auc := func(a float64) float64 {
		score, err := others.RelativeOffline(w.refs.Score[0], 1, a)
		if err != nil {
			t.Fatal(err)
		}
		v, err := metrics.AUC(score, w.refs.In[0])
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	for k := range 11 {
		if x := float64(k) / 10; auc(x) > auc(a)+1e-12 {
			t.Errorf("a = %v has AUC %.6f, and a = %v has %.6f", a, auc(a), x, auc(x))
		}
	}
	if auc(0)+0.01 > auc(a) {
		t.Errorf("AUC %.4f at a = %v, %.4f at 0: nothing was chosen", auc(a), a, auc(0))
	}
}

func TestRelativeRefuses(t *testing.T) {
	w := newToy(1, 10, 4, 1, 1)
	if _, err := w.refs.Relative(w.score, 0.5); err == nil {
		t.Error("gamma 0.5 is taken")
	}
	if _, err := w.refs.Relative(w.score[:9], 1); err == nil {
		t.Error("scores of 9 of 10 candidates are taken")
	}
	if _, err := (References{w.refs.Score[:1], w.refs.In[:1]}).Correction(); err == nil {
		t.Error("one reference model is attacked by no other")
	}
}
