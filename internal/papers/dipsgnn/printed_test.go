package dipsgnn

import (
	"bufio"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	"privrec/internal/metrics"
)

// Every number of Table 2, transcribed a second time, and nothing where the
// paper prints nothing.
func TestTable2(t *testing.T) {
	f, err := os.Open("testdata/table2.tsv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	entries, rows := 0, 0
	for in := bufio.NewScanner(f); in.Scan(); {
		cells := strings.Split(in.Text(), "\t")
		if len(cells) != 4 || cells[0] == "dataset" {
			continue
		}
		entries++
		m, err := metrics.Parse(cells[2])
		if err != nil {
			t.Fatal(err)
		}
		p := Tables().Row(cells[1], cells[0])
		if cells[3] == "-" {
			if p != nil {
				t.Errorf("%v: a row where the paper prints none", cells)
			}
			continue
		}
		rows++
		want, err := strconv.ParseFloat(cells[3], 64)
		if err != nil {
			t.Fatal(err)
		}
		if got := 100 * p[m.String()]; p == nil || math.Abs(got-want) > 1e-9 {
			t.Errorf("%v: we have %v (%v)", cells, got, p)
		}
	}
	if entries != 132 || rows != 124 {
		t.Errorf("%d entries, %d printed, want 132 and 124", entries, rows)
	}
	for _, m := range []metrics.Metric{{Kind: metrics.Recall, K: 5}, {Kind: metrics.MRR, K: 5}, {Kind: metrics.NDCG, K: 10}} {
		if p := Tables().Row("DIPSGNN", "ML-1M"); p[m.String()] != 0 {
			t.Errorf("%v was not printed", m)
		}
	}
	if Tables().Row("DIPSGNN", "ML-100K") != nil {
		t.Error("a row of a data set that the paper does not have")
	}
}

// The printed numbers go with the methods of Table 2 on its data sets, and with nothing else.
func TestPrinted(t *testing.T) {
	for _, c := range []struct {
		method, data string
		want         float64
	}{
		{"DIPSGNN", "ml-1m", 21.13}, {"SRGNN", "ml-1m", 21.01}, {"APGNN", "ml-1m", 21.26}, {"APGNN", "tmall", 24.86},
		{"DIPSGNN", "standin-tiny", 0}, {"GRU4Rec", "ml-1m", 0},
	} {
		p := Tables().Row(c.method, c.data)
		if c.want == 0 && p != nil || c.want > 0 && (p == nil || p["Recall@20"] != c.want/100) {
			t.Errorf("%s on %s: %+v", c.method, c.data, p)
		}
	}
}
