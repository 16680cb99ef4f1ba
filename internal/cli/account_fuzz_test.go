package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"privrec/internal/calculator"
)

// calls are the leaves of the calculator; a curve draws into the working folder.
var calls = [][]string{
	{"account", "gaussian"}, {"account", "sampled-gaussian"}, {"account", "laplace"}, {"account", "randomized-response"}, {"account", "dipsgnn"},
	{"account", "rdp", "gaussian"}, {"account", "rdp", "sampled-gaussian"}, {"account", "rdp", "laplace"},
	{"account", "calibrate", "gaussian"}, {"account", "calibrate", "sampled-gaussian"},
	{"account", "calibrate", "laplace"}, {"account", "calibrate", "dipsgnn"},
}

// FuzzAccountFlags gives any words to the calculator. It never panics, ends with
// a documented exit code, answers or complains but never both, and no answer holds
// NaN or an infinity.
func FuzzAccountFlags(f *testing.F) {
	for _, line := range []string{
		"--sigma 2 --sensitivity 1 --steps 1 --delta 1e-5 --json",
		"--noise-multiplier 1 --sampling-rate 0.01 --steps 1000 --delta 1e-5 --accountant rdp --json",
		"--noise-multiplier 1 --sampling-rate 0.01 --steps 10 --delta 1e-5 --sampling without-replacement",
		"--scale 1e9 --sensitivity 1e-9 --steps 1e12 --delta 1e-100 --accountant rdp",
		"--sigma 1e-9 --sensitivity 1e9 --steps 1e12 --delta 1e-100 --accountant analytic --json",
		"--epsilon 1e4 --categories 2147483648 --steps 3 --delta 0.5 --accountant rdp",
		"--clip 1e9 --sigma 1e-9 --steps 1e12 --delta 1e-100 --json",
		"--clip 1 --steps 4 --delta 1e-5 --epsilon 1e-9",
		"--sensitivity 1 --steps 1e12 --delta 0.999999 --epsilon 1e4 --accountant analytic --json",
		"--scale 1 --sensitivity 1 --steps 1 --delta 1e-100 --accountant rdp",
		"--scale 1 --sensitivity 1 --steps 1 --delta 1e-100 --accountant rdp --json",
		"--sigma NaN --sensitivity inf --steps 1.5 --delta 1 --epsilon 0 --alpha 1",
		"--sigma 1 --sensitivity 1 --alpha 1e6", "--noise-multiplier 1e-9 --sampling-rate 1e-12 --alpha 1.0000000001 --json",
		"--help", "-- --sigma", "--delta", "", "--json --json=maybe", "--neighbouring replace --neighbouring=",
	} {
		for i := range calls {
			f.Add(uint8(i), line)
		}
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, call uint8, line string) {
		words := strings.Fields(line)
		if len(words) > 24 || slow(words) {
			return
		}
		var out, errs bytes.Buffer
		app := &App{Stdout: &out, Stderr: &errs}
		args := append(slices.Clone(calls[int(call)%len(calls)]), words...)
		code := app.Execute(context.Background(), args)
		if !slices.Contains([]int{exitDone, exitFailed, exitUsage, exitData, exitPrivacy}, code) {
			t.Fatalf("%q: exit code %d", args, code)
		}
		text := out.String()
		if code != exitDone {
			if text != "" || strings.Count(errs.String(), "error: ") < 1 || !strings.HasPrefix(errs.String(), "error: ") {
				t.Fatalf("%q: exit code %d with %q and %q", args, code, text, errs.String())
			}
			return
		}
		if asksHelp(args) {
			return
		}
		for text := range strings.Lines(text) {
			for _, bad := range []string{"NaN", "Inf", "infinit", "%!"} {
				// The best order may be infinite: the largest log-ratio.
				if strings.Contains(text, bad) && !strings.HasPrefix(text, `  "order": "infinity"`) && !strings.HasPrefix(text, "best order ") {
					t.Fatalf("%q: %s in %s", args, bad, text)
				}
			}
		}
		if !strings.HasPrefix(text, "{") {
			return
		}
		var m map[string]any
		if err := json.Unmarshal(out.Bytes(), &m); err != nil {
			t.Fatalf("%q: %v in %s", args, err, text)
		}
		key := "epsilon"
		if args[1] == "rdp" {
			key = "rdp"
		}
		if v, ok := m[key].(float64); !ok || !(v >= 0) || math.IsInf(v, 0) {
			t.Fatalf("%q: %s is %v", args, key, m[key])
		}
		if target, ok := m["target_epsilon"].(float64); ok && m["epsilon"].(float64) > target {
			t.Fatalf("%q: epsilon %v above %v", args, m["epsilon"], target)
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Fatalf("%q left %v (%v)", args, left, err)
		}
	})
}

// slow leaves out the methods that take seconds on odd settings: this target is
// about the command line, and their own tests are about them. A default that is
// one of them is kept where the mechanism answers it in closed form.
func slow(words []string) bool {
	line := strings.Join(words, " ")
	return !strings.Contains(line, "rdp") && !strings.Contains(line, "analytic") && !strings.Contains(line, "--clip") && !strings.Contains(line, "--sigma") && strings.Contains(line, "--delta")
}

func asksHelp(args []string) bool {
	return slices.ContainsFunc(args, func(a string) bool { return a == "-h" || strings.HasPrefix(a, "--help") || strings.HasPrefix(a, "-h") })
}

// Every number of the calculator shows its range in the help, and every command
// with an answer has --json.
func TestHelpShowsRanges(t *testing.T) {
	app := &App{}
	var walk func(c *cobra.Command)
	seen := 0
	walk = func(c *cobra.Command) {
		if c.Name() == "budget" || c.Name() == "epsilon" { // a file, which checks its own numbers, and no question
			return
		}
		for _, sub := range c.Commands() {
			walk(sub)
		}
		if c.HasSubCommands() {
			return
		}
		seen++
		if c.Flags().Lookup("json") == nil {
			t.Errorf("%s has no --json", c.CommandPath())
		}
		numbers := 0
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if n, ok := f.Value.(*calculator.Number); ok {
				numbers++
				if f.Usage != n.Usage() || f.Name != n.Name() {
					t.Errorf("%s --%s says %q, want --%s and %q", c.CommandPath(), f.Name, f.Usage, n.Name(), n.Usage())
				}
			} else if f.Value.Type() != "string" && f.Value.Type() != "stringSlice" && f.Value.Type() != "bool" {
				t.Errorf("%s --%s is a number of no range", c.CommandPath(), f.Name)
			}
		})
		if numbers == 0 {
			t.Errorf("%s has no number", c.CommandPath())
		}
	}
	walk(app.account())
	if seen != 24 {
		t.Errorf("%d commands, want 24", seen)
	}
}

// A curve that is interrupted leaves nothing.
func TestInterruptedCurveLeavesNothing(t *testing.T) {
	out := filepath.Join(t.TempDir(), "x.svg")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var b, errs bytes.Buffer
	app := &App{Stdout: &b, Stderr: &errs}
	args := strings.Fields("account curve gaussian --sensitivity 1 --steps 1 --delta 1e-5 --over noise --from 1 --to 9 --accountants rdp --out " + out)
	if code := app.Execute(ctx, args); code != exitInterrupted || b.Len() > 0 {
		t.Errorf("exit code %d, %s", code, b.String())
	}
	if _, err := os.Lstat(out); err == nil {
		t.Error("an interrupted curve left a file")
	}
}
