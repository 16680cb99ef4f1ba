package topntest

import (
	"compress/gzip"
	"encoding/csv"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"privrec/internal/protocol/topn"
)

// sampled checks the files of a ranking among sampled items: a table of its own, the rank of every test row, whose
// means are the reported scores, and the scores of every user.
func sampled(t *testing.T, dir, text string, o topn.Outcome) {
	t.Helper()
	for _, want := range []string{"alone among " + strconv.Itoa(o.Data.Candidates) + " sampled items",
		"Krichene and Rendle", "sampled Hit@", "among all items"} {
		if !strings.Contains(text, want) {
			t.Errorf("what is printed lacks %q:\n%s", want, text)
		}
	}
	for _, e := range o.Evaluations {
		var ranks []int32
		for _, row := range readTable(t, dir, "rows", e.Release) {
			r, err := strconv.Atoi(row["rank_among_sampled"])
			if err != nil || r < 1 || r > o.Data.Candidates+1 {
				t.Fatalf("rank %q among %d", row["rank_among_sampled"], o.Data.Candidates)
			}
			ranks = append(ranks, int32(r))
		}
		if len(ranks) != o.Data.TestRows {
			t.Fatalf("%d ranks of %d test rows", len(ranks), o.Data.TestRows)
		}
		users := readTable(t, dir, "scores", e.Release+"-sampled")
		for _, m := range o.Metrics {
			if !m.Sampled() {
				continue
			}
			if got := m.Mean(ranks); got != e.Values[m.String()] {
				t.Errorf("%v: %v from the rows, %v reported", m, got, e.Values[m.String()])
			}
			sum, n := 0.0, 0.0
			for _, u := range users {
				x, err := strconv.ParseFloat(u[m.String()], 64)
				rows, bad := strconv.ParseFloat(u["samples"], 64)
				if err != nil || bad != nil {
					t.Fatalf("%v, %v", err, bad)
				}
				sum, n = sum+rows*x, n+rows
			}
			if math.Abs(sum/n-e.Values[m.String()]) > 1e-12 || int(n) != o.Data.TestRows {
				t.Errorf("%v: %v over %v rows from the users, %v reported", m, sum/n, n, e.Values[m.String()])
			}
		}
	}
}

// readTable reads the lines of a table of a run, by column.
func readTable(t *testing.T, dir, name, release string) (rows []map[string]string) {
	t.Helper()
	if release = strings.TrimPrefix(release, "-"); release != "" {
		name += "-" + release
	}
	f, err := os.Open(filepath.Join(dir, name+".tsv.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	r := csv.NewReader(z)
	r.Comma = '\t'
	lines, err := r.ReadAll()
	if err != nil || len(lines) < 2 {
		t.Fatalf("%s: %d lines, %v", name, len(lines), err)
	}
	for _, l := range lines[1:] {
		row := map[string]string{}
		for c, v := range l {
			row[lines[0][c]] = v
		}
		rows = append(rows, row)
	}
	return rows
}
