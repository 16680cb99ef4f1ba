package exposure

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"path/filepath"
	"slices"

	attack "privrec/internal/attack/exposure"
	"privrec/internal/dataset/slate"
	"privrec/internal/experiment"
	"privrec/internal/papers/exposure/protect"
	"privrec/internal/protocol/slates"
	"privrec/internal/system"
	"privrec/internal/tensor"
)

// Figures holds the results of figures 6 to 13 of a run, with randomized response beside them. Values are of the main
// protocol, by metric; those of the attackers are under their names.
type Figures struct {
	Accuracy share         `json:"accuracy"` // of slates as they are
	Points   []FigurePoint `json:"points"`   // of protections
	Equal    []EqualPoint  `json:"at_equal_accuracy"`
	Slates   []SlatesPoint `json:"slates,omitempty"`
	// Floors holds floors with the guesses of the protocol, on unprotected slates. FloorGuesses describes their number
	// in words if attackers may name fewer; only the gains of the points then compare.
	Floors       []slates.NamedValues `json:"floors"`
	FloorGuesses string               `json:"floor_guesses,omitempty"`
}

// FigurePoint holds the measurements of one protection.
type FigurePoint struct {
	Mechanism string     `json:"mechanism"`
	Ratio     float64    `json:"ratio,omitempty"`
	Epsilon   float64    `json:"epsilon,omitempty"` // of one position
	Accuracy  share      `json:"accuracy"`          // of positions
	Distinct  share      `json:"accuracy_of_distinct"`
	Replaced  float64    `json:"replaced"` // share of positions that hold another item
	Attackers []Attacker `json:"attackers"`
}

// Attacker holds the results of one attacker at a point.
type Attacker struct {
	Name string `json:"name"`
	slates.Found
}

// EqualPoint holds the results of an attacker under mechanisms with the same accuracy.
type EqualPoint struct {
	Accuracy  float64       `json:"accuracy"`
	Attacker  string        `json:"attacker"`
	Metric    string        `json:"metric"`
	Mechanism []NamedNumber `json:"mechanisms"`
}

// NamedNumber holds a number and its name.
type NamedNumber struct {
	Name  string `json:"name"`
	Value share  `json:"value"`
}

// SlatesPoint holds a point of figures 6 and 7: attack and floors on slates of one length, and floors with as many
// guesses as the attack.
type SlatesPoint struct {
	Length int                  `json:"length"`
	Values []slates.NamedValues `json:"values"`
	Gains  []slates.Gain        `json:"gains"`
}

// share is a number that may be unknown: JSON null.
type share float64

// MarshalJSON writes a number or null.
func (s share) MarshalJSON() ([]byte, error) {
	if math.IsNaN(float64(s)) {
		return []byte("null"), nil
	}
	return json.Marshal(float64(s))
}

// UnmarshalJSON reads what MarshalJSON writes.
func (s *share) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		*s = share(math.NaN())
		return nil
	}
	return json.Unmarshal(b, (*float64)(s))
}

// figures returns the results of the sweeps that the setting asks for; nil if it asks for none.
func (x *attackRun) figures(ctx context.Context, m *attack.Model, floors []slates.NamedValues) (*Figures, error) {
	settings := x.cfg.Sweep.settings()
	if len(settings) == 0 && len(x.cfg.Sweep.Slates) == 0 {
		return nil, nil
	}
	f := &Figures{Points: []FigurePoint{}, Equal: []EqualPoint{}, Floors: floors,
		FloorGuesses: x.Guesses(x.Protocols()[0], m.Lists())}
	accuracy, _ := protect.Accuracy(x.Set, x.Test)
	f.Accuracy = share(accuracy)
	if len(settings) > 0 {
		if err := x.sweepProtections(ctx, m, settings, f); err != nil {
			return nil, err
		}
	}
	for _, length := range x.cfg.Sweep.Slates {
		p, err := x.onSlates(ctx, m, length)
		if err != nil {
			return nil, err
		}
		f.Slates = append(f.Slates, p)
	}
	return f, nil
}

