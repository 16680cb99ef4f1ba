package calculator

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"privrec/internal/privacy/accountant"
)

// edge draws a number at an end of its documented range, next to it, or anywhere between by equal factors.
func edge(r *rand.Rand, name string) float64 {
	s := kinds[name].span
	lo, hi := s.lo, s.hi
	if s.openLo {
		lo = math.Nextafter(lo, hi)
	}
	if s.openHi {
		hi = math.Nextafter(hi, lo)
	}
	v := lo
	switch from := max(lo, 1e-12); r.IntN(5) {
	case 0:
	case 1:
		v = hi
	default:
		v = from * math.Pow(hi/from, r.Float64())
	}
	if s.whole {
		v = math.Round(v)
	}
	return min(max(v, lo), hi)
}

// edgeQuestion draws a question about a mechanism by an accountant, with numbers at the ends of their ranges.
func edgeQuestion(t *testing.T, r *rand.Rand, m *Mechanism, method accountant.Method, calibrate bool) (q *Question, line string) {
	var skip []string
	if calibrate {
		q, line = AskCalibration(m), "calibrate "+m.Name
		skip = append(skip, q.wanted())
		if len(m.finds) > 0 && r.IntN(3) == 0 {
			q.Find = m.finds[r.IntN(len(m.finds))]
			skip = []string{q.Find}
			line += " --find " + q.Find
		}
	} else {
		q, line = AskAccount(m), "account "+m.Name
	}
	q.Accountant = string(method)
	if m.Sampled {
		all := m.samplings()
		q.Sampling = string(all[r.IntN(len(all))])
		line += " --sampling " + q.Sampling
	}
	if len(m.Relations) > 0 && r.IntN(2) == 0 {
		q.Neighbouring = string(m.Relations[r.IntN(len(m.Relations))])
		line += " --neighbouring " + q.Neighbouring
	}
	var optional []string
	switch {
	case m.closed:
	case calibrate && r.IntN(4) == 0:
		optional, skip = []string{"advantage"}, append(skip, "epsilon", "delta")
	case calibrate && r.IntN(4) == 0:
		optional, skip = []string{"tpr", "fpr"}, append(skip, "epsilon", "delta")
	case !calibrate && r.IntN(2) == 0:
		optional, skip = []string{"at-epsilon"}, append(skip, "delta")
	}
	if q.numbers["group"] != nil && r.IntN(6) == 0 {
		optional = append(optional, "group")
	}
	for _, name := range m.optional {
		if r.IntN(3) == 0 {
			optional = append(optional, name)
		}
	}
	for _, n := range q.Numbers() {
		if !slices.Contains(skip, n.name) {
			optional = append(optional, n.name)
		}
	}
	for _, name := range optional {
		text := fmt.Sprint(edge(r, name))
		if err := q.numbers[name].Set(text); err != nil {
			t.Fatal(err)
		}
		line += " --" + name + " " + text
	}
	if method != "" {
		line += " --accountant " + string(method)
	}
	return q, line
}

// checkEdges asks rounds of questions about every mechanism by every accountant, and fails on what is neither an
// answer nor a refusal in words, and on an answer below its own lower bound or above what was asked for.
func checkEdges(t *testing.T, seed, rounds uint64) (answered, refused int) {
	t.Helper()
	for round := range rounds {
		for _, m := range append(Mechanisms(), Dipsgnn()) {
			methods := m.Accountants
			if len(methods) == 0 {
				methods = []accountant.Method{""}
			}
			for _, method := range methods {
				for _, calibrate := range []bool{false, true} {
					if calibrate && m.Noise == "" {
						continue
					}
					q, line := edgeQuestion(t, rand.New(rand.NewPCG(seed, round)), m, method, calibrate)
					g, err := answerEdge(q, calibrate)
					if err != nil {
						refused++
						checkRefusal(t, line, err)
						continue
					}
					answered++
					checkAnswer(t, line, g)
				}
			}
		}
	}
	return answered, refused
}

// answerEdge answers a question; a panic is its own error.
func answerEdge(q *Question, calibrate bool) (g *Guarantee, err error) {
	defer func() {
		if x := recover(); x != nil {
			err = fmt.Errorf("panic: %v", x)
		}
	}()
	if err := q.Check(); err != nil {
		return nil, err
	}
	if !calibrate {
		return q.Account()
	}
	n, err := q.Calibrate()
	if err != nil {
		return nil, err
	}
	if s := kinds[n.Name].span; !s.holds(n.Noise) {
		return nil, fmt.Errorf("panic: %s %v is outside of %s", n.Name, n.Noise, s)
	}
	if n.Goal == "epsilon" && n.Spent.Epsilon > n.Target && !q.of.closed {
		return nil, fmt.Errorf("panic: epsilon %v above the target %v", n.Spent.Epsilon, n.Target)
	}
	return &n.Spent, nil
}

