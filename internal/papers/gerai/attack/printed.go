package attack

import (
	"slices"
	"strings"

	"privrec/internal/protocol/inference"
)

// names are the paper's names of methods, by the task that trains them.
var names = map[string]string{
	"train bprmf": "BPR", "train gcn": "GCN", "train blurme": "Blurm", "train dpae": "DPAE", "train dpne": "DPNE", "train dpmf": "DPMF", "train rap": "RAP",
	"train gerai": "GERAI",
}

// lengths are those of the lists of table 2.
var lengths = []int{5, 10, 15, 20, 25, 30}

// table2 has the F1 of the paper's own attacker, by attribute and method, at lengths.
var table2 = map[string]map[string][]float64{
	"age": {
		"BPR":   {0.693, 0.694, 0.699, 0.720, 0.676, 0.693},
		"GCN":   {0.697, 0.725, 0.730, 0.725, 0.735, 0.746},
		"Blurm": {0.715, 0.725, 0.716, 0.692, 0.679, 0.710},
		"DPAE":  {0.694, 0.688, 0.695, 0.674, 0.695, 0.684},
		"DPNE":  {0.684, 0.685, 0.700, 0.701, 0.679, 0.674},
		"DPMF":  {0.709, 0.703, 0.695, 0.699, 0.684, 0.689},
		"RAP":   {0.661, 0.650, 0.677, 0.666, 0.674, 0.671},
		"GERAI": {0.677, 0.663, 0.648, 0.651, 0.652, 0.650},
	},
	"gender": {
		"BPR":   {0.810, 0.773, 0.808, 0.778, 0.782, 0.801},
		"GCN":   {0.851, 0.836, 0.891, 0.880, 0.862, 0.869},
		"Blurm": {0.789, 0.788, 0.789, 0.761, 0.761, 0.788},
		"DPAE":  {0.781, 0.771, 0.770, 0.772, 0.771, 0.777},
		"DPNE":  {0.788, 0.772, 0.781, 0.776, 0.798, 0.788},
		"DPMF":  {0.783, 0.770, 0.768, 0.765, 0.761, 0.771},
		"RAP":   {0.787, 0.771, 0.763, 0.772, 0.776, 0.763},
		"GERAI": {0.760, 0.755, 0.763, 0.760, 0.744, 0.755},
	},
	"occupation": {
		"BPR":   {0.276, 0.277, 0.264, 0.263, 0.289, 0.267},
		"GCN":   {0.277, 0.277, 0.277, 0.267, 0.272, 0.270},
		"Blurm": {0.267, 0.267, 0.262, 0.262, 0.267, 0.269},
		"DPAE":  {0.266, 0.260, 0.255, 0.261, 0.260, 0.261},
		"DPNE":  {0.267, 0.265, 0.266, 0.264, 0.266, 0.262},
		"DPMF":  {0.266, 0.262, 0.270, 0.265, 0.270, 0.267},
		"RAP":   {0.260, 0.262, 0.260, 0.263, 0.248, 0.260},
		"GERAI": {0.260, 0.261, 0.255, 0.256, 0.246, 0.251},
	},
}

// table4 has the same of the ablations, with lists of 5.
var table4 = map[string]map[string]float64{
	"age":        {"GERAI-NL": 0.688, "GERAI-NF": 0.679},
	"gender":     {"GERAI-NL": 0.791, "GERAI-NF": 0.788},
	"occupation": {"GERAI-NL": 0.270, "GERAI-NF": 0.266},
}

// others are the attackers of table 5, in its order. Which naive Bayes it means, and how many
// neighbours, is not printed: its numbers fit the Gaussian one and 2.
var others = []string{"decision-tree", "naive-bayes-gaussian", "knn-2", "gaussian-process"}

// table5 has the F1 of others, by attribute and method, with lists of 5.
var table5 = map[string]map[string][]float64{
	"age": {
		"BPR":   {0.466, 0.376, 0.487, 0.260},
		"GCN":   {0.513, 0.366, 0.487, 0.619},
		"Blurm": {0.471, 0.402, 0.492, 0.265},
		"DPAE":  {0.492, 0.481, 0.476, 0.249},
		"DPNE":  {0.593, 0.402, 0.476, 0.349},
		"DPMF":  {0.561, 0.402, 0.486, 0.275},
		"RAP":   {0.476, 0.407, 0.513, 0.534},
		"GERAI": {0.434, 0.365, 0.466, 0.286},
	},
	"gender": {
		"BPR":   {0.651, 0.444, 0.561, 0.672},
		"GCN":   {0.635, 0.429, 0.566, 0.810},
		"Blurm": {0.630, 0.370, 0.556, 0.693},
		"DPAE":  {0.635, 0.381, 0.545, 0.683},
		"DPNE":  {0.640, 0.381, 0.556, 0.667},
		"DPMF":  {0.683, 0.376, 0.556, 0.683},
		"RAP":   {0.670, 0.439, 0.619, 0.709},
		"GERAI": {0.619, 0.429, 0.556, 0.656},
	},
	"occupation": {
		"BPR":   {0.132, 0.148, 0.070, 0.116},
		"GCN":   {0.122, 0.148, 0.063, 0.222},
		"Blurm": {0.127, 0.185, 0.074, 0.105},
		"DPAE":  {0.111, 0.180, 0.063, 0.212},
		"DPNE":  {0.132, 0.175, 0.079, 0.106},
		"DPMF":  {0.175, 0.180, 0.074, 0.104},
		"RAP":   {0.122, 0.148, 0.090, 0.127},
		"GERAI": {0.111, 0.116, 0.069, 0.090},
	},
}

// printed returns what the paper prints for an attack on a run: of MovieLens 100K under the
// paper's split, by an attacker who sees interactions and lists.
func printed(t inference.Target, row inference.Row, attribute string) (value float64, where string, ok bool) {
	if t.Data != "ml-100k" || t.Recipe != "gerai" || row.Sees != inference.SeesBoth {
		return 0, "", false
	}
	if v, ok := table4[attribute][t.Method]; ok {
		return v, "GERAI, table 4", row.K == 5 && row.Attacker == "dnn"
	}
	method := names[t.Task]
	if method == "GERAI" && !strings.EqualFold(t.Method, method) { // a variant that no table has
		return 0, "", false
	}
	if k := slices.Index(lengths, row.K); row.Attacker == "dnn" && k >= 0 {
		if list := table2[attribute][method]; list != nil {
			return list[k], "GERAI, table 2", true
		}
	}
	if k := slices.Index(others, row.Attacker); k >= 0 && row.K == 5 {
		if list := table5[attribute][method]; list != nil {
			return list[k], "GERAI, table 5", true
		}
	}
	return 0, "", false
}
