package features

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"privrec/internal/perturb"
	"privrec/internal/perturb/features"
	"privrec/internal/privacy"
)

// fileTable writes a table of n users, all alike.
func fileTable(t *testing.T, n int) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("user_id\tage\tgender\n")
	for u := range n {
		fmt.Fprintf(&b, "%d\t%d\tF\n", u, 30)
	}
	path := filepath.Join(t.TempDir(), "in.tsv")
	if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// The output has the law that its report states, with keyed and with secret bits, and with several
// workers: means within 6.11 standard errors, a false alarm of 1e-9 each. The ledger has one event.
func TestFileHasItsLaw(t *testing.T) {
	const n = 40_000
	in := fileTable(t, n)
	for _, secure := range []bool{false, true} {
		out := filepath.Join(t.TempDir(), "out.tsv")
		o := FileOptions{Settings: perturb.Settings{Out: out, Seed: 5, Secure: secure, Workers: 3}, Attributes: in, Epsilon: 4, Draw: 1,
			Columns: []features.Column{{Name: "age", Low: 0, High: 120}, {Name: "gender", Levels: []string{"M", "F"}}}}
		if secure {
			o.Seed = 0
		}
		r, err := File(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		var sums [3]float64
		lines := strings.Split(strings.TrimSuffix(string(b), "\n"), "\n")
		for _, line := range lines[1:] {
			for k, f := range strings.Split(line, "\t")[1:] {
				v, err := strconv.ParseFloat(f, 64)
				if err != nil {
					t.Fatal(err)
				}
				sums[k] += v
				if grid := v / 2 * (1 << 20); k == 0 && grid != math.Trunc(grid) {
					t.Fatalf("%v is not on the grid", v)
				}
			}
		}
		if len(lines) != n+1 || r.Users != n {
			t.Fatalf("%d lines, %d users", len(lines), r.Users)
		}
		f := r.Sampler
		kinds := f.Features
		for k, v := range []float64{-0.5, 0, 1} {
			kind := kinds[min(k, 1)]
			mean, variance := lawOf(f.PerFeature(), 0.5, kind.Categories > 0, v)
			if z := (sums[k]/n - mean) / math.Sqrt(variance/n); math.Abs(z) > 6.11 {
				t.Errorf("secure %v: column %d has mean %g, want %g: %.1f standard errors", secure, k, sums[k]/n, mean, z)
			}
		}
		l, err := privacy.Reading{}.File(filepath.Join(filepath.Dir(out), "out.ledger.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		if e := l.Entries(); len(e) != 1 || e[0].Event != (privacy.PureLDP{Epsilon: 4, Unit: privacy.Feature}) || (l.Noise() == privacy.Secure) != secure {
			t.Errorf("secure %v: ledger %v, noise %s", secure, e, l.Noise())
		}
	}
}

// A user's row depends on no other user: it is the same in a longer table.
func TestFileRowsStandAlone(t *testing.T) {
	rows := func(n int) []string {
		out := filepath.Join(t.TempDir(), "out.tsv")
		o := FileOptions{Settings: perturb.Settings{Out: out, Seed: 5, Workers: 1}, Attributes: fileTable(t, n), Epsilon: 4, Each: true,
			Columns: []features.Column{{Name: "age", Low: 0, High: 120}, {Name: "gender", Levels: []string{"M", "F"}}}}
		if _, err := File(t.Context(), o); err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Split(string(b), "\n")
	}
	short, long := rows(20), rows(50)
	for i, line := range short[:21] {
		if line != long[i] {
			t.Errorf("line %d is %q, and in a longer table %q", i, line, long[i])
		}
	}
}
