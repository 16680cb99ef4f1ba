package dipsgnn

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"privrec/internal/experiment"
	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant"
	"privrec/internal/report"
)

// Sequence lengths of the three data sets: the longest decide.
var longest = map[string][]int{"ML-1M": {80, 17, 3, 2, 80}, "Yelp": {24, 8}, "Tmall": {1, 40, 12}}

// counted counts a pass over every prefix of every sequence. A sequence of n items gives the
// prefixes of length 1 to n-1; the item after each is its label.
func counted(t *testing.T, lengths []int) Multiplicity {
	t.Helper()
	var sequence, length []int32
	for i, n := range lengths {
		for l := 1; l < n; l++ {
			sequence, length = append(sequence, int32(i)), append(length, int32(l))
		}
	}
	m, err := CountPrefixes(sequence, length)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func accounting(t *testing.T, lengths []int) Accounting {
	t.Helper()
	return Accounting{Epsilon: 5, Delta: 2.5e-7, Steps: 1, Norm: 0.2, Train: counted(t, lengths), Epochs: 10, EvalNoiseOff: true}
}

func privacyOf(t *testing.T, a Accounting) *Privacy {
	t.Helper()
	p, err := a.Privacy()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func row(t *testing.T, p *Privacy, prefix string) Row {
	t.Helper()
	for _, r := range p.Table {
		if strings.HasPrefix(r.Name, prefix) {
			return r
		}
	}
	t.Fatalf("no row %q", prefix)
	return Row{}
}

func within(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got/want-1) <= tolerance) {
		t.Errorf("%s: %.6g, want %.6g", what, got, want)
	}
}

// TestTable53 compares the costs with a table that this program did not make, to 0.5 %. Rows
// with two or three digits agree to half a unit of the last.
func TestTable53(t *testing.T) {
	rows := []struct {
		data, name      string
		s2m, rdp, exact float64
	}{
		{"ML-1M", "one matrix", 1, 5.00, 4.26}, {"ML-1M", "both", 2, 7.28, 6.31}, {"ML-1M", "deletion inside", 10, 18.24, 16.38},
		{"ML-1M", "unit edge, one", 156, 113, 107}, {"Yelp", "unit edge, one", 44, 46, 43}, {"Tmall", "unit edge, one", 76, 67, 63},
		{"ML-1M", "unit edge, all", 1560, 737, 720}, {"Yelp", "unit edge, all", 440, 254, 244}, {"Tmall", "unit edge, all", 760, 398, 386},
		{"ML-1M", "deletion, all", 7720, 3148, 3111}, {"Yelp", "deletion, all", 2120, 966, 946}, {"Tmall", "deletion, all", 3720, 1603, 1577},
		{"ML-1M", "substitution, four", 12, 20.4, 0}, {"ML-1M", "substitution, worst", 20, 27.9, 0},
	}
	for _, r := range rows {
		got := row(t, privacyOf(t, accounting(t, longest[r.data])), r.name)
		if got.S2M != r.s2m {
			t.Errorf("%s, %s: s² M is %g, want %g", r.data, r.name, got.S2M, r.s2m)
		}
		tolerance := func(want float64) float64 {
			if want == math.Trunc(want) && want > 5 {
				return max(0.005, 0.5/want)
			}
			return 0.005
		}
		within(t, r.data+", "+r.name+" by RDP", float64(got.EpsRDP), r.rdp, tolerance(r.rdp))
		if r.exact > 0 {
			within(t, r.data+", "+r.name+" exactly", float64(got.EpsExact), r.exact, tolerance(r.exact))
		}
	}
	a := accounting(t, longest["ML-1M"])
	a.SquaredStd = false
	within(t, "mu² of the claim", float64(row(t, privacyOf(t, a), "one matrix").Mu2), 0.7097, 0.0005)
}