// sweepProtections attacks the test pairs under every protection.
func (x *attackRun) sweepProtections(ctx context.Context, m *attack.Model, settings []protect.Setting,
	f *Figures) error {
	defer x.Env.Stage("sweep")()
	pool, err := protect.NewPool(x.Set)
	if err != nil {
		return err
	}
	// Releases of the sweep come after the last checkpoint: a resumed run makes them once
	// more, in a ledger that was cut back to it.
	o := x.cfg.Protect.options()
	o.Part, o.Pool, o.Ledger, o.Workers = "test", pool, x.ledger, tensor.Workers()
	if err := draws(x.Env, &o); err != nil {
		return err
	}
	o.Parallel = x.parallel()
	if x.cfg.Sweep.similarity() {
		if o.Vectors, err = x.vectors(ctx); err != nil {
			return err
		}
	}
	floors, err := x.SweepFloors()
	if err != nil {
		return err
	}
	n, found := 0, []map[string]slates.Found(nil) // by point, by attacker
	points, err := protect.Sweep(ctx, x.Set, x.Test, settings, o,
		func(ctx context.Context, p protect.Protected) (map[string]float64, error) {
			x.Env.Progress.Phase(fmt.Sprintf("sweep %d of %d: %s", n, len(settings), p.Setting))
			n++
			all, by := map[string]float64{}, map[string]slates.Found{}
			for _, who := range x.cfg.Sweep.Attackers {
				f, err := x.meet(ctx, m, who, p, floors)
				if err != nil {
					return nil, err
				}
				by[who] = f
				for name, v := range f.Values {
					all[who+" "+name] = v
				}
			}
			found = append(found, by)
			return all, nil
		})
	if err != nil {
		return err
	}
	if err := x.ledger.Flush("sweep"); err != nil {
		return err
	}
	f.fill(points, found, x.cfg.Sweep.Attackers, x.Names(), x.Test)
	return nil
}

// meet returns the results of an attacker on protected slates. A point measured before the run was stopped is read from
// its directory; its slates are protected again, because the ledger must hold the release.
func (x *attackRun) meet(ctx context.Context, m *attack.Model, who string, p protect.Protected,
	floors []slates.Floor) (slates.Found, error) {
	if who == AttackerClean || p.Clean() {
		return x.Find(ctx, m, p.Pairs, floors)
	}
	seen, err := p.Protect(ctx, "train", x.Train)
	if err != nil {
		return slates.Found{}, err
	}
	valid, err := p.Protect(ctx, "valid", x.Valid)
	if err != nil {
		return slates.Found{}, err
	}
	return x.kept("adaptive "+p.Setting.String(), func() (slates.Found, error) {
		y := *x
		y.Train, y.Valid = seen, valid
		return y.again(ctx, p.Pairs, floors)
	})
}

// again trains a separate attack on the pairs and measures it on others.
func (x *attackRun) again(ctx context.Context, test *slate.Pairs, floors []slates.Floor) (slates.Found, error) {
	m, err := x.newModel()
	if err != nil {
		return slates.Found{}, err
	}
	defer experiment.Free(m)
	if _, err := x.teach(ctx, m, nil); err != nil {
		return slates.Found{}, err
	}
	return x.Find(ctx, m, test, floors)
}

