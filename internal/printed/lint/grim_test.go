package lint

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"privrec/internal/printed"
)

// number is a printed share.
func number(t *testing.T, text, unit string) printed.Value {
	t.Helper()
	var n printed.Number
	if err := n.UnmarshalText([]byte(text)); err != nil {
		t.Fatal(err)
	}
	return printed.Value{Number: n, Metric: printed.Metric{Unit: unit}}
}

// A number is possible if it is printed for some share of the cases, halves rounded to either side.
func TestPossibleIsAnyShareRounded(t *testing.T) {
	for n := 1; n <= 60; n++ {
		for digits, d := range []int{1, 10, 100, 1000} {
			made := map[int]bool{}
			for k := range n + 1 {
				last, rest := k*d/n, k*d%n
				if 2*rest <= n {
					made[last] = true
				}
				if 2*rest >= n {
					made[last+1] = true
				}
			}
			for last := range d + 1 {
				text := fmt.Sprintf("%.*f", digits, float64(last)/float64(d))
				if got := possible(number(t, text, printed.Share), int64(n)); got != made[last] {
					t.Fatalf("%s of %d cases: %v, want %v", text, n, got, made[last])
				}
				if digits < 2 {
					continue
				}
				text = fmt.Sprintf("%.*f", digits-2, 100*float64(last)/float64(d))
				if got := possible(number(t, text, printed.Percent), int64(n)); got != made[last] {
					t.Fatalf("%s %% of %d cases: %v, want %v", text, n, got, made[last])
				}
			}
		}
	}
}

// The tail of equal probabilities is that of a binomial law, and that of none is 1.
func TestTail(t *testing.T) {
	q := []float64{0.2, 0.2, 0.2, 0.2, 0.2}
	for hits, want := range map[int]float64{0: 1, 4: 5*0.8*math.Pow(0.2, 4) + math.Pow(0.2, 5), 5: math.Pow(0.2, 5)} {
		if got := tail(q, hits); math.Abs(got-want) > 1e-15 {
			t.Errorf("%d hits: %v, want %v", hits, got, want)
		}
	}
}

// Sums of hits over runs are shares of one run's cases as often as coarse says: of 200000 draws the number misses its
// mean by 6.2 standard deviations once in 1e9.
func TestCoarse(t *testing.T) {
	const cases, runs, d, draws = 189, 5, 1000, 200_000
	q := coarse(cases, runs, d)
	r := rand.New(rand.NewPCG(1, 2))
	hits := 0.0
	for range draws {
		k := r.IntN(cases*runs + 1)
		v := number(t, fmt.Sprintf("%.3f", float64(k)/(cases*runs)), printed.Share)
		if possible(v, cases) {
			hits++
		}
	}
	if sd := math.Sqrt(draws * q * (1 - q)); math.Abs(hits-draws*q) > 6.2*sd {
		t.Errorf("%v of %d, want %.0f", hits, draws, draws*q)
	}
}

// What a rule cannot decide is counted by its reason.
func TestDecided(t *testing.T) {
	text := withTwin(results("H, N, E", "tested: {D: 50}, rows: [{method: A, values: [0.504, 0.3, 0.5]}, "+
		"{method: C, values: [0.508, 0.4, 0.52]}]"))
	text += "  - {table: 2, where: w, kind: results, data: D, columns: [H], " +
		"rows: [{method: A, setting: {x: 1}, values: [0.5]}, {method: B, values: [0.6]}]}\n"
	f, err := printed.Parse("p.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprint(Check([]*printed.File{f}, nil).Checked[0].Decided)
	want := "[grim decides 2 numbers; it cannot decide 2 (no mean of 0 and 1), 2 (too few digits for so many cases), " +
		"2 (how many cases is not stated) " +
		"private-better decides 1 number; it cannot decide 2 (no row without noise in the table), " +
		"1 (a measure of an attack)]"
	if got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}