// What std = sigma² costs, by C.
func TestSquaredStd(t *testing.T) {
	for _, c := range []struct{ norm, std, one, both float64 }{
		{.1, .0141, 64.3, 105.7}, {.2, .0564, 25.9, 40.3}, {.3, .127, 15.8, 24.0}, {.5, .352, 8.83, 13.1},
		{.6, .507, 7.22, 10.6}, {.8, .902, 5.29, 7.70}, {1, 1.409, 4.17, 6.04},
	} {
		a := accounting(t, longest["ML-1M"])
		a.Norm, a.SquaredStd = c.norm, true
		p := privacyOf(t, a)
		what := fmt.Sprintf("C %g: ", c.norm)
		within(t, what+"std", p.NoiseStd, c.std, 0.005)
		within(t, what+"one matrix", float64(row(t, p, "one matrix").EpsRDP), c.one, 0.005)
		within(t, what+"both matrices", float64(row(t, p, "both").EpsRDP), c.both, 0.005)
		if p.Claimed.Eps != 5 {
			t.Errorf("C %g: the claim is %v", c.norm, p.Claimed.Eps)
		}
	}
	// The published program's documented run.
	a := accounting(t, longest["ML-1M"])
	a.Norm, a.Epsilon, a.SquaredStd = 0.5, 4, true
	p := privacyOf(t, a)
	within(t, "sigma", p.Sigma, 0.732, 0.001)
	within(t, "std", p.NoiseStd, 0.536, 0.001)
	within(t, "epsilon", float64(row(t, p, "one matrix").EpsRDP), 5.58, 0.001)
}

// The sigma/C that a true epsilon of 5 needs.
func TestSigmaOfATrueEpsilon(t *testing.T) {
	for _, c := range []struct {
		data             string
		one, epoch, all  float64
		deletions        float64
		edgeRandClaimed5 float64
	}{
		{"ML-1M", 1.68, 14.8, 46.9, 104, 68.7}, {"Yelp", 1.68, 7.9, 24.9, 55, 29.6}, {"Tmall", 1.68, 10.3, 32.7, 72, 42.1},
	} {
		a := accounting(t, longest[c.data])
		over := func(s2m int64) float64 { return accountant.ClosedSigma(1, float64(s2m), 5, 2.5e-7) }
		within(t, c.data+" one pass", over(ofMessages.edge), c.one, 0.005)
		within(t, c.data+" one epoch", over(ofMessages.edge*a.Train.Edge), c.epoch, 0.006)
		within(t, c.data+" ten epochs", over(ofMessages.edge*a.Train.Edge*10), c.all, 0.005)
		within(t, c.data+" deletions", over(a.Train.Deletion*10), c.deletions, 0.007)
		mu := accountant.ClosedMu(5, 2.5e-7)
		within(t, c.data+" EdgeRand", accountant.Closed(mu*mu*float64(a.Train.Edge), 2.5e-7), c.edgeRandClaimed5, 0.005)
	}
	if got := accountant.ClosedSigma(1, 2*3, 5, 1e-6); math.Abs(got-1.1391*math.Sqrt(6)) > 1e-3 {
		t.Errorf("three steps: %g", got)
	}
}

// Counting samples agrees with
// counting each position of each sequence by hand.
func TestCounts(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var seq, length []int32
		for s := range 1 + r.IntN(4) {
			n := r.IntN(12)
			for l := 1; l < n; l++ {
				seq, length = append(seq, int32(s)), append(length, int32(l))
			}
		}
		b, err := CountPrefixes(seq, length)
		if err != nil {
			t.Fatal(err)
		}
		want := byHand(seq, length)
		if b != want {
			t.Fatalf("%v %v: %+v by sample, %+v by hand", seq, length, b, want)
		}
		// A part of the samples, as a validation split leaves.
		var s2, l2 []int32
		for i := range seq {
			if r.IntN(10) > 0 {
				s2, l2 = append(s2, seq[i]), append(l2, length[i])
			}
		}
		if part, err := CountPrefixes(s2, l2); err != nil || part != byHand(s2, l2) {
			t.Fatalf("%v: %+v, want %+v", s2, part, byHand(s2, l2))
		}
	}
	for _, bad := range [][]int32{{0}, {-1}, {1 << 21}} {
		if _, err := CountPrefixes([]int32{0}, bad); err == nil {
			t.Errorf("length %v accepted", bad)
		}
	}
	if _, err := CountPrefixes([]int32{0}, nil); err == nil {
		t.Error("unequal lengths accepted")
	}
}

