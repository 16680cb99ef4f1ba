package mechanism_test

import (
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"privrec/internal/privacy"
	"privrec/internal/privacy/descent"
	"privrec/internal/privacy/mechanism"
	"privrec/internal/privacy/mechanism/channel"
	"privrec/internal/privacy/mechanism/edges"
	"privrec/internal/privacy/mechanism/local"
	"privrec/internal/privacy/mechanism/mechanismtest"
	"privrec/internal/privacy/mechanism/secure"
	"privrec/internal/privacy/mechanism/sequence"
	"privrec/internal/rng"
)

// numbers are the parameters of an entry point by name.
type numbers map[string]float64

func (p numbers) share() mechanism.Share { return mechanism.Share(p["share"]) }

// door is one exported way to open or use a mechanism. Good numbers work; every
// wrong one must be refused with an error that names the field, before anything is
// recorded.
type door struct {
	name   string
	secure bool
	good   numbers
	wrong  map[string][]float64 // above what wrongNumbers has
	may    map[string][]float64 // of wrongNumbers, that are right here
	use    func(p numbers, l *privacy.Ledger) error
}

var wrongNumbers = []float64{math.NaN(), math.Inf(1), math.Inf(-1), -1, 0}

// whole says which names are counts: infinities cannot be put into them.
var whole = []string{"dimension", "examples", "batch", "categories", "items", "length", "workers", "limit", "clamp", "columns", "own", "ones", "values"}

const (
	edge = privacy.Edge
	more = privacy.AddRemove
)

func stream() rng.Stream { return rng.Seed(11).Stream("refusals") }

func keyed() mechanism.Bits { return mechanism.Keyed(stream()) }

func discreteGaussian(p numbers) secure.DiscreteGaussian {
	return secure.DiscreteGaussian{Purpose: "door", Sigma: p["sigma"], Sensitivity: p["sensitivity"], Dimension: int64(p["dimension"]),
		Bound: p["bound"], Grid: p["grid"], Unit: edge, Neighbouring: more, Share: p.share()}
}

// perturb makes one release of six values.
func perturb[T mechanism.Float](c *channel.Channel[T], err error) error {
	if err != nil {
		return err
	}
	return c.Perturb(make([]T, 6), 3, 1, 0)
}

// threeUsers is a matrix of three users and four items.
func threeUsers() edges.Adjacency {
	return edges.Adjacency{Rows: 3, Cols: 4, Ptr: []int64{0, 2, 3, 5}, Idx: []int32{0, 2, 1, 0, 3}}
}

