package enumerate

import (
	"math"
	"math/big"
	"strings"
	"testing"

	"privrec/internal/privacy"
	"privrec/internal/privacy/mechanism/edges"
	"privrec/internal/rng"
)

// Randomised response, every oracle and EdgeRand meet their claims exactly at a rational e^epsilon, and at
// thresholds of the code never exceed them.
func TestOneValue(t *testing.T) {
	for _, kind := range Oracles() {
		for _, o := range []Odds{{Ratio: "9/4"}, {Epsilon: 0.7}, {Epsilon: 2}} {
			a, err := (&Values{Kind: kind, Categories: 3, Odds: o}).Answer()
			if err != nil || !a.Holds || a.Classes[0].Verdict != meets {
				t.Errorf("%s at %+v: %+v, %v", kind, o, a, err)
			}
		}
	}
	for _, o := range []Odds{{Ratio: "7/2"}, {Epsilon: 0.7}} {
		a, err := (&EdgeRand{Rows: 2, Cols: 2, Odds: o}).Answer()
		if err != nil || !a.Holds || len(a.Classes) != 2 {
			t.Fatalf("%+v, %v", a, err)
		}
		row, edge := a.Classes[1], a.Classes[0]
		if o.Ratio != "" && (edge.Ratio != "7/2" || row.Ratio != "49/4") {
			t.Errorf("ratios %s and %s, want 7/2 and its square", edge.Ratio, row.Ratio)
		}
	}
	for want, ask := range map[string]func() (*Answer, error){
		"a square":      (&Values{Kind: "sue", Categories: 3, Odds: Odds{Ratio: "3"}}).Answer,
		"1.07e+09 runs": (&Values{Kind: "olh", Categories: 8, Odds: Odds{Epsilon: 2}}).Answer, // 8 values, 8^8 functions, 8 hashes
		"one of":        (&Values{Kind: "rappor", Categories: 3}).Answer,
		"2.68e+08 runs": (&EdgeRand{Rows: 2, Cols: 7}).Answer,
		"may have 12":   (&LapGraph{Rows: 4, Cols: 4, Epsilon: 1, Count: CountRounded}).Answer,
		"--count is":    (&LapGraph{Rows: 2, Cols: 2, Epsilon: 1}).Answer,
		"--epsilon is":  (&LapGraph{Rows: 2, Cols: 2, Count: CountRounded}).Answer,
	} {
		if _, err := ask(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// float returns an interval's middle, and fails where it is wider than 1e-100 of it.
func float(t *testing.T, x interval) float64 {
	t.Helper()
	if d := low().Sub(x.hi, x.lo); d.Sign() < 0 || d.Cmp(high().Mul(x.hi, big.NewFloat(1e-100))) > 0 {
		t.Errorf("[%s, %s] is too wide, or empty", x.lo.Text('g', 30), x.hi.Text('g', 30))
	}
	f, _ := x.lo.Float64()
	return f
}

// The law of LapGraph: probabilities of all outputs sum to 1, and two cells have the textbook formula.
func TestLapGraphLaw(t *testing.T) {
	for _, truncated := range []bool{false, true} {
		for _, epsilon := range []float64{0.1, 1, 5} {
			l, err := newLapLaw(5, epsilon, 0.3, truncated)
			if err != nil {
				t.Fatal(err)
			}
			for ones := range 6 {
				sum := whole(0)
				for in := range ones + 1 {
					for zeros := range 5 - ones + 1 {
						ways := new(big.Int).Mul(new(big.Int).Binomial(int64(ones), int64(in)), new(big.Int).Binomial(int64(5-ones), int64(zeros)))
						sum = sum.add(l.probability(in, zeros, ones-in, 5-ones-zeros).mul(rational(new(big.Rat).SetInt(ways))))
					}
				}
				if got := float(t, sum); math.Abs(got-1) > 1e-15 {
					t.Errorf("epsilon %v, %d ones: mass %v", epsilon, ones, got)
				}
			}
			e := 0.7 * epsilon
			want := 1 - math.Exp(-e)*(0.5+e/4) // a one above a zero: 1 + L1 > L2
			if got := float(t, l.top(1, 0, 0, 1)); math.Abs(got-want) > 1e-13 {
				t.Errorf("epsilon %v: %v, want %v", epsilon, got, want)
			}
			if got := float(t, l.top(0, 2, 0, 3)); math.Abs(got-0.1) > 1e-15 { // alike: one of ten pairs
				t.Errorf("two of five zeros: %v", got)
			}
		}
	}
}

// The sampler has the law that is audited: every output of a small matrix comes as often, to within what
// Hoeffding's bound allows with probability 1e-9 over all 16.
func TestLapGraphSampler(t *testing.T) {
	const n = 20_000
	a := edges.Adjacency{Rows: 2, Cols: 2, Ptr: []int64{0, 1, 1}, Idx: []int32{0}}
	m := edges.LapGraph{Purpose: "audit", Epsilon: 1.5, CountShare: 0.4, Unit: privacy.Edge}
	counts := map[string]int{}
	for i := range n {
		l, err := privacy.NewLedger(privacy.Research)
		if err != nil {
			t.Fatal(err)
		}
		out, err := edges.PerturbLapGraph(m, l, rng.Seed(7).Stream("lapgraph").Sub(uint64(i)), a)
		if err != nil {
			t.Fatal(err)
		}
		cells := []byte("0000")
		for r := range 2 {
			for _, c := range out.Row(r) {
				cells[2*r+int(c)] = '1'
			}
		}
		counts[string(cells)]++
	}
	law, err := newLapLaw(4, m.Epsilon, m.CountShare, false)
	if err != nil {
		t.Fatal(err)
	}
	within := math.Sqrt(math.Log(2*16/1e-9) / (2 * n))
	for w := range 16 {
		cells, in, zeros := "", w&1, 0
		for i := range 4 {
			cells += string(rune('0' + w>>i&1))
			if i > 0 {
				zeros += w >> i & 1
			}
		}
		p := float(t, law.probability(in, zeros, 1-in, 3-zeros))
		if got := float64(counts[cells]) / n; math.Abs(got-p) > within {
			t.Errorf("output %s: %v of the time, want %v within %v", cells, got, p, within)
		}
	}
}

// LapGraph keeps its claim with a rounded count. The published count, with noise that is cut to a whole
// number, does not: a count that stays is twice as likely as it may be.
func TestLapGraphClaims(t *testing.T) {
	a, err := (&LapGraph{Rows: 2, Cols: 2, Epsilon: 1, Count: CountRounded}).Answer()
	if err != nil || !a.Holds || a.Classes[0].Error > 1e-14 {
		t.Errorf("%+v, %v", a, err)
	}
	a, err = (&LapGraph{Rows: 2, Cols: 2, Epsilon: 1, Count: CountTruncated}).Answer()
	if err != nil || a.Holds || !(float64(a.Classes[0].Epsilon) > 1.39) || !strings.Contains(a.Notes[0], "epsilon is at least 1.39388, and 1 is claimed") {
		t.Errorf("%+v, %v", a, err)
	}
}