// byHand adds s² over the samples for every position of every sequence.
func byHand(seq, length []int32) (worst Multiplicity) {
	for s := range int32(8) {
		for at := int32(1); at <= 12; at++ { // the position of the item, or of the edge to the next
			var m Multiplicity
			for i, l := range length {
				if seq[i] != s {
					continue
				}
				m.User += 8 * int64(l-1) * int64(l-1)
				if l >= at+1 {
					m.Edge++
				}
				switch { // the item at this place and the next change places
				case l >= at+1 && l > 2:
					m.Swap += 18
				case l == 2 && at == 1:
					m.Swap += 4
				}
				switch {
				case l >= at+1 && at > 1:
					m.Deletion += 10
					m.Substitution += 20
					m.SubstituteOff += 12
				case l == at && at > 1, at == 1 && l >= 2:
					m.Deletion += 2
					m.Substitution += 6
					m.SubstituteOff += 6
				}
			}
			worst.max(m)
		}
	}
	return worst
}

// The squared sensitivities themselves: over all coincidences of p, a, q and b
// among a few items and all signs of a common direction they are attained, and
// random vectors of norm 1 do not exceed them.
func TestSensitivities(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	edges := func(items ...int) (e [][2]int) {
		for i := 1; i < len(items); i++ {
			e = append(e, [2]int{items[i-1], items[i]})
		}
		return e
	}
	// squared change of (A_in H, A_out H) from edges f to edges g
	change := func(f, g [][2]int, h [][]float64) (s float64) {
		for dir := range 2 {
			rows := map[int][]float64{}
			add := func(e [2]int, w float64) {
				to, from := e[dir], e[1-dir]
				if rows[to] == nil {
					rows[to] = make([]float64, len(h[0]))
				}
				for k, v := range h[from] {
					rows[to][k] += w * v
				}
			}
			for _, e := range f {
				add(e, 1)
			}
			for _, e := range g {
				add(e, -1)
			}
			for _, v := range rows {
				for _, x := range v {
					s += x * x
				}
			}
		}
		return s
	}
	const items = 4
	apart := 0.0
	worst := map[string]float64{}
	try := func(h [][]float64) {
		note := func(name string, f, g [][2]int) float64 {
			s := change(f, g, h)
			worst[name] = max(worst[name], s)
			return s
		}
		for p := range items {
			for a := range items {
				note("edge", edges(p, a), nil)
				note("delete end", edges(p, a), nil)
				for q := range items {
					note("delete", edges(p, a, q), edges(p, q))
					for b := range items {
						s := note("replace", edges(p, a, q), edges(p, b, q))
						if p != a && p != q && p != b && a != q && a != b && q != b {
							apart = max(apart, s)
						}
					}
					note("replace end", edges(p, a), edges(p, q))
					note("replace start", edges(a, p), edges(q, p))
				}
			}
		}
	}
	for signs := range 1 << items {
		h := make([][]float64, items)
		for i := range h {
			h[i] = []float64{float64(signs>>i&1)*2 - 1}
		}
		try(h)
	}
	worst["replace apart"] = apart
	for name, want := range map[string]float64{
		"edge": float64(ofMessages.edge), "delete": float64(ofMessages.deleteInside), "delete end": float64(ofMessages.deleteEnd), "replace": float64(ofMessages.replaceInside),
		"replace apart": float64(ofMessages.replaceApart), "replace end": float64(ofMessages.replaceEnd), "replace start": float64(ofMessages.replaceEnd),
	} {
		if worst[name] != want {
			t.Errorf("%s: s² %g is attained, want %g", name, worst[name], want)
		}
	}
	attained := map[string]float64{}
	for k, v := range worst {
		attained[k] = v
	}
	for range 2000 {
		h := make([][]float64, items)
		for i := range h {
			h[i] = make([]float64, 3)
			n := 0.0
			for k := range h[i] {
				h[i][k] = r.NormFloat64()
				n += h[i][k] * h[i][k]
			}
			for k := range h[i] {
				h[i][k] /= math.Sqrt(n)
			}
		}
		try(h)
	}
	for k, v := range attained {
		if worst[k] > v+1e-9 && k != "replace apart" {
			t.Errorf("%s: random vectors reach %g, above %g", k, worst[k], v)
		}
	}
	if apart > float64(ofMessages.replaceApart)+1e-9 {
		t.Errorf("four items: random vectors reach %g", apart)
	}
}

