package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant"
)

// ask runs a command line of the calculator in this process.
func ask(t testing.TB, line string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	app := &App{Stdout: &out, Stderr: &errs}
	code = app.Execute(context.Background(), strings.Fields(line))
	return code, out.String(), errs.String()
}

// keys runs a command line with --json and returns what it said.
func keys(t testing.TB, line string) map[string]any {
	t.Helper()
	code, out, errs := ask(t, line+" --json")
	if code != 0 {
		t.Fatalf("%s: exit code %d: %s", line, code, errs)
	}
	var m map[string]any
	d := json.NewDecoder(strings.NewReader(out))
	if err := d.Decode(&m); err != nil {
		t.Fatalf("%s: %v in %s", line, err, out)
	}
	if _, err := d.Token(); err != io.EOF {
		t.Fatalf("%s: more than one JSON value", line)
	}
	for key := range m { // a key that stands twice hides its first value
		if n := strings.Count(out, "\n  \""+key+"\":"); n != 1 || key == "" {
			t.Errorf("%s: the key %q stands %d times", line, key, n)
		}
	}
	return m
}

// The commands against golden values (testdata/goldens, schema in its README of
// origin: 50-digit arithmetic, or limits with the stated tolerance).
func TestAccountGoldens(t *testing.T) {
	const sampled = "account sampled-gaussian --sampling-rate 0.01 --noise-multiplier 1 --steps 1000 --delta 1e-5"
	for _, c := range []struct {
		line, key string
		want, tol float64 // relative
	}{
		{sampled, "epsilon", 1.8282366665140988, 2e-6},
		{sampled + " --accountant exact", "epsilon", 1.8282366665140988, 2e-6},
		{sampled + " --accountant pld", "epsilon", 1.8282366665140988, 1e-4},
		{sampled + " --accountant pld", "epsilon_lower", 1.8282366665140988, 1e-4},
		{sampled + " --neighbouring replace", "epsilon", 2.8434402716927365, 1e-5},
		{sampled + " --neighbouring zero-out", "epsilon", 1.8282366665140988, 2e-6},
		{sampled + " --accountant rdp", "epsilon", 2.10133, 1e-4},
		{"account sampled-gaussian --sampling-rate 0.004266666666666667 --noise-multiplier 4 --steps 234000 --delta 1e-5", "epsilon", 2.103019547572249, 2e-6},
		{"account gaussian --sigma 2 --sensitivity 1 --steps 1 --delta 1e-5", "epsilon", 1.9930914044151196, 1e-9},
		{"account gaussian --sigma 2 --sensitivity 2 --steps 1 --delta 1e-5 --neighbouring replace", "epsilon", 4.3771780956812245, 1e-9},
		{"account gaussian --sigma 10 --sensitivity 1 --steps 25 --delta 1e-6 --accountant analytic", "epsilon", 2.254084650219741, 1e-12},
		{"account gaussian --sigma 10 --sensitivity 1 --steps 25 --delta 1e-6 --accountant pld", "epsilon", 2.254084650219741, 1e-4},
		{"account laplace --scale 10 --sensitivity 1 --steps 100 --delta 1e-5", "epsilon", 4.2203473250724794, 1e-5},
		{"account randomized-response --epsilon 0.1 --categories 2 --steps 100 --delta 1e-6", "epsilon", 4.7745675881079865, 1e-8},
		{"account randomized-response --epsilon 0.1 --categories 2 --steps 100 --delta 1e-6", "release_epsilon", 0.1, 0},
		{"account dipsgnn --sigma 0.6528681632302921 --clip 0.5 --steps 1 --delta 2.5e-7", "epsilon", 4.516128126738042, 1e-13},
		{"account rdp gaussian --sigma 2 --sensitivity 1 --alpha 8", "rdp", 1, 1e-14},
		{"account rdp laplace --scale 1 --sensitivity 1 --alpha 2", "rdp", 0.6191236299985928, 1e-11},
		{"account rdp sampled-gaussian --sampling-rate 0.001 --noise-multiplier 0.6 --alpha 1.1", "rdp", 7.866425388275461e-06, 1e-9},
		{"calibrate gaussian --sensitivity 1 --steps 1 --delta 1e-3 --epsilon 0.1 --accountant analytic", "sigma", 17.404396203031165, 1e-12},
		{"calibrate gaussian --sensitivity 1 --steps 1 --delta 1e-3 --epsilon 0.1", "sigma", 17.404396203031165, 1e-9},
		{"calibrate dipsgnn --clip 0.5 --steps 1 --delta 2.5e-7 --epsilon 5", "sigma", 0.5935165120275382, 1e-13},
		{"calibrate sampled-gaussian --sampling-rate 0.01 --steps 1000 --delta 1e-5 --epsilon 1", "noise_multiplier", 1.4146194065286788, 2e-5},
		{"calibrate sampled-gaussian --sampling-rate 0.0423841059602649 --steps 2400 --delta 1e-5 --epsilon 2", "noise_multiplier", 4.230745107554153, 2e-5},
		// The goldens of rdp are on a grid of orders; ours are continuous and never above.
		{"calibrate sampled-gaussian --sampling-rate 0.01 --steps 1000 --delta 1e-5 --epsilon 1 --accountant rdp", "noise_multiplier", 1.513122162607208, 1e-4},
		{"calibrate sampled-gaussian --sampling-rate 1 --steps 100 --delta 1e-6 --epsilon 2 --accountant rdp", "noise_multiplier", 23.82577702666417, 1e-3},
	} {
		got, ok := keys(t, c.line)[c.key].(float64)
		if !ok || !(math.Abs(got-c.want) <= c.tol*c.want) {
			t.Errorf("%s: %s is %v, want %v within %g", c.line, c.key, got, c.want, c.tol)
		}
		if strings.HasPrefix(c.line, "calibrate") && strings.Contains(c.line, "rdp") && got > c.want*(1+1e-9) {
			t.Errorf("%s: %v is above the value on a grid, %v", c.line, got, c.want)
		}
	}
}

