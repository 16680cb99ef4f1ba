package accountant

import (
	"encoding/json"
	"math"
	"os"
	"testing"
)

// riskcal 1.5.1 computes the same curves from the discretised losses of dp_accounting. Its script is
// scripts/riskcal-goldens.py. Ours are within 1e-3 of all of them. The slow tests compare every row.
func TestTradeOffAgainstRiskcal(t *testing.T) { checkRiskcal(t, 25) }

// checkRiskcal compares one row of so many. Both round away from the truth, ours by less: the mesh of
// riskcal is 1e-4, ours follows the curve.
func checkRiskcal(t *testing.T, every int) {
	text, err := os.ReadFile("testdata/riskcal.json")
	if err != nil {
		t.Fatal(err)
	}
	var f struct {
		Riskcal string
		Rows    [][7]float64
	}
	if err := json.Unmarshal(text, &f); err != nil || len(f.Rows) != 1000 || f.Riskcal != "1.5.1" {
		t.Fatalf("%v: %d rows of riskcal %s", err, len(f.Rows), f.Riskcal)
	}
	above, below := 0.0, 0.0
	for i := 0; i < len(f.Rows); i += every {
		r := f.Rows[i]
		c := curveOf(t, Contour, batches(r[0], r[1]), int64(r[2]))
		for j, got := range []float64{c.TPR(0.001), c.TPR(0.01), c.TPR(0.1), c.Advantage()} {
			above, below = math.Max(above, got-r[3+j]), math.Max(below, r[3+j]-got)
			if !(math.Abs(got-r[3+j]) <= 1e-3) {
				t.Errorf("rate %v, noise %v, %v steps: number %d is %v, riskcal has %v", r[0], r[1], r[2], j, got, r[3+j])
			}
		}
	}
	t.Logf("at most %.2g above and %.2g below", above, below)
}
