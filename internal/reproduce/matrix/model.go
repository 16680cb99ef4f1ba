package matrix

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"privrec/internal/experiment"
	"privrec/internal/privacy"
)

// Model is what stands beside the cells of a row: what the model is worth, and its account.
type Model struct {
	Model     string          `json:"model"`
	Defence   string          `json:"defence"`
	Data      string          `json:"data"`
	Utility   *float64        `json:"utility"`       // of the model, in Matrix.Utility; nil: it has none
	Floor     *float64        `json:"utility_floor"` // the highest
	Claimed   *privacy.Number `json:"claimed_epsilon"`
	ClaimUnit string          `json:"claimed_unit,omitempty"`
	Epsilon   *privacy.Number `json:"accounted_epsilon"` // of the whole training; nil: nothing was trained
	Unit      string          `json:"accounted_unit,omitempty"`
	Delta     float64         `json:"delta,omitempty"` // 0: pure, or no bound
	Open      []string        `json:"unbounded"`       // what no noise covers
	Level     string          `json:"level,omitempty"` // of evidence
	Runs      []string        `json:"runs"`            // base names of the directories of the trainings
}

// model reads what stands beside the cells of a row from its trainings. Of several seeds the mean
// utility counts, and the largest epsilon.
func (m *Matrix) model(r *Row, data string, dirs []string) (Model, error) {
	out := Model{Model: r.Model, Defence: r.Defence, Data: data, Open: []string{}, Runs: []string{}}
	sum, floors, n := 0.0, 0.0, 0
	for _, dir := range dirs {
		o, err := experiment.ReadOutcome(dir)
		if err != nil {
			return out, err
		}
		a, err := experiment.ReadAccount(dir)
		if err != nil {
			return out, err
		}
		out.Runs, out.Level = append(out.Runs, filepath.Base(dir)), levelText(o.Data.Level)
		if a != nil {
			out.account(a, r.Unit)
		}
		if len(o.Evaluations) == 0 {
			continue
		}
		if v, ok := o.Evaluations[0].Values[m.Utility]; ok {
			best := math.Inf(-1)
			for _, f := range o.Floors {
				if x, ok := f.Values[m.Utility]; ok {
					best = max(best, x)
				}
			}
			sum, floors, n = sum+v, floors+best, n+1
		}
	}
	if n > 0 && !math.IsInf(floors, 0) {
		v, f := sum/float64(n), floors/float64(n)
		out.Utility, out.Floor = &v, &f
	}
	return out, nil
}

// account takes the epsilons of an account, of a unit or of the worst.
func (x *Model) account(a *experiment.Account, unit string) {
	if c := a.Claimed; c != nil {
		x.Claimed, x.ClaimUnit = &c.Eps, c.Unit
	}
	if total := a.Total; x.Epsilon == nil || total > *x.Epsilon {
		x.Epsilon, x.Unit, x.Delta = &total, "whole run", 0
	}
	for _, u := range a.Units {
		if total := u.Total; unit != "" && u.Unit == unit || unit == "" && total == a.Total {
			x.Epsilon, x.Unit, x.Delta = &total, u.Unit, u.Delta
		}
	}
	for _, name := range experiment.Names(a.Unbounded) {
		if !slices.Contains(x.Open, name) {
			x.Open = append(x.Open, name)
		}
	}
}

// epsilon says in words what the account comes to.
func (x *Model) epsilon() string {
	switch {
	case x.Epsilon == nil:
		return "nothing was trained"
	case !math.IsInf(float64(*x.Epsilon), 1):
		text := fmt.Sprintf("%v for one %s", *x.Epsilon, x.Unit)
		if x.Delta > 0 {
			text += fmt.Sprintf(" at delta %g", x.Delta)
		}
		return text
	case x.Claimed != nil && !math.IsInf(float64(*x.Claimed), 1):
		return fmt.Sprintf("infinite; claimed %v for one %s", *x.Claimed, x.ClaimUnit)
	}
	return "infinite; nothing claimed"
}

// beside is the text beside the label of a row in the heat map.
func (x *Model) beside() string {
	text := x.epsilon()
	if x.Utility != nil {
		text += fmt.Sprintf("; %s, floor %s", points(*x.Utility), points(*x.Floor))
	}
	return text
}

// points writes a share in percent.
func points(x float64) string { return fmt.Sprintf("%.1f", 100*x) }

// signed writes a difference of shares in points.
func signed(x float64) string {
	return strings.Replace(fmt.Sprintf("%+.1f", 100*x), "-0.0", "+0.0", 1)
}