// Every answer has the agreed keys, and says what it is about.
func TestAccountKeys(t *testing.T) {
	const tail = " --steps 10 --delta 1e-6"
	for _, c := range []struct{ line, accountant, relation, unit string }{
		{"account gaussian --sigma 5 --sensitivity 1" + tail, "exact", "add-remove", "record"},
		{"account gaussian --sigma 5 --sensitivity 1 --accountant rdp --neighbouring zero-out" + tail, "rdp", "zero-out", "record"},
		{"account sampled-gaussian --noise-multiplier 2 --sampling-rate 0.1 --accountant pld" + tail, "pld", "add-remove", "record"},
		{"account sampled-gaussian --noise-multiplier 2 --sampling-rate 0.1 --sampling without-replacement" + tail, "rdp", "replace", "record"},
		{"account laplace --scale 5 --sensitivity 1 --accountant rdp" + tail, "rdp", "add-remove", "record"},
		{"account randomized-response --epsilon 1 --categories 3 --accountant rdp" + tail, "rdp", "replace", "record"},
		{"account dipsgnn --sigma 5 --clip 1" + tail, "closed-form", "add-remove", "edge"},
		{"calibrate gaussian --sensitivity 1 --epsilon 3 --accountant rdp" + tail, "rdp", "add-remove", "record"},
		{"calibrate laplace --sensitivity 1 --epsilon 3 --accountant rdp" + tail, "rdp", "add-remove", "record"},
		{"calibrate dipsgnn --clip 1 --epsilon 3" + tail, "closed-form", "add-remove", "edge"},
	} {
		m := keys(t, c.line)
		for key, want := range map[string]string{"accountant": c.accountant, "neighbouring": c.relation, "unit": c.unit} {
			if m[key] != want {
				t.Errorf("%s: %s is %v, want %s", c.line, key, m[key], want)
			}
		}
		eps, ok := m["epsilon"].(float64)
		if !ok || !(eps > 0) || m["delta"] != 1e-6 || m["steps"] != 10.0 {
			t.Errorf("%s: epsilon %v, delta %v, steps %v", c.line, m["epsilon"], m["delta"], m["steps"])
		}
		s, _ := m["statement"].(string)
		for _, want := range []string{"one " + c.unit, "e^" + roundUp(eps, 6), "1e-6", "10 releases"} {
			if !strings.Contains(s, want) {
				t.Errorf("%s: the statement lacks %q: %s", c.line, want, s)
			}
		}
		if order, ok := m["order"].(float64); (c.accountant == "rdp") != (ok && order > 1) {
			t.Errorf("%s: order %v", c.line, m["order"])
		}
		if lower, ok := m["epsilon_lower"].(float64); c.accountant == "pld" && !(ok && lower <= eps && lower > 0) {
			t.Errorf("%s: epsilon_lower %v", c.line, m["epsilon_lower"])
		}
		if _, ok := m["warnings"].([]any); !ok {
			t.Errorf("%s: no list of warnings", c.line)
		}
		_, text, _ := ask(t, c.line)
		for _, want := range []string{"epsilon  ", roundUp(eps, 6), c.accountant, c.relation, c.unit, "- " + s} {
			if !strings.Contains(text, want) {
				t.Errorf("%s: the text lacks %q:\n%s", c.line, want, text)
			}
		}
	}
}

