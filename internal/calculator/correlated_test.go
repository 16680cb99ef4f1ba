package calculator

import (
	"errors"
	"flag"
	"fmt"
	"math"
	"strings"
	"testing"

	"privrec/internal/privacy"
)

// TestCorrelatedSumsAreOneGaussian compares the account of a stream with that of a single release of its sensitivity.
func TestCorrelatedSumsAreOneGaussian(t *testing.T) {
	for _, c := range []struct {
		stream string
		moved  float64 // by one user, for a norm of 1
		sigma  float64
	}{
		{"--horizon 1 --noise-multiplier 2", 1, 2},
		{"--horizon 2 --noise-multiplier 2", math.Sqrt(1.25), 2},                         // the column 1, 1/2
		{"--horizon 3 --noise-multiplier 2", math.Sqrt(1.25 + 9./64), 2},                 // and 3/8
		{"--horizon 3 --bands 1 --participations 2 --noise-multiplier 2", math.Sqrt2, 2}, // two steps apart from each other
		{"--horizon 3 --participations 3 --noise-multiplier 4", math.Sqrt(1 + 2.25 + 225./64), 4},
		{"--horizon 3 --participations 2 --apart 2 --noise-multiplier 4", math.Sqrt(1 + .25 + 121./64), 4},
		{"--horizon 2 --noise-multiplier 3 --neighbouring replace", 2 * math.Sqrt(1.25), 3},
		{"--horizon 9 --noise-multiplier 3 --strategy tree", 2, 3}, // nodes of 1, 2, 4 and 8
		{"--horizon 4 --participations 4 --noise-multiplier 9 --strategy tree", math.Sqrt(4 + 2*4 + 16), 9},
		{"--horizon 9 --noise-multiplier 30 --strategy composed", 3, 30},
		{"--horizon 3 --noise-multiplier 2 --strategy banded --bands 2", math.Sqrt(1.25), 2},
		{"--horizon 12 --noise-multiplier 2 --strategy toeplitz --bands 4", math.Sqrt(1 + 0.527165484*0.527165484 +
			0.382476961*0.382476961 + 0.292057929*0.292057929), 2},
	} {
		relation := ""
		if c.stream[len(c.stream)-7:] == "replace" {
			relation = " --neighbouring replace"
		}
		got := keys(t, "account correlated-sums --delta 1e-6 "+c.stream)
		want := keys(t, fmt.Sprintf("account gaussian --delta 1e-6 --steps 1 --sigma %v --sensitivity %v%s", c.sigma,
			c.moved, relation))
		if g, w := got["epsilon"].(float64), want["epsilon"].(float64); math.Abs(g-w) > 1e-12*w {
			t.Errorf("%s: epsilon %v, want %v", c.stream, g, w)
		}
	}
}

// TestErrorsOfCorrelatedSums states the errors that an answer has, by hand.
func TestErrorsOfCorrelatedSums(t *testing.T) {
	// B is the square root itself: its rows are 1 and 1/2, 1.
	a := keys(t, "account correlated-sums --delta 1e-6 --horizon 2 --noise-multiplier 10")
	for key, want := range map[string]float64{
		"error_last": 10 * math.Sqrt(1.25), "error_mean": 10 * math.Sqrt(1.125),
		"error_single_releases": 10 * math.Sqrt(2/1.25),
	} {
		if got := a[key].(float64); math.Abs(got-want) > 1e-12*want {
			t.Errorf("%s: %v, want %v", key, got, want)
		}
	}
}

// TestCalibratedSums demands that the least noise has the epsilon that was asked for, and that 1e-6 less has more.
func TestCalibratedSums(t *testing.T) {
	for _, rest := range []string{"", " --participations 52 --apart 7", " --bands 30", " --neighbouring replace",
		" --bands best", " --strategy tree", " --strategy blt", " --strategy blt --participations 52 --apart 7 --buffers 2",
		" --strategy composed", " --strategy toeplitz --bands 30",
		" --strategy toeplitz --participations 52 --apart 7"} {
		stream := "correlated-sums --horizon 365 --delta 1e-6" + rest
		noise := keys(t, "calibrate "+stream+" --epsilon 1")["noise_multiplier"].(float64)
		at := func(noise float64) float64 {
			return keys(t, fmt.Sprintf("account %s --noise-multiplier %v", stream, noise))["epsilon"].(float64)
		}
		if e, less := at(noise), at(noise*(1-1e-6)); e > 1 || less <= 1 {
			t.Errorf("%s: epsilon %v at noise %v, and %v below it", stream, e, noise, less)
		}
	}
}

// TestStrategiesInOrder states what the strategies are for: with noise for the same guarantee, the errors of a year of
// sums fall from independent noise to the tree, the square root, its best bands, buffers, and fitted bands.
func TestStrategiesInOrder(t *testing.T) {
	last := math.Inf(1)
	for _, strategy := range []string{"--strategy composed", "--bands 1", "--strategy tree", "", "--bands best",
		"--strategy blt", "--strategy toeplitz"} {
		a := keys(t, "calibrate correlated-sums --horizon 365 --delta 1e-6 --epsilon 1 "+strategy)
		got := a["error_mean"].(float64)
		if got >= last {
			t.Errorf("%s: error %v, want less than %v", strategy, got, last)
		}
		last = got
		if single := a["error_single_releases"].(float64); math.Abs(single-80.71237685164648) > 1e-6 {
			t.Errorf("%s: error of single releases %v, want that of every strategy", strategy, single)
		}
	}
}