func doors() []door {
	grid := []float64{math.NaN(), math.Inf(1), -1, 3, 0.3}
	lattice := map[string][]float64{"grid": grid, "bound": {1e-300}, "sensitivity": {1e-300}, "dimension": {1 << 60}}
	nil0 := map[string][]float64{"share": {0}, "grid": {0}}
	sgd := func(p numbers) descent.DPSGD {
		return descent.DPSGD{Purpose: "door", Clip: p["clip"], NoiseMultiplier: p["noise multiplier"], Examples: int64(p["examples"]),
			Sampling: privacy.Poisson, Rate: p["rate"], Unit: privacy.Sample, Share: p.share()}
	}
	step := func(d descent.DPSGD, l *privacy.Ledger) error {
		s, err := descent.Open[float32](d, 3, l, stream())
		if err != nil {
			return err
		}
		batch, err := s.Begin(0)
		if err != nil {
			return err
		}
		for k := range batch {
			if err := s.Add(k, []float32{1, 2, 3}); err != nil {
				return err
			}
		}
		return s.Finish(make([]float32, 3))
	}
	return []door{
		{name: "gaussian", good: numbers{"sigma": 1, "sensitivity": 1, "share": 0.5}, wrong: map[string][]float64{"sigma": {1e300, 1e-60}, "share": {1.01}}, may: nil0,
			use: func(p numbers, l *privacy.Ledger) error {
				return perturb(channel.Open[float32](channel.Gaussian{Purpose: "door", Sigma: p["sigma"], Sensitivity: p["sensitivity"], Unit: edge, Neighbouring: more, Share: p.share()}, l, stream()))
			}},
		{name: "laplace", good: numbers{"scale": 1, "sensitivity": 1, "share": 0.5}, wrong: map[string][]float64{"scale": {1e300, 1e-60}, "share": {1.01}}, may: nil0,
			use: func(p numbers, l *privacy.Ledger) error {
				return perturb(channel.OpenLaplace[float32](channel.Laplace{Purpose: "door", Scale: p["scale"], Sensitivity: p["sensitivity"], Unit: edge, Neighbouring: more, Share: p.share()}, l, stream()))
			}},
		{name: "secure gaussian", secure: true, good: numbers{"sigma": 2, "sensitivity": 1, "dimension": 4, "bound": 8, "grid": 0x1p-10, "share": 1}, wrong: lattice, may: nil0,
			use: func(p numbers, l *privacy.Ledger) error {
				return perturb(secure.OpenGaussian[float64](discreteGaussian(p), l))
			}},
		{name: "dp-sgd", good: numbers{"clip": 1, "noise multiplier": 1, "examples": 40, "rate": 0.1, "share": 1}, may: nil0,
			wrong: map[string][]float64{"clip": {1.7e308, 1e-300}, "noise multiplier": {1e300}, "examples": {1 << 31}, "rate": {1.0000001}},
			use:   func(p numbers, l *privacy.Ledger) error { return step(sgd(p), l) }},
		{name: "dp-sgd without replacement", good: numbers{"batch": 4, "rate": 0}, may: map[string][]float64{"rate": {0}}, wrong: map[string][]float64{"batch": {41}, "rate": {0.1}},
			use: func(p numbers, l *privacy.Ledger) error {
				d := sgd(numbers{"clip": 1, "noise multiplier": 1, "examples": 40, "rate": p["rate"]})
				d.Sampling, d.Batch = privacy.WithoutReplacement, int64(p["batch"])
				return step(d, l)
			}},
		{name: "dp-sgd with deferred noise", good: numbers{"rate": 1, "decay": 0.1},
			may:   map[string][]float64{"rate": {-1}, "decay": {0}},
			wrong: map[string][]float64{"decay": {1}},
			use: func(p numbers, l *privacy.Ledger) error {
				d := sgd(numbers{"clip": 1, "noise multiplier": 1, "examples": 40, "rate": 0.1})
				blend := func(a float32, x []float32, b float32, y []float32) {}
				s, err := descent.OpenDeferred(d, descent.Move{Rate: p["rate"], Decay: p["decay"]}, blend,
					make([]float32, 6), 3, l, stream())
				if err != nil {
					return err
				}
				_, err = s.Begin(0)
				return err
			}},
		{name: "functional", good: numbers{"epsilon": 1, "sensitivity": 2, "share": 1}, may: nil0, wrong: map[string][]float64{"epsilon": {1e-320}, "sensitivity": {1e-320}},
			use: func(p numbers, l *privacy.Ledger) error {
				m := channel.Functional{Purpose: "door", Epsilon: p["epsilon"], Sensitivity: p["sensitivity"], Unit: privacy.Sample, Neighbouring: more, Share: p.share()}
				o, err := channel.OpenFunctional[float32](m, l, stream())
				if err != nil {
					return err
				}
				return o.Perturb(&channel.Polynomial[float32]{Linear: make([]float32, 2),
					Quadratic: make([]float32, 3)}, 0)
			}},
		{name: "edge rand", good: numbers{"epsilon": 1, "limit": 1000, "share": 1}, may: map[string][]float64{"share": {0}, "limit": {0}}, wrong: map[string][]float64{"epsilon": {64.001, 1e300}, "limit": {1}},
			use: func(p numbers, l *privacy.Ledger) error {
				_, err := edges.PerturbEdgeRand(edges.EdgeRand{Purpose: "door", Epsilon: p["epsilon"], Unit: edge, Limit: int64(p["limit"]), Share: p.share()}, l, stream(), threeUsers())
				return err
			}},
		{name: "lap graph", good: numbers{"epsilon": 1, "count share": 0.5, "share": 1}, may: map[string][]float64{"share": {0}, "count share": {0}}, wrong: map[string][]float64{"epsilon": {1e-320}, "count share": {1, 1.5}},
			use: func(p numbers, l *privacy.Ledger) error {
				_, err := edges.PerturbLapGraph(edges.LapGraph{Purpose: "door", Epsilon: p["epsilon"], CountShare: p["count share"], Unit: edge, Share: p.share()}, l, stream(), threeUsers())
				return err
			}},
		{name: "response", good: numbers{"epsilon": 1, "categories": 4, "share": 1}, may: nil0, wrong: map[string][]float64{"categories": {1, 1<<31 + 1, 1 << 60}},
			use: func(p numbers, l *privacy.Ledger) error {
				return local.PerturbResponses(local.Response{Purpose: "door", Epsilon: p["epsilon"], Categories: int64(p["categories"]), Unit: edge, Share: p.share()}, l, keyed(), []int{0, 1})
			}},
		{name: "features", good: numbers{"epsilon": 3, "share": 1, "categories": 2, "feature n": 0.5}, may: map[string][]float64{"share": {0}, "categories": {0}, "feature n": {0, -1}}, wrong: map[string][]float64{"feature n": {2}},
			use: func(p numbers, l *privacy.Ledger) error {
				f := local.FeatureSampler{Purpose: "door", Epsilon: p["epsilon"], Features: []local.FeatureKind{{Name: "c", Categories: int(p["categories"])}, {Name: "n"}}, Share: p.share()}
				return local.PerturbFeatures(f, l, stream(), append(make([]float64, f.Width()-1), p["feature n"]))
			}},
		{name: "sequences", good: numbers{"epsilon": 1, "items": 9, "length": 2, "workers": 1, "share": 1}, may: nil0, wrong: map[string][]float64{"items": {1 << 40}, "length": {1 << 40}},
			use: func(p numbers, l *privacy.Ledger) error {
				m := sequence.Mechanism{Purpose: "door", Variant: sequence.SDPFixed, Epsilon: p["epsilon"], Items: int(p["items"]), Length: int(p["length"]), Share: p.share()}
				return sequence.Perturb(m, l, keyed(), nil, []int32{0, 1, 2, 0}, int(p["workers"]))
			}},
	}
}

