package exact

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant/terms"
)

// spare is how far one direction may exceed its work: a table is begun while there is
// work left, and paid for with a few looks at it.
const spare = 40 * mostNodes

// visits is how many nodes epsilon and then delta at it visit in one direction; 0 where
// an answer needs no integral.
func visits(t *testing.T, p *plan, d Direction, delta float64) int {
	if len(p.terms) == 0 || p.closedCurve(d) != nil {
		return 0
	}
	most := 0
	count := func(what string, ask func(g *integral) (Value, error)) Value {
		g := p.integrate(d)
		v, err := ask(g)
		if err != nil && !errors.Is(err, ErrNotCovered) {
			t.Errorf("%s: %v", what, err)
		}
		spent := work - g.budget
		if most = max(most, spent); spent > work+spare || spent < 1 {
			t.Errorf("%s in direction %s: %d nodes visited, want at most %d (%v)", what, d, spent, work+spare, err)
		}
		return v
	}
	v := count("epsilon", func(g *integral) (Value, error) { return g.epsilon(delta) })
	count("delta", func(g *integral) (Value, error) { return g.delta(v.Epsilon) })
	return most
}

// Work is bounded: over five decades of everything, and at the ends of what is accepted,
// no question visits more nodes than a direction may.
func TestBoundedWork(t *testing.T) {
	sampled := func(sigma, rate float64, n int64, r privacy.Neighbouring) terms.Term {
		return terms.Term{
			Leaf: privacy.Gaussian{Sigma: sigma, Sensitivity: 1, Unit: privacy.User, Neighbouring: r},
			Rate: rate, Method: privacy.Poisson, Relation: r, Count: n,
		}
	}
	most, refused := 0, 0
	rnd := rand.New(rand.NewPCG(1, 2))
	draw := func(from, to float64) float64 { return from * math.Exp(math.Log(to/from)*rnd.Float64()) }
	for i := range 20 {
		r := []privacy.Neighbouring{privacy.AddRemove, privacy.Replace}[i%2]
		ts := []terms.Term{sampled(draw(0.05, 1e3), draw(1e-9, 0.999), int64(draw(1, 1e9)), r)}
		switch i % 5 {
		case 0:
			ts = append(ts, sampled(draw(0.05, 1e3), draw(1e-9, 0.999), int64(draw(1, 1e9)), r))
		case 1:
			ts[0].Rate, ts[0].Relation = 1, privacy.AddRemove
			ts[0].Leaf = privacy.Gaussian{Sigma: draw(0.5, 1e3), Sensitivity: 1, Unit: privacy.User, Neighbouring: privacy.AddRemove}
			ts = append(ts, terms.Term{
				Leaf: privacy.DiscreteGaussian{Sigma: draw(0.4, 1e5), Sensitivity: math.Floor(draw(1, 1e3)), Dimension: 1, Unit: privacy.User, Neighbouring: privacy.AddRemove},
				Rate: 1, Relation: privacy.AddRemove, Count: int64(draw(1, 1e6)),
			})
		case 2:
			ts = []terms.Term{{
				Leaf: privacy.DiscreteLaplace{Scale: draw(0.5, 1e5), Sensitivity: math.Floor(draw(1, 1e3)), Unit: privacy.User, Neighbouring: privacy.AddRemove},
				Rate: 1, Relation: privacy.AddRemove, Count: int64(draw(1, 1e6)),
			}}
		}
		p, err := newPlan(ts)
		if errors.Is(err, ErrNotCovered) {
			refused++
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		delta := draw(1e-14, 0.2)
		for _, d := range []Direction{Remove, Add} {
			most = max(most, visits(t, p, d, delta))
		}
	}
	if refused > 10 {
		t.Errorf("%d settings are refused before any work", refused)
	}
	t.Logf("%.2f million nodes at most of %.2f million; %d settings refused", float64(most)/1e6, work/1e6, refused)
}

// watched counts the nodes of the tables that its factor visits for logs.
type watched struct {
	*plainLaplace
	nodes int
}

func (w *watched) log(c, y float64) (re, im, noise float64) {
	if y <= 1/w.shift {
		w.nodes += len(w.t.loss)
	}
	return w.plainLaplace.log(c, y)
}

// A release pays for the nodes that it visits, wherever its line is: the loss of many far Laplace releases
// has its whole line where the closed form cancels and a table answers.
func TestEveryVisitIsPaid(t *testing.T) {
	for _, c := range []struct {
		shift, eps float64
		n          int64
	}{
		{251.42857142857142, 0.81, 260_000_000}, {251.42857142857142, 0.81, 1000}, {30, 3, 1_000_000_000}, {1e3, 1, 50_000}, {0.01, 0.5, 1_000_000_000},
	} {
		p, err := newPlan([]terms.Term{{
			Leaf: privacy.Laplace{Scale: 1, Sensitivity: c.shift, Unit: privacy.User, Neighbouring: privacy.AddRemove},
			Rate: 1, Relation: privacy.AddRemove, Count: c.n,
		}})
		if err != nil {
			t.Fatal(err)
		}
		g := p.integrate(Remove)
		w := &watched{plainLaplace: g.terms[0].factor.(*plainLaplace)}
		g.terms[0].factor = w
		_, err = g.delta(c.eps)
		if err != nil && !errors.Is(err, ErrNotCovered) {
			t.Errorf("%+v: %v", c, err)
		}
		if spent := work - g.budget; w.nodes > spent || w.nodes > work+spare {
			t.Errorf("%+v: %d nodes visited, %d paid, want at most %d (%v)", c, w.nodes, spent, work+spare, err)
		}
	}
}
