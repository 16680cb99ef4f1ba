package calculator

import (
	"fmt"
	"io"
	"math"

	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant/rdp"
	"privrec/internal/privacy/accountant/terms"
)

// Divergence answers how well one release tells neighbours apart.
type Divergence struct {
	Nats  float64 // the Rényi divergence of order Alpha, or a bound on it
	Alpha float64 // the order
	privacy.Subject
	Asked Asked
}

// Text shows the divergence to a person.
func (d *Divergence) Text(w io.Writer) error { return d.page().Text(w) }

// MarshalJSON writes what Text shows, with every digit.
func (d *Divergence) MarshalJSON() ([]byte, error) { return d.page().MarshalJSON() }

func (d *Divergence) page() *page {
	p := &page{title: capitalise(d.Asked.Releases)}
	p.add("rdp", d.Nats, "divergence", roundUp(d.Nats, 6))
	p.add("alpha", d.Alpha, "order", short(d.Alpha))
	p.add("accountant", "rdp", "", "")
	p.add("neighbouring", d.Neighbouring, "neighbouring", string(d.Neighbouring))
	p.add("unit", d.Unit, "unit", string(d.Unit))
	p.echo(d.Asked)
	p.bound(d.Asked)
	bound := "is"
	if d.Asked.Sampling == privacy.WithoutReplacement {
		bound = "is at most"
	}
	p.statement = fmt.Sprintf("The Rényi divergence of order %s between what %s shows before and after %s one %s %s %s nats; divergences of releases add up, order by order.",
		short(d.Alpha), d.Asked.Releases, change(d.Neighbouring), noun(d.Unit), bound, roundUp(d.Nats, 6))
	return p
}

// Divergence answers with the divergence of one release at the chosen order.
func (q *Question) Divergence() (*Divergence, error) {
	e, err := q.of.release(q)
	if err != nil {
		return nil, err
	}
	alpha := q.get("alpha")
	l, err := terms.Flatten(e, 1, q.unit, q.relation)
	if err != nil {
		return nil, err
	}
	curve, err := rdp.FromList(l)
	if err != nil {
		return nil, q.failed("rdp", err)
	}
	v := curve(alpha)
	if math.IsNaN(v) || v < 0 || math.IsInf(v, 1) {
		return nil, fmt.Errorf("the divergence of order %s is too large for a number: %s", short(alpha), q.of.describe(q))
	}
	return &Divergence{Nats: v, Alpha: alpha, Subject: privacy.Subject{Unit: q.unit, Neighbouring: q.relation}, Asked: q.asked("alpha")}, nil
}
