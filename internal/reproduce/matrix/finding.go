package matrix

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"privrec/internal/dataset"
	"privrec/internal/experiment"
	"privrec/internal/protocol/inference"
	"privrec/internal/protocol/link"
	"privrec/internal/protocol/membership"
	"privrec/internal/protocol/slates"
	"privrec/internal/protocol/target"
	"privrec/internal/run"
)

// finding is what one attack found in one run, beyond its best floor. Numbers are shares.
type finding struct {
	value, floor, gain float64
	interval           [2]float64 // 95 %, of the gain
	row                string     // of the attack's result
	over               string     // the floor
	sees, budget       string
	about              string // how many are asked about
	level              dataset.Level
}

// over is a gain over one floor.
type over struct {
	name        string
	floor, gain float64
	interval    *[2]float64
}

// read takes the finding from the directory of a finished attack.
func (a *Attack) read(dir string) (finding, error) {
	var head experiment.Outcome[experiment.Data]
	if err := run.ReadMetrics(dir, &head); err != nil {
		return finding{}, err
	}
	var f finding
	var gains []over
	var err error
	f.row = a.Row
	switch head.Protocol {
	case membership.Name:
		gains, err = a.membership(dir, &f)
	case link.Name:
		gains, err = a.link(dir, &f)
	case inference.Name:
		gains, err = a.inference(dir, &f)
	case slates.Name:
		gains, err = a.slates(dir, &f)
	default:
		err = fmt.Errorf("a result of protocol %q, which no attack has", head.Protocol)
	}
	if err == nil && len(gains) == 0 {
		err = fmt.Errorf("no gain of %q in %s", f.row, a.Metric)
	}
	if err != nil {
		return f, fmt.Errorf("%s: %w", filepath.Join(dir, "metrics.json"), err)
	}
	f.level = head.Data.Level
	best := slices.MaxFunc(gains, func(x, y over) int { return cmp.Or(cmp.Compare(x.floor, y.floor), strings.Compare(y.name, x.name)) })
	if best.interval == nil {
		return f, fmt.Errorf("%s: the gain of %q has no interval", filepath.Join(dir, "metrics.json"), f.row)
	}
	f.over, f.floor, f.gain, f.interval = best.name, best.floor, best.gain, *best.interval
	f.value = f.floor + f.gain
	return f, nil
}

// membership reads what tells members from others.
func (a *Attack) membership(dir string, f *finding) (gains []over, err error) {
	var o membership.Outcome
	if err := run.ReadMetrics(dir, &o); err != nil {
		return nil, err
	}
	named := func(name string) bool {
		return slices.ContainsFunc(o.Rows, func(r target.Row) bool { return r.Name == name })
	}
	if a.Sequences != "" && !named(a.Row) && named(a.Sequences) {
		f.row = a.Sequences
	}
	for _, r := range o.Rows {
		if r.Name == f.row {
			f.sees = r.Sees
		}
	}
	f.budget = fmt.Sprintf("%d guesses", o.Threat.Guesses)
	if o.Threat.Models > 0 {
		f.budget += fmt.Sprintf(", %d models of its own", o.Threat.Models)
	}
	f.about = fmt.Sprintf("%d %ss, %d of them members", o.Data.Candidates, o.Threat.Level, o.Data.Members)
	for _, g := range o.Gains {
		if g.Row == f.row && g.Metric == a.Metric {
			gains = append(gains, over{name: g.Over, floor: g.Floor, gain: g.Value, interval: &g.Interval})
		}
	}
	return gains, nil
}

// link reads what tells edges of the graph from other pairs.
func (a *Attack) link(dir string, f *finding) (gains []over, err error) {
	var o link.Outcome
	if err := run.ReadMetrics(dir, &o); err != nil {
		return nil, err
	}
	for _, r := range o.Rows {
		if r.Name == a.Row {
			f.sees = r.Sees
		}
	}
	if f.budget = "no guess: pairs are put in order"; o.Threat.Answers > 0 {
		f.budget = fmt.Sprintf("%d answers of the model, scores of %d users seen", o.Threat.Answers, o.Threat.Watched)
	}
	for _, q := range o.Data.Questions {
		if strings.HasSuffix(a.Metric, q.Of) {
			f.about = fmt.Sprintf("%d edges and %d other pairs of %d users", q.Edges, q.Others, q.Users)
		}
	}
	for _, g := range o.Gains {
		if g.Row == a.Row && g.Metric == a.Metric {
			gains = append(gains, over{name: g.Over, floor: g.Floor, gain: g.Value, interval: &g.Interval})
		}
	}
	return gains, nil
}

// inference reads what tells attributes of users.
func (a *Attack) inference(dir string, f *finding) (gains []over, err error) {
	var o inference.Outcome
	if err := run.ReadMetrics(dir, &o); err != nil {
		return nil, err
	}
	is := func(name string) bool { return name == a.Row || strings.HasSuffix(name, ", "+a.Row) }
	for _, r := range o.Rows {
		if is(r.Name) {
			f.sees = r.Sees
		}
	}
	f.budget = "one guess for each user"
	f.about = fmt.Sprintf("%d users, %d splits", o.Data.Users, o.Data.Repeats)
	for _, g := range o.Gains {
		if is(g.Row) && g.Metric+" "+g.Attribute == a.Metric {
			gains = append(gains, over{name: g.Over, floor: g.Floor, gain: g.Value, interval: g.Interval})
		}
	}
	return gains, nil
}

// slates reads what tells clicks before a slate, under the main protocol. Counting is an attack
// without training: it stands beside the floors that read no slate.
func (a *Attack) slates(dir string, f *finding) (gains []over, err error) {
	var o struct {
		Data      slates.DataSummary `json:"data"`
		Protocols []slates.Outcome   `json:"protocols"`
	}
	if err := run.ReadMetrics(dir, &o); err != nil {
		return nil, err
	}
	if len(o.Protocols) == 0 {
		return nil, fmt.Errorf("no protocol was measured")
	}
	p := o.Protocols[0]
	list := []slates.Gain(nil)
	if a.Row == "attack" {
		list = p.Gains
	}
	for _, c := range p.Counts {
		if c.Name == a.Row {
			list = c.Gains
		}
	}
	f.sees, f.budget = "the list", p.Budget+" guesses"
	f.about = fmt.Sprintf("%d lists", p.Pairs)
	for _, g := range list {
		if g.Metric == a.Metric {
			gains = append(gains, over{name: g.Over, floor: g.Floor, gain: g.Value, interval: &g.Interval})
		}
	}
	return gains, nil
}
