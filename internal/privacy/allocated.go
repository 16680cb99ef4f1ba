package privacy

import (
	"fmt"
	"math"
)

// Allocation is the sampling in which each unit, by itself, is put into a fixed number of the steps of an epoch that is
// drawn from all such choices alike ("balls in bins"). Its event is AllocatedGaussian.
const Allocation Sampling = "allocation"

// AllocatedGaussian is an epoch of Steps releases of x + N(0, Sigma² I). Each unit is, independently of all others, in
// Times of the steps, every choice of them with equal probability. A step may be chosen after seeing the results of
// earlier ones. Where a unit is added, removed or blanked it moves x by at most Sensitivity in each of its steps, in
// the Euclidean norm, and in no other.
//
// Chua, Ghazi, Harrison, Kamath, Kumar, Leeman, Manurangsi, Sinha, Zhang, "Balls-and-bins sampling for DP-SGD", AISTATS
// 2025; Feldman, Shenfeld, "Privacy amplification by random allocation", NeurIPS 2025.
type AllocatedGaussian struct {
	Sigma        float64      `json:"sigma"` // standard deviation, in the units of x
	Sensitivity  float64      `json:"sensitivity"`
	Times        int64        `json:"times"`
	Steps        int64        `json:"steps"`
	Unit         Unit         `json:"unit"`
	Neighbouring Neighbouring `json:"neighbouring"`
}

func (AllocatedGaussian) Kind() string     { return "allocated-gaussian" }
func (AllocatedGaussian) Form() Form       { return Form{Way: Single} }
func (e AllocatedGaussian) About() Subject { return Subject{e.Unit, e.Neighbouring} }

// Law returns the law of the epoch. With one step, or where a unit is in all steps, or where units are exchanged, it is
// that of a Gaussian: for exchanged units no amplification is proved.
func (e AllocatedGaussian) Law() Law {
	if e.Times >= e.Steps || e.Neighbouring == Replace {
		return normal(e.Sigma, e.whole())
	}
	e.Unit, e.Neighbouring = "", ""
	return e
}

// whole returns how far a unit moves all steps together. An observer who knows the steps of every unit sees normal
// noise on that: divergences are jointly convex, so the epoch is at most as clear.
func (e AllocatedGaussian) whole() float64 { return math.Sqrt(float64(e.Times)) * e.Sensitivity }

// Price implements Law.
func (e AllocatedGaussian) Price(p Pricer) error { return p.Allocated(e) }

// Pure implements Law.
func (AllocatedGaussian) Pure() float64 { return math.Inf(1) }

// Covers implements Law.
func (e AllocatedGaussian) Covers(l Law, _ bool) bool {
	y, ok := l.(AllocatedGaussian)
	return ok && e.Times == y.Times && e.Steps == y.Steps && e.Sensitivity/e.Sigma >= y.Sensitivity/y.Sigma
}

// Validate returns an error for the first field out of its range.
func (e AllocatedGaussian) Validate() error {
	var times error
	if e.Times > e.Steps {
		times = fmt.Errorf("times is %d, want at most steps, %d: a unit is in a step once", e.Times, e.Steps)
	}
	return first(e.Kind(), positive("sigma", e.Sigma), positive("sensitivity", e.Sensitivity),
		atLeast("times", e.Times, 1), times, e.Unit.Validate(), e.Neighbouring.Validate())
}

// Group returns the release of a group. More than one change, or changes of another relation, are those of a Gaussian
// of which all units share their steps.
func (e AllocatedGaussian) Group(size int64, s Subject) Event {
	if size == 1 && s.Neighbouring == e.Neighbouring {
		e.Unit = s.Unit
		return e
	}
	return normal(e.Sigma, e.whole()).Group(size, s)
}

func (AllocatedGaussian) read(b []byte, _ int) (Event, error) {
	var v struct {
		Kind string `json:"kind"`
		AllocatedGaussian
	}
	err := strict(b, &v)
	return v.AllocatedGaussian, err
}
