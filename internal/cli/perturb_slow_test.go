//go:build slow

package cli

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

// The exact laws of the goldens, through the command: 250,000 users with the same
// row, whose outputs are counted from the file that was written. Chi-square, false
// alarm 1e-9 a row; an output that the law does not have fails at once. So many show an epsilon that is 2 % too large.
func TestLawsThroughTheCommand(t *testing.T) {
	const users = 250_000
	b, err := os.ReadFile("../../testdata/goldens/pricdsr_mechanism_laws.json")
	if err != nil {
		t.Fatal(err)
	}
	var goldens struct {
		Cases []struct {
			Mechanism string
			M, L, X   int
			Row       []int
			Law       map[string]string
		}
	}
	if err := json.Unmarshal(b, &goldens); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in.txt"), filepath.Join(dir, "out.tsv")
	seen := map[string]int{}
	for i, c := range goldens.Cases {
		variant := map[string]string{"paper": "sdp-paper", "corrected": "sdp-fixed"}[c.Mechanism]
		if variant == "" {
			t.Fatalf("case %d: mechanism %q", i, c.Mechanism)
		}
		history, front := "", true
		for _, id := range c.Row {
			if id != 0 {
				history += fmt.Sprint(" ", id)
				front = false
			} else if !front {
				history = "not front padded"
				break
			}
		}
		if history == "not front padded" { // the command makes rows of histories: zeros stand in front
			continue
		}
		seen[variant]++
		writeAlike(t, in, history, users)
		perturbed(t, "pricdsr", "--in", in, "--out", out, "--epsilon", fmt.Sprint(math.Log(float64(c.X))), "--items", fmt.Sprint(c.M), "--length", fmt.Sprint(c.L),
			"--mechanism", variant, "--small", "--force", "--keep-order", "--seed", fmt.Sprint(i))
		counts := countRows(t, out, users, c.L)
		stat, cells := 0.0, -1.0
		for row, share := range c.Law {
			p, ok := new(big.Rat).SetString(share)
			if !ok {
				t.Fatalf("case %d: share %q", i, share)
			}
			want, _ := p.Float64()
			want *= users
			if want < 30 {
				t.Fatalf("case %d: %s is expected %g times", i, row, want)
			}
			d := float64(counts[row]) - want
			stat += d * d / want
			cells++
		}
		for row, n := range counts {
			if c.Law[row] == "" {
				t.Errorf("case %d, %s, row %v: %d users got %s, which the law does not have", i, variant, c.Row, n, row)
			}
		}
		if p := (distuv.ChiSquared{K: cells}).Survival(stat); p < 1e-9 {
			t.Errorf("case %d, %s, m %d, x %d, row %v: as far from its law with probability %g", i, variant, c.M, c.X, c.Row, p)
		}
	}
	if seen["sdp-paper"] < 6 || seen["sdp-fixed"] < 6 {
		t.Errorf("tested %v", seen)
	}
}

// At epsilon 0 what comes out does not depend on what went in: outputs of full, part
// and empty histories, 200,000 each, are as outputs of one law, by chi-square over the
// table of counts, and are not at epsilon 0.1. False alarm 1e-9.
func TestNothingOfTheInputIsLeftAtZero(t *testing.T) {
	const users = 200_000
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in.txt"), filepath.Join(dir, "out.tsv")
	for _, variant := range []string{"sdp-fixed", "sdp-paper", "rr"} {
		for _, epsilon := range []string{"0", "0.1"} {
			total := map[string]int{}
			var each []map[string]int
			for i, history := range []string{" 1 2 3", " 2", ""} {
				writeAlike(t, in, history, users)
				perturbed(t, "pricdsr", "--in", in, "--out", out, "--epsilon", epsilon, "--limits", "--items", "3", "--length", "3",
					"--mechanism", variant, "--force", "--keep-order", "--seed", fmt.Sprint(100+i))
				counts := countRows(t, out, users, 3)
				each = append(each, counts)
				for row, n := range counts {
					total[row] += n
				}
			}
			stat := 0.0
			for row, n := range total {
				want := float64(n) / float64(len(each))
				for _, counts := range each {
					d := float64(counts[row]) - want
					stat += d * d / want
				}
			}
			p := distuv.ChiSquared{K: float64((len(total) - 1) * (len(each) - 1))}.Survival(stat)
			if (p < 1e-9) != (epsilon != "0") {
				t.Errorf("%s at epsilon %s: %d outputs, as different with probability %g", variant, epsilon, len(total), p)
			}
		}
	}
}

// writeAlike writes users with one history, a line each.
func writeAlike(t *testing.T, path, history string, users int) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w := bufio.NewWriter(f)
	for u := range users {
		w.WriteString(strconv.Itoa(u))
		w.WriteString(history)
		w.WriteByte('\n')
	}
	if err := errors.Join(w.Flush(), f.Close()); err != nil {
		t.Fatal(err)
	}
}

// countRows counts the rows of an output: users without any cell are the rest.
func countRows(t *testing.T, path string, users, length int) map[string]int {
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	counts := map[string]int{}
	last, n := "", 0
	row := make([]string, length)
	flush := func() {
		if last != "" {
			counts[strings.Join(row, ",")]++
			n++
		}
		for i := range row {
			row[i] = "0"
		}
	}
	s := bufio.NewScanner(f)
	s.Scan() // header
	for s.Scan() {
		user, rest, _ := strings.Cut(s.Text(), "\t")
		item, at, _ := strings.Cut(rest, "\t")
		if user != last {
			flush()
			last = user
		}
		c, err := strconv.Atoi(at)
		if err != nil {
			t.Fatal(err)
		}
		row[c-1] = item
	}
	flush()
	if n < users {
		last = ""
		flush()
		counts[strings.Join(row, ",")] += users - n
	}
	return counts
}