// checkRefusal fails on a refusal that is not in words.
func checkRefusal(t *testing.T, line string, err error) {
	t.Helper()
	text := err.Error()
	for _, bad := range []string{"panic", "NaN", "%!", "runtime error"} {
		if strings.Contains(text, bad) || text == "" {
			t.Errorf("%s: %q", line, text)
			return
		}
	}
}

// checkAnswer fails on an answer that is no number, or is below its lower bound, and on a page that calls one of
// the bounds by the other's name.
func checkAnswer(t *testing.T, line string, g *Guarantee) {
	t.Helper()
	answer, key, other := g.Epsilon, "epsilon", "delta"
	if g.ForDelta {
		answer, key, other = g.Delta, "delta", "epsilon"
	}
	if !(answer >= 0) || math.IsInf(answer, 1) || !(g.Delta >= 0 && g.Delta <= 1) {
		t.Errorf("%s: epsilon %v, delta %v", line, g.Epsilon, g.Delta)
	}
	if !(g.Lower >= 0 && g.Lower <= answer) {
		t.Errorf("%s: %s is %v, its lower bound %v", line, key, answer, g.Lower)
	}
	fields := map[string]any{}
	for _, f := range g.page().fields {
		fields[f.key] = f.value
	}
	if lower, ok := fields[key+"_lower"]; fields[other+"_lower"] != nil || ok != (g.Lower > 0 || g.Method == string(accountant.PLD)) || ok && lower != g.Lower {
		t.Errorf("%s: the page has %v, the lower bound of %s is %v", line, fields, key, g.Lower)
	}
	if text := g.page().statement; strings.Contains(text, "exact "+other) {
		t.Errorf("%s asked for %s: %s", line, key, text)
	}
}

// Whatever is in the documented ranges is answered or refused in words, by every accountant.
func TestEdges(t *testing.T) {
	for _, seed := range []uint64{11, 14} { // of little work
		if answered, refused := checkEdges(t, seed, 1); answered < 5 || refused < 5 {
			t.Errorf("%d answered and %d refused: the draws show one of the two alone", answered, refused)
		}
	}
}

// Both questions of every mechanism by every accountant: delta at the epsilon of a delta is that delta, each between
// its bounds, and the accountants' brackets overlap.
func TestBothQuestions(t *testing.T) {
	for _, c := range []struct{ line, delta string }{
		{"gaussian --sigma 2.3 --sensitivity 1.1 --steps 7", "1e-5"},
		{"gaussian --sigma 40 --sensitivity 1 --steps 1000 --neighbouring replace", "1e-9"},
		{"laplace --scale 0.699 --sensitivity 1.04 --steps 2", "0.05"},
		{"laplace --scale 9 --sensitivity 1 --steps 40", "1e-6"},
		{"sampled-gaussian --noise-multiplier 0.9 --sampling-rate 0.02 --steps 300", "1e-5"},
		{"sampled-gaussian --noise-multiplier 2 --sampling-rate 0.1 --steps 20 --neighbouring replace", "1e-6"},
		{"dp-sgd --records 1000 --batch 10 --epochs 2 --noise-multiplier 1.2", "1e-5"},
		{"sampled-gaussian --noise-multiplier 3 --sampling-rate 0.05 --steps 40 --sampling without-replacement", "1e-5"},
		{"randomized-response --epsilon 0.3 --categories 5 --steps 12", "1e-4"},
		{"sampled-gaussian --noise-multiplier 4 --sampling-rate 0.02 --steps 50 --group 3", "1e-6"},
	} {
		name, _, _ := strings.Cut(c.line, " ")
		lower, upper := map[string]float64{}, map[string]float64{"epsilon": math.Inf(1), "delta": math.Inf(1)}
		for _, method := range mechanism(t, name).Accountants {
			line := fmt.Sprintf("account %s --accountant %s", c.line, method)
			text, err := ask(t, line+" --delta "+c.delta+" --json")
			if err != nil { // not every accountant takes every mechanism
				checkRefusal(t, line, err)
				continue
			}
			eps := number(t, text, "epsilon")
			back, err := ask(t, fmt.Sprintf("%s --at-epsilon %v --json", line, eps))
			if err != nil {
				t.Errorf("%s: %v", line, err)
				continue
			}
			for key, answer := range map[string]string{"epsilon": text, "delta": back} {
				low, high := number(t, answer, key+"_lower"), number(t, answer, key)
				if !(low <= high) {
					t.Errorf("%s: %s from %v to %v", line, key, low, high)
				}
				if accountantOf(t, answer) == string(accountant.PLD) && !(low > 0 && low > 0.4*high) {
					t.Errorf("%s: %s from %v to %v", line, key, low, high)
				}
				if key == "delta" && method != accountant.RDP && !(high <= wanted(t, c.delta)*1.05) {
					t.Errorf("%s: delta at epsilon %v is %v, was %s", line, eps, high, c.delta)
				}
				if key == "epsilon" { // delta is asked for at each accountant's own epsilon
					lower[key], upper[key] = max(lower[key], low), min(upper[key], high)
				}
			}
		}
		if !(lower["epsilon"] <= upper["epsilon"]*(1+1e-9)) {
			t.Errorf("%s: one accountant has a lower bound of %v, another an upper bound of %v", c.line, lower["epsilon"], upper["epsilon"])
		}
	}
}

