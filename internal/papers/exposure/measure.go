package exposure

import (
	"context"
	"fmt"
	"slices"

	attack "privrec/internal/attack/exposure"
	"privrec/internal/protocol/slates"
	"privrec/internal/run"
	"privrec/internal/train"
)

// measure ranks the test pairs by the trained attack under every protocol, beside the
// floors, and sweeps what the setting asks for.
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
	o.Figures, err = x.figures(ctx, m, main)
	return o, run.Interrupted(ctx, err)
}

func (x *attackRun) evaluate(ctx context.Context, m *attack.Model, r *train.Result) (*Outcome, error) {
	defer x.Env.Stage("evaluate")()
	o := &Outcome{
		Method: x.cfg.method(), Setting: x.standing.Text, Data: x.Summary(), Metrics: x.Metrics(), Definitions: map[string]string{}, Protection: x.protected(),
		Selected: len(r.Epochs), Cap: x.cfg.Train.Epochs, Stopped: r.Stopped, Steps: r.Steps, Epochs: r.Epochs,
	}
	if x.cfg.On.Run == "" {
		o.Short = x.standing.Stated.Short(x.cfg.Train.length(), len(r.Epochs), r.Stopped)
	}
	if x.cfg.Train.Select == selectValidation && r.Best >= 0 {
		o.Selected = r.Best + 1
	}
	for _, m := range o.Metrics {
		o.Definitions[m.String()] = m.ListsDefinition()
	}
	floors, err := x.Floors()
	if err != nil {
		return nil, err
	}
	for i, q := range x.Protocols() {
		p, err := x.Under(ctx, q, m, floors, i == 0)
		if err != nil {
			return nil, err
		}
		o.Protocols = append(o.Protocols, *p)
		o.Evaluations = append(o.Evaluations, p.Attack)
	}
	o.Floors = slices.Concat(o.Protocols[0].Floors, o.Protocols[0].Equal)
	return o, nil
}

// unfinished says that training ended before validation showed that more of it would not help:
// what the attack finds is then less than what it could. It is empty where the loss on validation
// had risen for as many epochs as the setting waits.
func (o *Outcome) unfinished(t TrainConfig) string {
	ran := len(o.Epochs)
	switch {
	case ran == 0:
		return "the attack has random weights: a lower bound"
	case o.Stopped || o.Selected < ran && ran-o.Selected >= t.Patience:
		return ""
	}
	return fmt.Sprintf("the attack was trained for %s, %s, and not until more would not help: a lower bound", counted(ran, "epoch"), counted(o.Steps, "step"))
}

// counted is a number and what it counts.
func counted(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}
