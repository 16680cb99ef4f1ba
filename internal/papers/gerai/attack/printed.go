package attack

import (
	"fmt"
	"strconv"
	"strings"

	"privrec/internal/printed"
	"privrec/internal/protocol/inference"
)

// names maps tasks to the paper's names of their methods.
var names = map[string]string{
	"train bprmf": "BPR", "train gcn": "GCN", "train blurme": "Blurm", "train dpae": "DPAE", "train dpne": "DPNE",
	"train dpmf": "DPMF", "train rap": "RAP", "train gerai": "GERAI",
}

// attackers maps attackers to their printed names. Table 5 does not say which naive Bayes it means, or how many
// neighbours. Its numbers fit the Gaussian one and 2.
var attackers = map[string]printed.Word{
	"dnn": "network", "decision-tree": "decision tree", "naive-bayes-gaussian": "naive Bayes",
	"knn-2": "nearest neighbours", "gaussian-process": "Gaussian process",
}

// printedFor returns the paper's printed value for an attack on a run: MovieLens 100K under the paper's split, by an
// attacker who sees interactions and lists. Table 2 has the paper's own attacker, Table 4 the same on the ablations,
// with lists of 5, and Table 5 other attackers, with lists of 5.
func printedFor(t inference.Target, row inference.Row, attribute string) (value float64, where string, ok bool) {
	attacker := attackers[row.Attacker]
	if t.Data != "ml-100k" || t.Recipe != "gerai" || row.Sees != inference.SeesBoth || attacker == "" {
		return 0, "", false
	}
	k := printed.Word(strconv.Itoa(row.K))
	setting := printed.Setting{"attribute": printed.Word(attribute), "K": k, "attacker": attacker}
	method, tables := names[t.Task], []int{2, 5}
	if method == "GERAI" && !strings.EqualFold(t.Method, method) { // an ablation, or a variant that no table has
		method, tables = t.Method, []int{4}
	}
	for _, table := range tables {
		if found := printed.Find("gerai", table, method, t.Data, setting); len(found) == 1 {
			return found[0].Share(), fmt.Sprintf("GERAI, table %d", table), true
		}
	}
	return 0, "", false
}
