package inference

import (
	"fmt"
	"slices"
	"strings"

	"privrec/internal/metrics"
	"privrec/internal/run"
)

// perUser writes, for every target and attribute, how often every row was right about each user who was ever in test,
// as tables for privrec compare. Users weigh by how often they were in test.
func (r *result) perUser() error {
	floors, rows := r.rows()
	for t, target := range r.targets {
		for a, attribute := range r.attributes {
			tests := make([]int64, len(r.users))
			for _, s := range r.splits[a] {
				for _, u := range s.Test {
					tests[u]++
				}
			}
			var ids []string
			var samples []int64
			for u, n := range tests {
				if n > 0 {
					ids, samples = append(ids, r.users[u]), append(samples, n)
				}
			}
			columns := []run.Column{{Name: "user_id", Values: ids}, {Name: "samples", Values: samples}}
			alone := r.alone(t)
			for i, row := range slices.Concat(rows, floors) {
				if row.Unsuitable != "" || i < len(rows) && row.target != t || i >= len(rows) && row.input != alone &&
					row.Attacker != Majority {
					continue
				}
				name := strings.TrimPrefix(row.Name, target.Name+", ")
				if i >= len(rows) {
					name = "floor: " + strings.TrimPrefix(row.Name, r.targets[row.target].Name+", ")
				}
				columns = append(columns, run.Column{Name: metricName(metrics.MicroF1Score, name),
					Values: r.right(row, a, tests)})
			}
			name := "scores-" + attribute.Name
			if len(r.targets) > 1 {
				name = fmt.Sprintf("scores-%d-%s", t+1, attribute.Name)
			}
			if err := r.env.WriteScores(name, columns...); err != nil {
				return err
			}
		}
	}
	return nil
}

// right returns, for every user who was ever in test, the share of tests in which a row was right.
func (r *result) right(row Row, attribute int, tests []int64) (out []float64) {
	sum := make([]float64, len(r.users))
	for i, s := range r.splits[attribute] {
		bits := r.cells[r.index(cellOf{row.input, attribute, i})][row.attacker].Right
		for k, u := range s.Test {
			if bits[k/8]>>(k%8)&1 == 1 {
				sum[u]++
			}
		}
	}
	for u, n := range tests {
		if n > 0 {
			out = append(out, sum[u]/float64(n))
		}
	}
	return out
}