// A calibrated answer, asked back at exactly the noise it printed, is the same
// epsilon and at most the target.
func TestCalibrateNeverOvershoots(t *testing.T) {
	for _, c := range []struct{ mechanism, rest, key string }{
		{"gaussian", "--sensitivity 3 --steps 7", "sigma"},
		{"gaussian", "--sensitivity 3 --steps 7 --accountant analytic", "sigma"},
		{"gaussian", "--sensitivity 0.1 --steps 100000 --accountant rdp", "sigma"},
		{"sampled-gaussian", "--sampling-rate 0.02 --steps 500", "noise_multiplier"},
		{"sampled-gaussian", "--sampling-rate 0.02 --steps 500 --neighbouring replace", "noise_multiplier"},
		{"sampled-gaussian", "--sampling-rate 0.02 --steps 500 --accountant rdp", "noise_multiplier"},
		{"sampled-gaussian", "--sampling-rate 0.02 --steps 50 --sampling without-replacement", "noise_multiplier"},
		{"laplace", "--sensitivity 2 --steps 3 --accountant rdp", "scale"},
		{"dipsgnn", "--clip 0.3 --steps 12", "sigma"},
	} {
		for _, target := range []float64{0.3, 1, 7.7} {
			m := keys(t, fmt.Sprintf("calibrate %s %s --delta 1e-6 --epsilon %v", c.mechanism, c.rest, target))
			noise, _ := m[c.key].(float64)
			eps, _ := m["epsilon"].(float64)
			if !(eps <= target && eps > target*(1-1e-6)) || m["target_epsilon"] != target {
				t.Errorf("%s %s: epsilon %v for %v", c.mechanism, c.rest, eps, target)
			}
			flag := strings.ReplaceAll(c.key, "_", "-")
			back := keys(t, fmt.Sprintf("account %s %s --delta 1e-6 --%s %s", c.mechanism, c.rest, flag, short(noise)))
			if back["epsilon"] != eps {
				t.Errorf("%s %s: %v at %v, but asked back %v", c.mechanism, c.rest, eps, noise, back["epsilon"])
			}
		}
	}
}