// number is a number of an answer in JSON; 0 where the answer has none.
func number(t *testing.T, answer, key string) float64 {
	t.Helper()
	var m map[string]any
	if err := json.Unmarshal([]byte(answer), &m); err != nil {
		t.Fatal(err)
	}
	v, _ := m[key].(float64)
	return v
}

func accountantOf(t *testing.T, answer string) string {
	t.Helper()
	var m struct{ Accountant string }
	if err := json.Unmarshal([]byte(answer), &m); err != nil {
		t.Fatal(err)
	}
	return m.Accountant
}

func wanted(t *testing.T, text string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// Two releases of Laplace noise at epsilon 0.5, against delta by dp_accounting 0.4.3
// (from_laplace_mechanism(0.699/1.04).self_compose(2).get_delta_for_epsilon(0.5)).
func TestDeltaLower(t *testing.T) {
	const line = "account laplace --accountant pld --at-epsilon 0.5 --sensitivity 1.04 --steps 2 --scale 0.699"
	m := keys(t, line)
	lower, _ := m["delta_lower"].(float64)
	delta, _ := m["delta"].(float64)
	if _, ok := m["epsilon_lower"]; ok || !(lower <= 0.5304970 && 0.5304970 <= delta*(1+1e-7) && lower > 0.5304969) {
		t.Errorf("%v", m)
	}
	text, err := ask(t, line)
	if err != nil || !strings.Contains(text, "The exact delta is proved to lie between 0.530496 and 0.530498.") || strings.Contains(text, "exact epsilon") {
		t.Errorf("%v in %s", err, text)
	}
	if text, err = ask(t, "account dp-sgd --records 100 --batch 10 --epochs 1 --noise-multiplier 1 --sampling shuffled --at-epsilon 1"); err != nil || !strings.Contains(text, "The delta is an upper bound") {
		t.Errorf("%v in %s", err, text)
	}
}

// Searches for noise stay in its documented range.
func TestSearchesEnd(t *testing.T) {
	for _, line := range []string{
		"calibrate gaussian --sensitivity 1 --steps 1 --delta 1e-50 --epsilon 1e-8 --accountant pld",
		"calibrate gaussian --sensitivity 1e9 --steps 1e12 --delta 1e-100 --epsilon 1e-9 --accountant analytic",
		"calibrate gaussian --sensitivity 1e-9 --steps 1 --delta 0.9 --epsilon 1e4 --accountant analytic",
		"calibrate laplace --sensitivity 1e9 --steps 1e12 --delta 1e-100 --epsilon 1e-9 --accountant rdp",
		"calibrate laplace --sensitivity 1e-9 --steps 1 --delta 1e-5 --epsilon 1e4 --accountant rdp",
		"calibrate dipsgnn --clip 1e9 --steps 1e12 --delta 1e-100 --epsilon 1e-9",
	} {
		if out, err := ask(t, line); err == nil || !strings.HasPrefix(err.Error(), "no "+mechanism(t, strings.Fields(line)[1]).Noise+" found for epsilon ") {
			t.Errorf("%s: %v, %s", line, err, out)
		} else {
			checkRefusal(t, line, err)
		}
	}
}

// A question that was interrupted says so, whatever it was about to fall back on.
func TestInterrupted(t *testing.T) {
	gone, stop := context.WithCancel(context.Background())
	stop()
	for _, m := range append(Mechanisms(), Dipsgnn()) {
		methods := m.Accountants
		if len(methods) == 0 {
			methods = []accountant.Method{""}
		}
		for _, method := range methods {
			for _, calibrate := range []bool{false, true} {
				if calibrate && m.Noise == "" {
					continue
				}
				q := AskAccount(m)
				if calibrate {
					q = AskCalibration(m)
				}
				for _, n := range q.Numbers() {
					if !calibrate || n.name != q.wanted() {
						n.v, n.set = map[string]float64{"delta": 1e-6, "sampling-rate": 0.1, "records": 100, "batch": 10, "categories": 3}[n.name], true
						if n.v == 0 {
							n.v = 2
						}
					}
				}
				q.Accountant = string(method)
				if err := q.During(gone).Check(); err != nil {
					t.Fatal(err)
				}
				var err error
				if calibrate {
					_, err = q.Calibrate()
				} else {
					_, err = q.Account()
				}
				if !errors.Is(err, context.Canceled) || err.Error() != context.Canceled.Error() {
					t.Errorf("%s by %q, calibrate %v: %v", m.Name, method, calibrate, err)
				}
			}
		}
	}
}