// TestWhatAStrategyShows demands that an answer states the strategy that was asked for, and what was found for it.
func TestWhatAStrategyShows(t *testing.T) {
	const stream = "account correlated-sums --horizon 12 --noise-multiplier 3 --delta 1e-6 "
	for rest, want := range map[string]map[string]any{
		"":                              {"strategy": nil, "bands": nil, "weights": nil, "error_last_plain": nil},
		"--strategy banded":             {"strategy": "banded", "bands": nil},
		"--bands best":                  {"strategy": nil, "bands": 9.0},
		"--bands 3":                     {"bands": 3.0},
		"--strategy tree":               {"strategy": "tree", "error_last_plain": 3 * math.Sqrt(2), "weights": nil},
		"--strategy toeplitz":           {"strategy": "toeplitz", "bands": nil, "weights": nil},
		"--strategy toeplitz --bands 4": {"strategy": "toeplitz", "bands": 4.0},
		"--strategy composed":           {"strategy": "composed", "error_last": 3.0, "error_mean": 3.0},
		"--strategy blt --buffers 1":    {"strategy": "blt", "buffers": 1.0},
		"--strategy blt --apart 5":      {"strategy": "blt", "buffers": nil},
		"--strategy blt --horizon 500":  {"horizon": 500.0},
	} {
		a := keys(t, stream+rest)
		for key, v := range want {
			if a[key] != v {
				t.Errorf("%s: %s is %v, want %v", rest, key, a[key], v)
			}
		}
		weights, _ := a["weights"].([]any)
		decays, _ := a["decays"].([]any)
		if len(weights) != len(decays) || (a["strategy"] == "blt") != (len(weights) > 0) {
			t.Errorf("%s: weights %v and decays %v", rest, weights, decays)
		}
		column, _ := a["column"].([]any)
		most, given := a["bands"].(float64)
		if (a["strategy"] == "toeplitz") != (len(column) > 0) || given && len(column) > int(most) {
			t.Errorf("%s: column %v", rest, column)
		}
	}
}

func TestStrategiesRefused(t *testing.T) {
	for rest, want := range map[string]string{
		"--strategy root":                          `--strategy is "root", want banded, tree, blt, composed`,
		"--strategy tree --bands 3":                "--bands does not go with --strategy tree",
		"--strategy blt --bands best":              "--bands does not go with --strategy blt",
		"--strategy composed --buffers 3":          "--buffers does not go with --strategy composed",
		"--buffers 3":                              "--buffers does not go with --strategy banded",
		"--strategy toeplitz --bands best":         "--bands best does not go with --strategy toeplitz",
		"--strategy toeplitz --buffers 3":          "--buffers does not go with --strategy toeplitz",
		"--strategy toeplitz --bands 366":          "--bands is 366, more than the 365 steps of --horizon",
		"--bands 366":                              "--bands is 366, more than the 365 steps of --horizon",
		"--bands bests":                            `--bands is "bests", want a whole number, 1 to 10000, or best`,
		"--strategy blt --buffers 9":               "--buffers is 9, want a whole number, 1 to 8",
		"--strategy blt --buffers best":            `--buffers is "best", want a whole number, 1 to 8`,
		"--strategy banded --bands 3 --buffers 99": "--buffers is 99, want a whole number, 1 to 8",
	} {
		_, err := ask(t, "account correlated-sums --horizon 365 --noise-multiplier 3 --delta 1e-6 "+rest)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want one with %q", rest, err, want)
		}
	}
}

// TestLedgerOfSums demands of a ledger's account, for each strategy, the epsilon of the question that made its event.
// Beside another release it costs what both cost together.
func TestLedgerOfSums(t *testing.T) {
	for _, rest := range []string{"", "--bands best", "--strategy tree --neighbouring replace", "--strategy composed",
		"--strategy toeplitz --participations 3 --apart 4", "--strategy toeplitz --bands 5 --neighbouring replace",
		"--strategy blt --participations 3 --apart 4 --neighbouring zero-out"} {
		line := "correlated-sums --horizon 20 --noise-multiplier 9 --delta 1e-6 " + rest
		q := AskAccount(mechanism(t, "correlated-sums"))
		words := strings.Fields(line)
		flags := flag.NewFlagSet("", flag.ContinueOnError)
		for _, n := range append(q.Numbers(), q.Optional()...) {
			flags.Var(n, n.Name(), "")
		}
		flags.StringVar(&q.Strategy, "strategy", "", "")
		flags.StringVar(&q.Neighbouring, "neighbouring", "", "")
		if err := errors.Join(flags.Parse(words[1:]), q.Check()); err != nil {
			t.Fatal(rest, err)
		}
		e, err := q.of.release(q)
		if err != nil {
			t.Fatal(err)
		}
		want := keys(t, "account "+line)["epsilon"].(float64)
		path := ledgerOf(t, nil, e)
		if got := keys(t, "account ledger --delta 1e-6 "+path)["epsilon"].(float64); got != want {
			t.Errorf("%s: the ledger comes to %v, want %v", rest, got, want)
		}
		mu := keys(t, "account "+line)["gdp_mu"].(float64)
		both := ledgerOf(t, nil, e, privacy.Gaussian{Sigma: 1, Sensitivity: mu, Unit: privacy.User,
			Neighbouring: q.relation})
		more := keys(t, fmt.Sprintf("account gaussian --delta 1e-6 --steps 2 --sigma 1 --sensitivity %v", mu))
		got := keys(t, "account ledger --delta 1e-6 "+both)["epsilon"].(float64)
		if want := more["epsilon"].(float64); math.Abs(got-want) > 1e-9*want {
			t.Errorf("%s: beside another release %v, want %v", rest, got, want)
		}
	}
}