func ledgerOf(secret bool) *privacy.Ledger {
	if secret {
		return mechanismtest.Must(privacy.NewLedger(privacy.Secure))
	}
	return research()
}

// Every parameter of every entry point at NaN, the infinities, negative, zero and
// beyond its limit: an error that names the mechanism and the field, no entry in
// the ledger. The good numbers record something, so the doors are open.
func TestEveryDoorRefusesEveryWrongNumber(t *testing.T) {
	tried := 0
	for _, d := range doors() {
		l := ledgerOf(d.secure)
		if err := d.use(d.good, l); err != nil || len(l.Entries()) == 0 {
			t.Errorf("%s: good numbers: %v, %d entries", d.name, err, len(l.Entries()))
			continue
		}
		for _, field := range slices.Sorted(maps.Keys(d.good)) {
			for _, v := range slices.Concat(wrongNumbers, d.wrong[field]) {
				if slices.Contains(d.may[field], v) || slices.Contains(whole, field) && v != math.Trunc(v) || slices.Contains(whole, field) && math.IsInf(v, 0) {
					continue
				}
				p := maps.Clone(d.good)
				p[field] = v
				l := ledgerOf(d.secure)
				err := d.use(p, l)
				tried++
				if err == nil || len(l.Entries()) != 0 {
					t.Errorf("%s, %s %v: %v, %d entries", d.name, field, v, err, len(l.Entries()))
					continue
				}
				if s := strings.ToLower(err.Error()); !names(s, field) || !strings.Contains(s, "door") && !strings.HasPrefix(s, "laplace") {
					t.Errorf("%s, %s %v: %q does not name it", d.name, field, v, s)
				}
			}
		}
	}
	if tried < 190 {
		t.Errorf("%d wrong numbers were tried", tried)
	}
}