// A ledger about two units gives two guarantees, and one where one is asked for;
// what is unprotected is infinite with its reason.
func TestAccountLedger(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.jsonl")
	l, err := privacy.CreateLedger(path, privacy.Research)
	if err != nil {
		t.Fatal(err)
	}
	record := func(purpose string, e privacy.Event, n int64) {
		t.Helper()
		if err := l.Record(purpose, e, n); err != nil {
			t.Fatal(err)
		}
	}
	record("aggregate", privacy.Gaussian{Sigma: 2, Sensitivity: 1, Unit: privacy.Edge, Neighbouring: privacy.AddRemove}, 4)
	record("features", privacy.PureLDP{Epsilon: 1.5, Unit: privacy.Feature}, 6000)
	if err := l.Bound("features", 1); err != nil {
		t.Fatal(err)
	}
	if err := l.Flush("epoch 1"); err != nil {
		t.Fatal(err)
	}
	record("loss", privacy.Unprotected{What: "labels", Why: "the loss sees them", Unit: privacy.User}, 1)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	m := keys(t, "account ledger "+path+" --delta 1e-5")
	if _, ok := m[""]; ok {
		t.Error("text was written as JSON")
	}
	all, _ := m["guarantees"].([]any)
	if len(all) != 3 || m["epsilon"] != nil || m["entries"] != 3.0 || m["noise"] != "research noise" {
		t.Fatalf("%v", m)
	}
	// The labels of a user are those of their edges, and their features are theirs.
	want := map[string]any{"edge": "infinity", "feature": "infinity", "user": "infinity"}
	for _, g := range all {
		g, _ := g.(map[string]any)
		unit, _ := g["unit"].(string)
		switch w := want[unit].(type) {
		case string:
			if s, _ := g["statement"].(string); g["epsilon"] != w || g["unprotected"] == nil || !strings.Contains(s, "Nothing is guaranteed about one ") {
				t.Errorf("%v", g)
			}
			protected, _ := g["epsilon_protected"].(float64)
			if w := map[string]float64{"edge": 4.377178, "feature": 1.4999878}[unit]; math.Abs(protected-w) > 2e-4 {
				t.Errorf("%s: of what is protected %v, want %v", unit, protected, w)
			}
		default:
			t.Errorf("unit %q", unit)
		}
	}
	one := keys(t, "account ledger "+path+" --delta 1e-5 --unit edge")
	if one["unit"] != "edge" || one["epsilon"] == nil {
		t.Errorf("%v", one)
	}
	for _, m := range []map[string]any{m, one} {
		if w := fmt.Sprint(m["warnings"]); !strings.Contains(w, "what is about one feature vector is other data than one edge, and left out of its account") {
			t.Errorf("no warning that features are left out: %s", w)
		}
	}
	if code, text, _ := ask(t, "account ledger "+path+" --delta 1e-5"); code != 0 || !strings.Contains(text, "infinite") || !strings.Contains(text, "unprotected: labels: the loss sees them") || !strings.Contains(text, "research noise") {
		t.Errorf("%d %s", code, text)
	}
	if part := keys(t, "account ledger "+path+" --delta 1e-5 --unit interaction"); part["epsilon"] != "infinity" {
		t.Errorf("an interaction of users without protection: %v", part)
	}
}

// Two relations about one unit are accounted as an exchange; an Unprotected about
// everything alone is infinite.
func TestAccountOddLedgers(t *testing.T) {
	write := func(events ...privacy.Event) string { return ledgerOf(t, nil, events...) }
	g := privacy.Gaussian{Sigma: 2, Sensitivity: 1, Unit: privacy.Edge, Neighbouring: privacy.AddRemove}
	h := g
	h.Neighbouring = privacy.Replace
	ldp := privacy.PureLDP{Epsilon: 1, Unit: privacy.User}
	nested := privacy.Composed{Events: []privacy.Event{privacy.Parallel{Events: []privacy.Event{g, privacy.SelfComposed{Event: g, Count: 2}}}, privacy.Sampled{Event: g, Rate: 1, Method: privacy.Poisson}}}
	if m := keys(t, "account ledger --delta 1e-5 "+write(nested)); m["unit"] != "edge" || m["neighbouring"] != "add-remove" || strings.Contains(fmt.Sprint(m["warnings"]), "left out") {
		t.Errorf("%v", m)
	}
	if m := keys(t, "account ledger --delta 1e-5 "+write(privacy.Unprotected{What: "a", Why: "b"})); m["epsilon"] != "infinity" || m["unit"] != "record" {
		t.Errorf("%v", m)
	}
	// mu² is 1/4 exchanged and (2/2)² added and removed
	both := keys(t, "account ledger --delta 1e-5 "+write(g, h))
	if want, err := accountant.Exact(math.Sqrt(1.25), 1e-5); err != nil || both["neighbouring"] != "replace" || both["epsilon"] != want || !strings.Contains(fmt.Sprint(both["warnings"]), "under add-remove are charged as a group of two") {
		t.Errorf("%v, want %v (%v)", both, want, err)
	}
	if code, _, errs := ask(t, "account ledger --delta 1e-5 --unit cell "+write(g)); code != 2 || !strings.Contains(errs, "hint: it is about edge") {
		t.Errorf("%d %s", code, errs)
	}
	for _, c := range []struct {
		path, want string
	}{
		{write(privacy.Sampled{Event: privacy.Composed{Events: []privacy.Event{ldp, ldp}}, Rate: 0.5, Method: privacy.Poisson}), ": account of user: entry 1 (end, p0): "},
		{write(), "lists no releases"},
	} {
		want := exitData
		if strings.Contains(c.want, "entry") { // sound, and beyond every accountant
			want = exitFailed
		}
		if code, out, errs := ask(t, "account ledger --delta 1e-5 "+c.path); code != want || out != "" || !strings.Contains(errs, c.want) {
			t.Errorf("%d %s", code, errs)
		}
	}
}