// What composes in the ledger is what the account says of the unit edge.
func TestLedgerComposesToTheAccount(t *testing.T) {
	a := accounting(t, longest["ML-1M"])
	a.EvalNoiseOff = false
	test := counted(t, []int{20, 4})
	a.Evaluations = []Evaluation{{"test", test, 1}, {"validation", Multiplicity{}, 0}}
	l, err := privacy.NewLedger(privacy.Research)
	if err != nil {
		t.Fatal(err)
	}
	record := func(purpose string, bound, samples int64, period string) {
		if err := l.Bound(purpose, bound); err != nil {
			t.Fatal(err)
		}
		e := privacy.Gaussian{Sigma: a.NoiseStd(), Sensitivity: a.Norm, Unit: privacy.Edge, Neighbouring: privacy.AddRemove}
		if err := l.Record(purpose, e, samples); err != nil {
			t.Fatal(err)
		}
		if err := l.Flush(period); err != nil {
			t.Fatal(err)
		}
	}
	for e := range a.Epochs {
		for _, matrix := range []string{"in", "out"} {
			record("training "+matrix, a.Train.Edge, 284863, fmt.Sprint("epoch ", e))
		}
	}
	for _, matrix := range []string{"in", "out"} {
		record("test "+matrix, test.Edge, 68774, "evaluation")
	}
	books, err := accountant.New(accountant.Analytic, privacy.Edge, privacy.AddRemove)
	if err != nil {
		t.Fatal(err)
	}
	if err := accountant.ChargeLedger(books, l.Entries()); err != nil {
		t.Fatal(err)
	}
	p := privacyOf(t, a)
	u := p.Units[0]
	if u.Accounted.MTrain != 780 || u.Accounted.MEval != 18 || u.Accounted.S2M != 2*798 {
		t.Errorf("%+v", u.Accounted)
	}
	spent, err := books.Spent(a.Delta)
	if err != nil || math.Abs(spent.Epsilon/float64(u.Accounted.EpsExact)-1) > 1e-9 {
		t.Errorf("the ledger comes to %g, the account to %v (%v)", spent.Epsilon, u.Accounted.EpsExact, err)
	}
	for _, o := range p.Declaration().WithoutNoise {
		if err := l.Record("unprotected", o, 1); err != nil {
			t.Fatal(err)
		}
	}
	if err := accountant.ChargeLedger(books, l.Entries()); err != nil {
		t.Fatal(err)
	}
	if spent, err = books.Spent(a.Delta); err != nil || !math.IsInf(spent.Epsilon, 1) || len(spent.Unprotected) != 3 {
		t.Errorf("with what is unprotected the ledger comes to %g: %v", spent.Epsilon, spent.Unprotected)
	}
}

func TestUnboundedAndTotal(t *testing.T) {
	a := accounting(t, longest["ML-1M"])
	names := func(a Accounting) string {
		p := privacyOf(t, a)
		if !math.IsInf(float64(p.Total), 1) {
			t.Errorf("total %v", p.Total)
		}
		for _, u := range p.Unbounded {
			if u.Why == "" {
				t.Errorf("%s has no reason", u.What)
			}
		}
		return strings.Join(experiment.Names(p.Unbounded), ",")
	}
	if got := names(a); got != "labels,readout,backward,eval_noise_off" {
		t.Error(got)
	}
	a.StopGradient, a.EvalNoiseOff = true, false
	if got := names(a); got != "labels,readout" {
		t.Error(got)
	}
	chosen := a
	chosen.Selected = true
	if got := names(chosen); got != "labels,readout,selection" {
		t.Error(got)
	}
	silent := a
	silent.Epsilon = math.Inf(1)
	if got := names(silent); got != "labels,readout,no_noise" {
		t.Error(got)
	}
	p := privacyOf(t, silent)
	if p.Sigma != 0 || !math.IsInf(float64(p.Units[3].Accounted.EpsRDP), 1) {
		t.Errorf("%+v", p.Units[3])
	}
	silent.ZeroAdjacency = true
	if got := names(silent); got != "labels,readout" {
		t.Error(got)
	}
	if p := privacyOf(t, silent); p.Units[0].Accounted.EpsExact != 0 {
		t.Errorf("without an adjacency the noise costs %v", p.Units[0].Accounted.EpsExact)
	}
}