// names reports whether an error speaks of a field, by its name or by what it is
// in the error of the part that refused it.
func names(err, field string) bool {
	also := map[string][]string{"limit": {"expected"}, "values": {"vectors of"}, "length": {"rows of"}, "grid": {"power of two", "noise on a grid"},
		"dimension": {"coordinates"}, "noise multiplier": {"sigma"}, "count share": {"epsilon"}, "clip": {"sigma", "sensitivity", "range"}, "sensitivity": {"neighbours apart", "scale"},
		"scale": {"noise"}, "epsilon": {"scale"}, "bound": {"coarse"}, "rate": {"batch"}, "batch": {"rate"}}
	for _, name := range append(also[field], field) {
		if strings.Contains(err, name) {
			return true
		}
	}
	return false
}

// A statement that says too little is refused: no purpose, no unit or an unknown
// one, no relation, and a ledger that is missing, closed or promises other noise.
func TestEveryDoorWantsItsStatement(t *testing.T) {
	for _, d := range doors() {
		closed := ledgerOf(d.secure)
		if err := closed.Close(); err != nil {
			t.Fatal(err)
		}
		for what, l := range map[string]*privacy.Ledger{"no ledger": nil, "closed": closed, "promises": ledgerOf(!d.secure)} {
			if err := d.use(d.good, l); err == nil || !strings.Contains(err.Error(), what) {
				t.Errorf("%s: %v, want it to say %q", d.name, err, what)
			}
			if l != nil && len(l.Entries()) != 0 {
				t.Errorf("%s, %s: recorded", d.name, what)
			}
		}
	}
	type statement struct {
		purpose string
		unit    privacy.Unit
		near    privacy.Neighbouring
	}
	uses := map[string]func(s statement, l *privacy.Ledger) error{
		"gaussian": func(s statement, l *privacy.Ledger) error {
			return perturb(channel.Open[float64](channel.Gaussian{Purpose: s.purpose, Sigma: 1, Sensitivity: 1, Unit: s.unit, Neighbouring: s.near, Share: 1}, l, stream()))
		},
		"laplace": func(s statement, l *privacy.Ledger) error {
			return perturb(channel.OpenLaplace[float64](channel.Laplace{Purpose: s.purpose, Scale: 1, Sensitivity: 1, Unit: s.unit, Neighbouring: s.near, Share: 1}, l, stream()))
		},
		"functional": func(s statement, l *privacy.Ledger) error {
			_, err := channel.OpenFunctional[float64](channel.Functional{Purpose: s.purpose, Epsilon: 1, Sensitivity: 1, Unit: s.unit, Neighbouring: s.near, Share: 1}, l, stream())
			return err
		},
	}
	for name, use := range uses {
		if err := use(statement{"door", edge, more}, research()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for want, s := range map[string]statement{"purpose": {"", edge, more}, "unit": {"door", "", more}, "galaxy": {"door", "galaxy", more},
			"neighbouring": {"door", edge, ""}, "cousins": {"door", edge, "cousins"}} {
			l := research()
			if err := use(s, l); err == nil || !strings.Contains(err.Error(), want) || len(l.Entries()) != 0 {
				t.Errorf("%s without a right %s: %v", name, want, err)
			}
		}
	}
}
