package attack

import (
	"testing"

	"privrec/internal/protocol/inference"
)

// The paper's numbers stand beside the setting that they are of, and no other.
func TestPrinted(t *testing.T) {
	bpr := inference.Target{Task: "train bprmf", Method: "BPRMF", Data: "ml-100k", Recipe: "gerai"}
	with := func(change func(*inference.Target)) inference.Target {
		x := bpr
		change(&x)
		return x
	}
	gerai := with(func(t *inference.Target) { t.Task, t.Method = "train gerai", "GERAI" })
	both := func(k int, attacker string) inference.Row {
		return inference.Row{Sees: inference.SeesBoth, K: k, Attacker: attacker}
	}
	for _, c := range []struct {
		of        inference.Target
		row       inference.Row
		attribute string
		want      float64 // 0: nothing is printed
		where     string
	}{
		{bpr, both(5, "dnn"), "gender", 0.810, "GERAI, table 2"},
		{bpr, both(30, "dnn"), "occupation", 0.267, "GERAI, table 2"},
		{gerai, both(15, "dnn"), "age", 0.648, "GERAI, table 2"},
		{gerai, both(5, "naive-bayes-gaussian"), "occupation", 0.116, "GERAI, table 5"},
		{bpr, both(5, "decision-tree"), "age", 0.466, "GERAI, table 5"},
		{bpr, both(5, "gaussian-process"), "gender", 0.672, "GERAI, table 5"},
		{with(func(t *inference.Target) { t.Task, t.Method = "train gerai", "GERAI-NL" }), both(5, "dnn"), "gender", 0.791, "GERAI, table 4"},
		{with(func(t *inference.Target) { t.Task, t.Method = "train gerai", "GERAI-NL" }), both(10, "dnn"), "gender", 0, ""},
		{with(func(t *inference.Target) { t.Task, t.Method = "train gerai", "GERAI, repaired" }), both(5, "dnn"), "gender", 0, ""},
		{with(func(t *inference.Target) { t.Task = "train lightgcn" }), both(5, "dnn"), "gender", 0, ""},
		{with(func(t *inference.Target) { t.Data = "ml-1m" }), both(5, "dnn"), "gender", 0, ""},
		{with(func(t *inference.Target) { t.Recipe = "rdpgcf" }), both(5, "dnn"), "gender", 0, ""},
		{bpr, inference.Row{Sees: inference.SeesLists, K: 5, Attacker: "dnn"}, "gender", 0, ""},
		{bpr, both(7, "dnn"), "gender", 0, ""},
		{bpr, both(5, "dnn"), "zip", 0, ""},
		{bpr, both(10, "decision-tree"), "age", 0, ""},
		{bpr, both(5, "random-forest"), "age", 0, ""},
		{bpr, both(5, "knn-5"), "age", 0, ""},
	} {
		value, where, ok := printedFor(c.of, c.row, c.attribute)
		if ok != (c.want != 0) || ok && (value != c.want || where != c.where) {
			t.Errorf("%s, %+v, %s: %v, %q, %v, want %v in %q", c.of.Method, c.row, c.attribute, value, where, ok, c.want, c.where)
		}
	}
}

// Every table is complete: eight methods, of all attributes, at six lengths and by four other attackers, shares.
func TestTables(t *testing.T) {
	for task, method := range names {
		of := inference.Target{Task: task, Method: method, Data: "ml-100k", Recipe: "gerai"}
		for _, attribute := range []string{"age", "gender", "occupation"} {
			var rows []inference.Row
			for _, k := range []int{5, 10, 15, 20, 25, 30} {
				rows = append(rows, inference.Row{Sees: inference.SeesBoth, K: k, Attacker: "dnn"})
			}
			for attacker := range attackers {
				rows = append(rows, inference.Row{Sees: inference.SeesBoth, K: 5, Attacker: attacker})
			}
			for _, row := range rows {
				if v, _, ok := printedFor(of, row, attribute); !ok || v <= 0 || v >= 1 {
					t.Errorf("%s, %s, %s at %d: %v, %t", method, attribute, row.Attacker, row.K, v, ok)
				}
			}
		}
	}
}