// A ledger with any byte changed, or cut anywhere, is refused with file and line.
func TestAccountRefusesDamage(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "ledger.jsonl")
	l, err := privacy.CreateLedger(path, privacy.Research)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Record("p", privacy.PureLDP{Epsilon: 1, Unit: privacy.User}, 2); err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if code, _, errs := ask(t, "account ledger --delta 1e-5 --accountant rdp "+path); code != 0 {
		t.Fatalf("the whole one: %s", errs)
	}
	refused := func(what string, b []byte, line int) {
		t.Helper()
		if err := os.WriteFile(path, b, 0o644); err != nil {
			t.Fatal(err)
		}
		code, out, errs := ask(t, "account ledger --delta 1e-5 "+path)
		if code != exitData || out != "" || !strings.Contains(errs, fmt.Sprintf("error: %s:%d: ", path, line)) {
			t.Fatalf("%s: exit code %d, %s", what, code, errs)
		}
	}
	line := 1
	for i := range good {
		bad := bytes.Clone(good)
		bad[i] ^= 4
		refused(fmt.Sprintf("byte %d changed", i), bad, line)
		if good[i] == '\n' {
			line++
		} else if i > 0 && good[i-1] != '\n' {
			refused(fmt.Sprintf("cut at %d", i), good[:i], line)
		}
	}
}

// A result that says nothing is refused, whatever accountant it came from.
func TestSound(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct {
		r    accountant.Result
		want string
	}{
		{accountant.Result{Epsilon: math.NaN()}, "NaN"},
		{accountant.Result{Epsilon: -1}, "-1"},
		{accountant.Result{Epsilon: inf}, "too large"},
		{accountant.Result{Epsilon: inf, Unprotected: []privacy.Unprotected{{What: "x"}}}, ""},
		{accountant.Result{}, ""},
	} {
		if err := sound(c.r); (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v", c.r.Epsilon, err)
		}
	}
}

func TestRounded(t *testing.T) {
	for _, c := range []struct {
		v        float64
		digits   int
		up, down string
	}{
		{1.8282366665, 6, "1.82824", "1.82823"}, {1, 6, "1", "1"}, {0.999999999, 3, "1", "0.999"}, {0, 6, "0", "0"},
		{1e-300, 2, "1e-300", "1e-300"}, {123456.7, 3, "124000", "123000"}, {99999.99, 1, "100000", "90000"}, {1.0000001, 3, "1.01", "1"},
		{9.9999999e9, 4, "1e10", "9.999e9"}, {math.Inf(1), 3, "infinite", "infinite"}, {1.0000000001e-5, 2, "1.1e-5", "1e-5"},
		{0.99999999999e-5, 2, "1e-5", "9.9e-6"},
	} {
		if up, down := roundUp(c.v, c.digits), roundDown(c.v, c.digits); up != c.up || down != c.down {
			t.Errorf("%v with %d digits: up %s, down %s, want %s and %s", c.v, c.digits, up, down, c.up, c.down)
		}
	}
}

