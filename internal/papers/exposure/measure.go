package exposure

import (
	"context"
	"fmt"
	"slices"

	attack "privrec/internal/attack/exposure"
	"privrec/internal/experiment"
	"privrec/internal/metrics"
	"privrec/internal/protocol/slates"
	"privrec/internal/run"
	"privrec/internal/train"
)

// measure ranks the test pairs by the trained attack under every protocol, beside the floors, and runs the sweeps that
// the setting asks for.
func (x *attackRun) measure(ctx context.Context, m *attack.Model, r *train.Result) (*Outcome, error) {
	o, err := x.evaluate(ctx, m, r)
	if err != nil {
		return nil, run.Interrupted(ctx, err)
	}
	floors := o.Protocols[0].Floors
	main := make([]slates.NamedValues, 0, len(floors))
	for _, f := range floors {
		main = append(main, slates.NamedValues{Name: f.Name, Values: f.Values})
	}
	if o.Figures, err = x.figures(ctx, m, main); err != nil {
		return o, run.Interrupted(ctx, err)
	}
	if x.cfg.Sweep.Evaluations && o.Figures != nil {
		o.Evaluations = append(o.Evaluations, o.Figures.evaluations(x.Metrics())...)
		o.Definitions[metrics.Accuracy.String()] = metrics.Accuracy.Definition()
	}
	return o, nil
}

func (x *attackRun) evaluate(ctx context.Context, m *attack.Model, r *train.Result) (*Outcome, error) {
	defer x.Env.Stage("evaluate")()
	c := x.cfg.Train
	standing := x.standing
	if x.cfg.ofLists() {
		standing.Stated = train.Length{} // no paper trains on the recommendations of a run
	}
	o := &Outcome{Protection: x.protected(), Outcome: experiment.Outcome[slates.DataSummary]{
		Version: experiment.Version, Method: x.cfg.method(), Protocol: slates.Name, Setting: x.standing.Text,
		Data:    x.Summary(),
		Metrics: x.Metrics(), Definitions: experiment.Define(x.Metrics(), metrics.Metric.ListsDefinition),
		Trained: experiment.TrainedBy(&experiment.Fitted{Result: r}, c.Select == selectValidation &&
			r.Best >= 0, c.Epochs, c.length(), standing),
	}}
	floors, err := x.Floors()
	if err != nil {
		return nil, err
	}
	got, err := x.Attack(ctx, m)
	if err != nil {
		return nil, err
	}
	for i, q := range x.Protocols() {
		p, err := x.Under(ctx, q, got[i], m.Lists(), floors, i == 0)
		if err != nil {
			return nil, err
		}
		o.Protocols = append(o.Protocols, *p)
		o.Evaluations = append(o.Evaluations, p.Attack)
	}
	o.Floors = slices.Concat(o.Protocols[0].Floors, o.Protocols[0].Equal)
	return o, nil
}

// unfinished returns a note if training ended before validation showed that more of it would not help: the attack may
// then find more. It is empty if the validation loss had risen for as many epochs as the setting waits.
func (o *Outcome) unfinished(t TrainConfig) string {
	ran := len(o.Epochs)
	switch {
	case ran == 0:
		return "the attack has random weights: a lower bound"
	case o.Stopped || o.Selected < ran && ran-o.Selected >= t.Patience:
		return ""
	}
	return fmt.Sprintf("the attack was trained for %s, %s, and not until more would not help: a lower bound",
		counted(ran, "epoch"), counted(o.Steps, "step"))
}

// counted returns a number with the name of what it counts.
func counted(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}