// onSlates measures an attack and floors of its own on the first items of every slate.
func (x *attackRun) onSlates(ctx context.Context, m *attack.Model, length int) (SlatesPoint, error) {
	defer x.Env.Stage("sweep")()
	x.Env.Progress.Phase(fmt.Sprintf("slates of %d", length))
	y := *x
	y.Train, y.Valid, y.Test, y.Whole = first(x.Train, length), first(x.Valid, length), first(x.Test, length),
		first(x.Whole, length)
	p := SlatesPoint{Length: length}
	found, err := x.kept(fmt.Sprintf("slates of %d", length), func() (slates.Found, error) {
		held, err := y.SweepFloors()
		if err != nil {
			return slates.Found{}, err
		}
		if length == x.Train.T {
			return x.Find(ctx, m, x.Test, held)
		}
		return y.again(ctx, y.Test, held)
	})
	if err != nil {
		return p, err
	}
	floors, err := y.MainFloors(ctx, m.Lists())
	p.Values = append([]slates.NamedValues{{Name: x.cfg.method(), Values: found.Values}}, floors...)
	if x.Fewer(x.Protocols()[0], m.Lists()) {
		p.Values = append(p.Values, found.Floors()...)
	}
	p.Gains = found.Gains
	return p, err
}

// first returns pairs with only the first items of their slates.
func first(p *slate.Pairs, t int) *slate.Pairs {
	out := &slate.Pairs{T: t, L: p.L, Behaviours: p.Behaviours, Users: p.Users, Complete: p.Complete}
	for i := range p.Users {
		out.Slates = append(out.Slates, p.Slate(i)[:t]...)
	}
	return out
}

// kept returns the result of a part of a sweep, from the run directory if an earlier attempt left it there.
func (x *attackRun) kept(name string, measure func() (slates.Found, error)) (found slates.Found, err error) {
	file := filepath.Join("sweep", fileName(name)+".json")
	if x.Env.Resume {
		b, err := system.ReadFile(filepath.Join(x.Env.Dir, file), system.MostOfRun)
		if err == nil {
			d := json.NewDecoder(bytes.NewReader(b))
			d.DisallowUnknownFields() // what an earlier version of the program left is not taken for this one's
			if err := d.Decode(&found); err != nil {
				return found, fmt.Errorf("%s: %w", file, err)
			}
			return found, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return found, err
		}
	}
	if found, err = measure(); err != nil {
		return found, err
	}
	return found, x.Env.WriteArtefact(file, func(w io.Writer) error {
		b, err := json.MarshalIndent(found, "", "  ")
		if err != nil {
			return err
		}
		_, err = w.Write(append(b, '\n'))
		return err
	})
}

// fileName returns the letters, digits and points of a name.
func fileName(name string) string {
	out := []rune(name)
	for i, r := range out {
		if !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '.') {
			out[i] = '-'
		}
	}
	return string(out)
}

// fill adds points, and compares mechanisms at the same accuracy: at the accuracies of the first mechanism.
func (f *Figures) fill(points []protect.Point, found []map[string]slates.Found, attackers, metrics []string,
	test *slate.Pairs) {
	for i, p := range points {
		e := FigurePoint{Mechanism: p.Mechanism(), Ratio: p.Ratio, Epsilon: p.Epsilon, Accuracy: share(p.Accuracy),
			Distinct: share(p.Distinct),
			Replaced: float64(p.Report.Replaced) / float64(max(1, len(test.Slates)))}
		if p.Clean() {
			e.Mechanism = p.String()
		}
		for _, who := range attackers {
			e.Attackers = append(e.Attackers, Attacker{who, found[i][who]})
		}
		f.Points = append(f.Points, e)
	}
	curves := protect.Curves(points)
	if len(curves) < 2 {
		return
	}
	for _, p := range curves[0].Points {
		if p.Clean() {
			continue
		}
		for _, who := range attackers {
			for _, m := range metrics {
				e := EqualPoint{Accuracy: p.Accuracy, Attacker: who, Metric: m}
				for _, c := range curves {
					if v, known := c.At(who+" "+m, p.Accuracy); known {
						e.Mechanism = append(e.Mechanism, NamedNumber{c.Mechanism, share(v)})
					}
				}
				if len(e.Mechanism) > 1 {
					f.Equal = append(f.Equal, e)
				}
			}
		}
	}
	slices.SortStableFunc(f.Equal, func(a, b EqualPoint) int {
		switch {
		case a.Accuracy > b.Accuracy:
			return -1
		case a.Accuracy < b.Accuracy:
			return 1
		}
		return 0
	})
}
