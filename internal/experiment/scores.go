package experiment

import (
	"privrec/internal/metrics"
	"privrec/internal/run"
)

// WriteSets writes the scores of users by the ranks of their rows: how many rows a user has, in the column count, and
// every metric. file is the name of the file in the run directory.
func WriteSets(env *run.Env, file string, users []string, count string, ranks [][]int32, ms []metrics.Metric) error {
	rows := make([]int64, len(ranks))
	for k, r := range ranks {
		rows[k] = int64(len(r))
	}
	columns := []run.Column{{Name: "user_id", Values: users}, {Name: count, Values: rows}}
	for _, m := range ms {
		columns = append(columns, run.Column{Name: m.String(), Values: m.EachSet(ranks)})
	}
	return env.WriteScores(file, columns...)
}
