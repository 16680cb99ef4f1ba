package papers

import (
	"math"
	"strconv"
	"strings"
	"testing"

	settings "privrec/configs"
	"privrec/internal/epsilons"
	"privrec/internal/privacy"
)

// TestEpsilonRows compares the rows of privrec account epsilon with numbers that this program did not
// make, from audits of the papers. They are printed with few digits: half of the last one, and
// 0.5 % at least, is allowed.
func TestEpsilonRows(t *testing.T) {
	rows := map[string]epsilons.Row{}
	all, err := epsilons.Papers(settings.Files(), Epsilons(), epsilons.All)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range all {
		rows[r.Paper+": "+r.Setting] = r
	}
	inf, none := math.Inf(1), 0.0
	for _, c := range []struct {
		row                                    string
		written, exact, released, noise, digit float64 // none: not compared. noise: of the repaired reading. digit: half of the last printed one
	}{
		{"dipsgnn: one matrix, one release (the theorem)", 5, 4.26, 25.9, 1.187, none},
		{"dipsgnn: both matrices, one release", 7.28, 6.31, 40.3, 1.68, none},
		{"dipsgnn: deletion inside a sequence, one release", 18.24, 16.38, none, none, none},
		{"dipsgnn: substitution, four different items, one release", 20.4, none, none, none, none},
		{"dipsgnn: substitution, worst coincidence, one release", 27.9, none, none, none, none},
		{"dipsgnn: unit edge, one epoch, ML-1M", 113, 107, none, 14.8, .5},
		{"dipsgnn: unit edge, one epoch, Yelp", 46, 43, none, 7.9, .5},
		{"dipsgnn: unit edge, one epoch, Tmall", 67, 63, none, 10.3, .5},
		{"dipsgnn: unit edge, ten epochs, ML-1M", 737, 720, none, 46.9, .5},
		{"dipsgnn: unit edge, ten epochs, Yelp", 254, 244, none, 24.9, .5},
		{"dipsgnn: unit edge, ten epochs, Tmall", 398, 386, none, 32.7, .5},
		{"dipsgnn: deletion, ten epochs, ML-1M", 3148, 3111, none, 104, .5},
		{"dipsgnn: deletion, ten epochs, Yelp", 966, 946, none, 55, .5},
		{"dipsgnn: deletion, ten epochs, Tmall", 1603, 1577, none, 72, .5},
		{"dipsgnn: one matrix, one release, C 0.1", 5, 4.26, 64.3, none, none},
		{"dipsgnn: both matrices, one release, C 0.1", 7.28, 6.31, 105.7, none, none},
		{"dipsgnn: one matrix, one release, C 0.3", 5, 4.26, 15.8, none, none},
		{"dipsgnn: both matrices, one release, C 0.3", 7.28, 6.31, 24.0, none, none},
		{"dipsgnn: one matrix, one release, C 0.5", 5, 4.26, 8.83, none, none},
		{"dipsgnn: both matrices, one release, C 0.5", 7.28, 6.31, 13.1, none, none},
		{"dipsgnn: one matrix, one release, C 0.6", 5, 4.26, 7.22, none, none},
		{"dipsgnn: both matrices, one release, C 0.6", 7.28, 6.31, 10.6, none, none},
		{"dipsgnn: one matrix, one release, C 0.8", 5, 4.26, 5.29, none, none},
		{"dipsgnn: both matrices, one release, C 0.8", 7.28, 6.31, 7.70, none, none},
		{"dipsgnn: one matrix, one release, C 1", 5, 4.26, 4.17, none, none},
		{"dipsgnn: both matrices, one release, C 1", 7.28, 6.31, 6.04, none, none},
		{"dipsgnn: one matrix, one release, C 0.5, the program's documented run", 4, none, 5.58, none, none},
		{"dipsgnn: EdgeRand, unit edge, all prefixes, ML-1M", 68.7, none, none, none, none},
		{"dipsgnn: EdgeRand, unit edge, all prefixes, Yelp", 29.6, none, none, none, none},
		{"dipsgnn: EdgeRand, unit edge, all prefixes, Tmall", 42.1, none, none, none, none},

		{"rdpgcf: theorem 3 as printed, Gowalla", 5, none, none, none, none},
		{"rdpgcf: 300 epochs, both views, epsilon 1, ML-1M", 3.6e3, none, none, none, 50},
		{"rdpgcf: 300 epochs, both views, epsilon 3, ML-1M", 5.1e4, none, none, none, 500},
		{"rdpgcf: 300 epochs, both views, epsilon 5, ML-1M", 1.27e5, none, none, .302, 500},
		{"rdpgcf: 300 epochs, both views, epsilon 10, ML-1M", 3.6e5, none, none, none, 5e3},
		{"rdpgcf: 300 epochs, both views, epsilon 1, Gowalla", 3.8e3, none, none, none, 50},
		{"rdpgcf: 300 epochs, both views, epsilon 3, Gowalla", 5.2e4, none, none, none, 600},
		{"rdpgcf: 300 epochs, both views, epsilon 5, Gowalla", 1.297e5, none, none, none, none},
		{"rdpgcf: 300 epochs, both views, epsilon 10, Gowalla", 3.7e5, none, none, none, 5e3},
		{"rdpgcf: 300 epochs, both views, epsilon 1, Yelp2018", 1.2e4, none, none, none, 500},
		{"rdpgcf: 300 epochs, both views, epsilon 3, Yelp2018", 1.2e5, none, none, none, 5e3},
		{"rdpgcf: 300 epochs, both views, epsilon 5, Yelp2018", 2.9e5, none, none, none, 5e3},
		{"rdpgcf: 300 epochs, both views, epsilon 10, Yelp2018", 7.9e5, none, none, none, 5e3},
		{"rdpgcf: stopped after 10 epochs, Gowalla", 4.6e3, none, none, none, 50},
		{"rdpgcf: stopped after 50 epochs, Gowalla", 2.2e4, none, none, none, 500},
		{"rdpgcf: stopped after 100 epochs, Gowalla", 4.4e4, none, none, none, 500},
		{"rdpgcf: one propagation in all, Gowalla", none, none, none, 2.18, none},
		{"rdpgcf: one propagation an epoch, Gowalla", none, none, none, 37.8, none},
		{"rdpgcf: noise that keeps the claim over 300 epochs, Gowalla", 1.297e5, none, none, 1060, none},

		{"gerai: all features of a user", 20, 20, none, none, none},
		{"gerai: one attribute of a user", 2.5, 2.5, none, none, none},
		{"gerai: two attributes of a user", 5, 5, none, none, none},
		{"gerai: three attributes of a user", 7.5, 7.5, none, none, none},
		{"gerai: training with noise on the loss", inf, none, none, none, none},
		{"gerai: loss as if only h were released, one step", 500, 500, none, none, none},
		{"gerai: loss as if only h were released, one epoch", 6.2e5, none, none, 383, 5e3},

		{"pricdsr: value of one cell, epsilon 10", 10, 10, inf, none, none},
		{"pricdsr: neighbours of definition 2, epsilon 10", 20, 20, inf, .0853, none},
		{"pricdsr: neighbours of definition 2, epsilon 50", 100, 100, inf, none, none},
		{"pricdsr: an interaction left out, two cells change, epsilon 10", 20, 20, none, none, none},
		{"pricdsr: an interaction left out, three cells change, epsilon 10", 30, 30, none, none, none},
		{"pricdsr: whole row of a user, epsilon 10", 1010, 1010, inf, none, none},

		{"exposure: one position, replaced by uniform draws", inf, none, inf, none, none},
	} {
		r, ok := rows[c.row]
		if !ok {
			t.Errorf("no row %q", c.row)
			continue
		}
		near := func(what string, got privacy.Number, want float64) {
			t.Helper()
			if want != none && got != privacy.Number(want) && !(math.Abs(float64(got)-want) <= max(0.005*want, c.digit)) {
				t.Errorf("%s, %s: %.6g, want %g", c.row, what, float64(got), want)
			}
		}
		near("as written", r.Written.Shown(), c.written)
		if c.exact != none {
			near("exact", *r.Written.Exact, c.exact)
		}
		if c.released != none {
			near("as released", r.Released.Shown(), c.released)
		}
		if c.noise != none {
			near("noise of the repair", privacy.Number(amount(t, r)), c.noise)
		}
	}
}

// amount reads the noise in the words of a repaired reading: in units of C for DIPSGNN, else the
// first number.
func amount(t *testing.T, r epsilons.Row) float64 {
	t.Helper()
	words := strings.Fields(strings.NewReplacer("(", " ", ")", " ", ",", " ", "%", " ").Replace(r.Repaired.Noise))
	var numbers []float64
	for _, w := range words {
		if x, err := strconv.ParseFloat(w, 64); err == nil {
			numbers = append(numbers, x)
		}
	}
	switch {
	case len(numbers) == 0:
		t.Fatalf("%s: no number in %q", r.Setting, r.Repaired.Noise)
	case r.Paper == "dipsgnn":
		return numbers[1]
	}
	return numbers[0]
}
