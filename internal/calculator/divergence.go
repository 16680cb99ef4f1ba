package calculator

import (
	"fmt"
	"math"

	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant/rdp"
	"privrec/internal/privacy/accountant/terms"
)

// Divergence answers with the curve of one release at the order asked for.
func (q *Question) Divergence() (*Answer, error) {
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
	ans := &Answer{title: upper(q.of.describe(q))}
	ans.add("rdp", v, "divergence", roundUp(v, 6))
	ans.add("alpha", alpha, "order", short(alpha))
	ans.add("accountant", "rdp", "", "")
	ans.add("neighbouring", q.relation, "neighbouring", string(q.relation))
	ans.add("unit", q.unit, "unit", string(q.unit))
	for _, name := range q.order {
		if name != "alpha" {
			ans.echo(q, name)
		}
	}
	if q.sampling != "" {
		ans.add("sampling", q.sampling, "", "")
	}
	bound := "is"
	if q.sampling == privacy.WithoutReplacement {
		ans.add("theorem", theorem27, "theorem", theorem27)
		bound = "is at most"
	}
	ans.statement = fmt.Sprintf("The Rényi divergence of order %s between what %s shows before and after %s one %s %s %s nats; divergences of releases add up, order by order.",
		short(alpha), q.of.describe(q), change(q.relation), noun(q.unit), bound, roundUp(v, 6))
	return ans, nil
}
