package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"privrec/internal/dataset/format"
)

// toys writes the Toys domain of the real table as histories and returns the file and
// the true items by user and position from the end.
func toys(t testing.TB, dir string, length int) (path string, rows map[string][]string) {
	t.Helper()
	var w strings.Builder
	w.WriteString("user_id\titem_id\ttimestamp\n")
	rows = map[string][]string{}
	seen := map[string]bool{}
	for _, v := range realRows(t, "cd-amazon-toy-game", "interactions.tsv.gz") { // user, timestamp, domain, item
		if v[2] != "A" {
			continue
		}
		fmt.Fprintf(&w, "%s\t%s\t%s\n", v[0], v[3], v[1])
		if !seen[v[0]+" "+v[3]] {
			seen[v[0]+" "+v[3]] = true
			rows[v[0]] = append(rows[v[0]], v[3])
		}
	}
	for u, r := range rows {
		rows[u] = r[max(0, len(r)-length):]
	}
	path = filepath.Join(dir, "toys.tsv")
	if err := os.WriteFile(path, []byte(w.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	return path, rows
}

// Survival on the real Toys histories, 7,996 users, within 3 standard deviations of the
// closed form at seven epsilons, counted from the output alone. The seed is fixed.
func TestSurvivalOnToys(t *testing.T) {
	const items, length = 37_868, 51
	dir := t.TempDir()
	in, rows := toys(t, dir, length)
	if len(rows) != 7996 {
		t.Fatalf("%d users, want 7996", len(rows))
	}
	for _, epsilon := range []float64{6, 8, 9, 10, 11, 12, 14} {
		out := filepath.Join(dir, fmt.Sprintf("e%g.tsv", epsilon))
		text := perturbed(t, "pricdsr", "--in", in, "--out", out, "--epsilon", fmt.Sprint(epsilon), "--items", fmt.Sprint(items), "--length", fmt.Sprint(length), "--json", "--seed", "1")
		// An item in column c survives if no cell before drew it and its own keeps it:
		// with x = e^eps, (prod over j < c of 1 - 1/(x + N_j)) x/(x + N_c), N_j = m+L-1-j.
		x, mean, v, total := math.Exp(epsilon), 0.0, 0.0, 0
		survive, there := make([]float64, length), 1.0
		for c := range survive {
			n := float64(items + length - 1 - c)
			survive[c] = there * x / (x + n)
			there *= 1 - 1/(x+n)
		}
		for _, r := range rows {
			for i := range r {
				p := survive[length-len(r)+i]
				mean += p
				v += p * (1 - p)
				total++
			}
		}
		kept := 0
		f, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(f)) {
			var user, item string
			var at int
			if n, _ := fmt.Sscanf(line, "%s\t%s\t%d", &user, &item, &at); n < 3 {
				continue
			}
			if i := at - 1 - length + len(rows[user]); i >= 0 && rows[user][i] == item {
				kept++
			}
		}
		sd := (float64(kept) - mean) / math.Sqrt(v)
		t.Logf("epsilon %g: %d items of %d in their column, closed form %.1f, %+.2f standard deviations", epsilon, kept, total, mean, sd)
		if math.Abs(sd) > 3 {
			t.Errorf("epsilon %g: %d items in their column, want %.1f (%.2f standard deviations)", epsilon, kept, mean, sd)
		}
		var doc struct {
			Tables []struct {
				Name string
				Rows []map[string]any
			}
		}
		if err := json.Unmarshal([]byte(text), &doc); err != nil {
			t.Fatal(err)
		}
		r := doc.Tables[2].Rows[1]
		if doc.Tables[2].Name != "survival" || r["kept"] != float64(kept) || math.Abs(r["closed form"].(float64)/mean-1) > 1e-9 {
			t.Errorf("epsilon %g: the report says %v, want %d and %g", epsilon, r, kept, mean)
		}
	}
}

// The output reads back in every form as what it is: users, items of the catalogue.
func TestPerturbedReadsBack(t *testing.T) {
	dir := t.TempDir()
	in := filepath.Join(dir, "in.txt")
	var w strings.Builder
	for u := range 500 {
		fmt.Fprintf(&w, "%d %d %d\n", u, 1+u%30, 31+u%9)
	}
	if err := os.WriteFile(in, []byte(w.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"o.inter", "o.inter.gz", "o.inter.zst"} {
		out := filepath.Join(dir, name)
		perturbed(t, "pricdsr", "--in", in, "--out", out, "--epsilon", "4", "--items", "60", "--length", "4", "--force", "--seed", "1")
		l, err := format.ReadInter(context.Background(), out)
		if err != nil {
			t.Fatal(err)
		}
		if len(l.UserIDs) != 500 || len(l.ItemIDs) != 60 || l.Len() < 1300 {
			t.Errorf("%s: %d users, %d items, %d rows", name, len(l.UserIDs), len(l.ItemIDs), l.Len())
		}
	}
}
