package calculator

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"strings"
	"testing"

	"privrec/internal/dataset"
	"privrec/internal/run"
)

// ask asks what a command line of the calculator asks, such as "account gaussian --sigma 2",
// and returns the answer as text, or as JSON with --json.
func ask(t testing.TB, line string) (string, error) {
	t.Helper()
	words := strings.Fields(line)
	verb, name, words := words[0], words[1], words[2:]
	var (
		q      *Question
		answer func() (run.Result, error)
		args   []string
		unit   string
		asJSON bool
	)
	switch {
	case name == "ledger":
		q = AskLedger()
		answer = func() (run.Result, error) { return q.Ledger(args[0], unit, nil) }
	case name == "rdp":
		q = AskDivergence(mechanism(t, words[0]))
		words = words[1:]
		answer = func() (run.Result, error) { return q.Divergence() }
	case verb == "calibrate":
		q = AskCalibration(mechanism(t, name))
		answer = func() (run.Result, error) { return q.Calibrate() }
	default:
		q = AskAccount(mechanism(t, name))
		answer = func() (run.Result, error) { return q.Account() }
	}
	flags := flag.NewFlagSet(line, flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	for _, n := range append(q.Numbers(), q.Optional()...) {
		flags.Var(n, n.Name(), n.Usage())
	}
	flags.StringVar(&q.Sampling, "sampling", q.Sampling, "")
	flags.StringVar(&q.Strategy, "strategy", "", "")
	flags.StringVar(&q.Neighbouring, "neighbouring", "", "")
	flags.StringVar(&q.Accountant, "accountant", "", "")
	flags.StringVar(&q.Find, "find", "", "")
	flags.StringVar(&unit, "unit", "", "")
	flags.BoolVar(&asJSON, "json", false, "")
	for len(words) > 0 { // arguments may stand before flags
		if err := flags.Parse(words); err != nil {
			return "", err
		}
		if words = flags.Args(); len(words) > 0 {
			args, words = append(args, words[0]), words[1:]
		}
	}
	if names := q.Missing(); len(names) > 0 {
		t.Fatalf("%s: missing %q", line, names)
	}
	if err := q.Check(); err != nil {
		return "", err
	}
	a, err := answer()
	if err != nil {
		return "", err
	}
	var out bytes.Buffer
	err = run.Show(&out, asJSON, a)
	return out.String(), err
}

// mechanism is the one of a name.
func mechanism(t testing.TB, name string) *Mechanism {
	t.Helper()
	for _, m := range append(Mechanisms(), Dipsgnn()) {
		if m.Name == name {
			return m
		}
	}
	t.Fatalf("no mechanism %q", name)
	return nil
}

// keys asks a command line with --json and returns what the answer says.
func keys(t testing.TB, line string) map[string]any {
	t.Helper()
	out, err := ask(t, line+" --json")
	if err != nil {
		t.Fatalf("%s: %v", line, err)
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

// What an error is about, which decides how a program ends.
const (
	good   = "no error"
	failed = "failed"
	usage  = "usage"
	data   = "data"
)

func kind(err error) string {
	var asked *run.UsageError
	var given *dataset.Error
	switch {
	case err == nil:
		return good
	case errors.As(err, &asked):
		return usage
	case errors.As(err, &given):
		return data
	}
	return failed
}

// hint is the fix that an error carries; empty without one.
func hint(err error) string {
	var given *dataset.Error
	if errors.As(err, &given) {
		return given.Hint
	}
	var h interface{ Hint() string }
	if errors.As(err, &h) {
		return h.Hint()
	}
	return ""
}