// privacy.json as a reader sees it.
func TestPrivacyJSON(t *testing.T) {
	p := privacyOf(t, accounting(t, longest["ML-1M"]))
	p.Features = Features(20, 3, 3, false, false)
	b, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`"eps_total":"infinity"`, `"unit":"edge-unit"`, `"unit":"delete"`, `"unit":"substitute"`, `"unit":"user"`, `"noise":"research noise"`,
		`"claimed":{"eps":5,"delta":2.5e-7,"unit":"edge-unit","theorem":"4.2","s2":1,"M":1}`, `"M_train":780,"M_eval":0`, `"unbounded":["labels","readout","backward","eval_noise_off"]`,
		`"features":{"eps1":20,"k":3,"n":3,"all_unselected_zeroed":true,"eps_total":20,"unbounded":[]}`,
	} {
		if !strings.Contains(string(b), want) {
			t.Errorf("no %s in\n%s", want, b)
		}
	}
	var back Privacy
	if err := json.Unmarshal(b, &back); err != nil || !math.IsInf(float64(back.Total), 1) || back.Units[1].Accounted != p.Units[1].Accounted {
		t.Errorf("%v: %+v", err, back)
	}
}

func TestFeatureAccount(t *testing.T) {
	for name, c := range map[string]struct {
		f    *experiment.Features
		open string
	}{
		"paper": {Features(20, 3, 3, false, false), ""}, "code, k = n": {Features(20, 3, 3, true, false), ""},
		"code": {Features(10, 4, 6, true, true), "unselected,range"}, "numbers": {Features(10, 4, 6, false, true), "range"},
		"clear": {Features(math.Inf(1), 3, 3, false, false), "no_perturbation"},
	} {
		var open []string
		for _, u := range c.f.Unbounded {
			open = append(open, u.What)
		}
		if got := strings.Join(open, ","); got != c.open || math.IsInf(float64(c.f.Total), 1) != (c.open != "") {
			t.Errorf("%s: %q, total %v", name, got, c.f.Total)
		}
	}
}

func TestAccountingRefuses(t *testing.T) {
	for name, change := range map[string]func(a *Accounting){
		"epsilon": func(a *Accounting) { a.Epsilon = 0 }, "NaN": func(a *Accounting) { a.Epsilon = math.NaN() },
		"delta": func(a *Accounting) { a.Delta = 1 }, "steps": func(a *Accounting) { a.Steps = 0 }, "norm": func(a *Accounting) { a.Norm = 0 },
		"epochs": func(a *Accounting) { a.Epochs = -1 }, "passes": func(a *Accounting) { a.Evaluations = []Evaluation{{"test", Multiplicity{}, -1}} },
	} {
		a := accounting(t, longest["Yelp"])
		change(&a)
		if _, err := a.Privacy(); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

// TestShowNames: the columns of the table are understood without the paper's symbols.
func TestShowNames(t *testing.T) {
	var d report.Document
	privacyOf(t, accounting(t, longest["ML-1M"])).Show(&d)
	var names []string
	for _, c := range d.Tables[0].Columns {
		names = append(names, c.Name)
	}
	if want := []string{"counting", "squared sensitivity x releases", "epsilon, paper's conversion", "epsilon, exact"}; !slices.Equal(names, want) {
		t.Errorf("columns are %q, want %q", names, want)
	}
}