// What cannot be computed is exit code 1 with the accountant, the releases and,
// where there is one, the way out.
func TestAccountFails(t *testing.T) {
	for _, c := range []struct{ line, err, hint string }{
		{"account laplace --scale 1e-9 --sensitivity 1e9 --steps 1e12 --delta 1e-100 --accountant pld", `no guarantee from the accountant "pld" for 1e12 releases`, "--accountant rdp may still give a bound"},
		{"account sampled-gaussian --noise-multiplier 1e-6 --sampling-rate 0.1 --steps 3 --delta 1e-9 --neighbouring replace", `no guarantee from the accountant "exact"`, ""},
		{"account sampled-gaussian --noise-multiplier 1 --sampling-rate 0.1 --steps 3 --delta 1e-9 --neighbouring replace --accountant rdp", `no guarantee from the accountant "rdp"`, "--accountant exact or pld may cover it"},
		{"account rdp sampled-gaussian --noise-multiplier 1 --sampling-rate 0.1 --alpha 2 --neighbouring replace", `no guarantee from the accountant "rdp" for a release`, "--accountant exact or pld may cover it"},
		{"calibrate sampled-gaussian --sampling-rate 0.1 --steps 3 --delta 1e-9 --epsilon 1 --neighbouring replace --accountant rdp", "no noise multiplier found for epsilon 1 at delta 1e-9", "--accountant exact or pld may cover it"},
	} {
		code, out, errs := ask(t, c.line)
		first, rest, _ := strings.Cut(errs, "\n")
		if code != exitFailed || out != "" || !strings.HasPrefix(first, "error: "+c.err) || c.hint != "" && rest != "hint: "+c.hint+"\n" || c.hint == "" && rest != "" {
			t.Errorf("%s: exit code %d, %s", c.line, code, errs)
		}
	}
}

// The sentences about every relation, unit and method.
func TestStatement(t *testing.T) {
	for _, c := range []struct {
		r    accountant.Result
		want []string
	}{
		{accountant.Result{Unit: privacy.Record, Neighbouring: privacy.AddRemove, Epsilon: 1, Delta: 1e-5, Method: "exact"}, []string{"Adding or removing one record changes", "e^1 (2.72), plus 1e-5", "exact, rounded up"}},
		{accountant.Result{Unit: privacy.User, Neighbouring: privacy.Replace, Epsilon: 20, Delta: 1e-5, Method: "rdp"}, []string{"Exchanging one user for any other changes", "e^20, plus", "an upper bound"}},
		{accountant.Result{Unit: privacy.Feature, Neighbouring: privacy.ZeroOut, Epsilon: 2, Lower: 1.5, Delta: 1e-5, Method: "pld"}, []string{"Blanking one feature vector changes", "between 1.5 and 2"}},
		{accountant.Result{Unit: privacy.Cell, Neighbouring: privacy.Replace, Epsilon: 3, Method: "pure"}, []string{"who knows all other cells of sequences, can", "The same holds for the order of two cells", "a group of all its cells"}},
		{accountant.Result{Unit: privacy.Position, Neighbouring: privacy.Replace, Epsilon: 2, Method: "pure"}, []string{"Exchanging one position of a slate for any other", "who knows all other positions of slates, can", "a whole slate is a group of all its positions"}},
		{accountant.Result{Unit: privacy.Cell, Neighbouring: privacy.Replace, Epsilon: math.Inf(1), Method: "exact"}, []string{"Nothing is guaranteed about one cell of a sequence"}},
	} {
		s := statement("5 releases", c.r)
		for _, want := range append(c.want, "5 releases") {
			if !strings.Contains(s, want) {
				t.Errorf("%+v: the statement lacks %q: %s", c.r, want, s)
			}
		}
	}
	a := &answer{}
	a.guarantee(accountant.Result{Epsilon: 1, Delta: 0.5, Order: math.Inf(1)})
	a.judge(accountant.Result{Epsilon: 11, Delta: 0.5, Order: 7, AtEnd: true, Notes: []string{"a note"}})
	b, err := json.Marshal(a)
	if err != nil || !strings.Contains(string(b), `"order":"infinity"`) {
		t.Errorf("%s, %v", b, err)
	}
	for _, want := range []string{"a note", "the best Rényi order, 7, is at the end of the grid", "above 10 rules out little", "too much for any data"} {
		if !strings.Contains(strings.Join(a.warnings, "\n"), want) {
			t.Errorf("no warning %q in %q", want, a.warnings)
		}
	}
	if _, err := json.Marshal(&answer{fields: []field{{key: "x", value: math.NaN()}}}); err == nil {
		t.Error("NaN was written")
	}
}
