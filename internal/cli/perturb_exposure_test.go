package cli

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// protected runs the command in this process and returns what it printed.
func protected(t testing.TB, args ...string) string {
	t.Helper()
	var out, errs bytes.Buffer
	app := &App{Stdout: &out, Stderr: &errs}
	if code := app.Execute(context.Background(), append([]string{"perturb", "exposure", "--quiet"}, args...)); code != 0 {
		t.Fatalf("%v: exit code %d: %s", args, code, errs.String())
	}
	return out.String()
}

// zhihuTable reads a packed table of the released Zhihu pairs.
func zhihuTable(t testing.TB, name string) (rows [][]string) {
	t.Helper()
	dir := os.Getenv("PRIVREC_DATA")
	if dir == "" { // .ci/run sets it where the data are, and fails when a test says this then
		// The data are not in the repository; .ci/run, where they are, fails if this skips.
		t.Skip("PRIVREC_DATA is not set: skipping the check on the real Zhihu slates")
	}
	f, err := os.Open(filepath.Join(dir, "exposure", "zhihu", name))
	if os.IsNotExist(err) { // a folder with other sets only; .ci/run fails when a test says this
		t.Skipf("PRIVREC_DATA has no exposure/zhihu: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Split(strings.TrimSuffix(string(b), "\n"), "\n") {
		if i > 0 {
			rows = append(rows, strings.Split(line, "\t"))
		}
	}
	return rows
}

// The real Zhihu test slates through the command, counted from its output alone: what is
// left of the recommendation accuracy of distinct items is that of the specification's
// section 4.3 (two draws of a standard deviation of 0.0006: tolerance 0.0025, the seed is
// fixed), and of randomised response half of the positions are kept at ln(M-1) (Bernstein,
// false alarm 1e-9).
func TestZhihuSlatesThroughTheCommand(t *testing.T) {
	clicked := map[string]map[string]bool{}
	for _, r := range zhihuTable(t, "user_items.tsv.gz") {
		set := map[string]bool{}
		for _, item := range strings.Split(r[2], ",") {
			set[item] = true
		}
		clicked[r[0]] = set
	}
	dir := t.TempDir()
	in, catalogue := filepath.Join(dir, "slates.txt"), filepath.Join(dir, "items.tsv")
	var slates [][]string // user, items
	var text, items strings.Builder
	for _, r := range zhihuTable(t, "test.tsv.gz") {
		if r[2] == "1" {
			slates = append(slates, append([]string{r[1]}, strings.Split(r[3], ",")...))
			text.WriteString(strings.Join(slates[len(slates)-1], " ") + "\n")
		}
	}
	items.WriteString("item_id\n")
	n := 0
	for _, r := range zhihuTable(t, "vocab.tsv.gz") {
		var token int
		if _, err := fmt.Sscan(r[0], &token); err == nil && token >= 4 {
			items.WriteString(r[0] + "\n")
			n++
		}
	}
	if err := os.WriteFile(in, []byte(text.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(catalogue, []byte(items.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(dir, "out.txt")
	count := func() (accuracy float64, kept int) {
		b, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSuffix(string(b), "\n"), "\n")
		if len(lines) != len(slates) {
			t.Fatalf("%d slates, want %d", len(lines), len(slates))
		}
		for i, line := range lines {
			f := strings.Split(line, " ")
			set, hits := map[string]bool{}, 0
			for k, item := range f[1:] {
				if item == slates[i][k+1] {
					kept++
				}
				if !set[item] && clicked[f[0]][item] {
					hits++
				}
				set[item] = true
			}
			accuracy += float64(hits) / float64(len(set)) / float64(len(lines))
		}
		return accuracy, kept
	}
	for k, want := range []float64{.3866, .310, .233, .155, .079} {
		ratio := float64(k) / 5
		protected(t, "--in", in, "--out", out, "--catalogue", catalogue, "--ratio", fmt.Sprint(ratio), "--force")
		got, kept := count()
		t.Logf("uniform, ratio %g: accuracy %.4f, %d positions of %d kept", ratio, got, kept, 10*len(slates))
		if math.Abs(got-want) > 0.0025 || kept != (10-2*k)*len(slates) {
			t.Errorf("ratio %g: accuracy %.4f, want %.4f; %d positions kept", ratio, got, want, kept)
		}
	}
	printed := protected(t, "--in", in, "--out", out, "--catalogue", catalogue, "--replace", "rr", "--epsilon", fmt.Sprint(math.Log(float64(n-1))), "--force", "--json")
	_, kept := count()
	positions := float64(10 * len(slates))
	if band := math.Sqrt(positions/2*21.4) + 2*21.4/3; math.Abs(float64(kept)-positions/2) > band {
		t.Errorf("%d of %g positions kept at ln(M-1), want half within %.0f", kept, positions, band)
	}
	var doc struct {
		Tables []struct {
			Name string
			Rows []map[string]any
		}
	}
	if err := json.Unmarshal([]byte(printed), &doc); err != nil {
		t.Fatal(err)
	}
	if g := doc.Tables[0]; g.Name != "guarantee" || math.Abs(g.Rows[1]["epsilon"].(float64)/(10*math.Log(float64(n-1)))-1) > 1e-12 {
		t.Errorf("the guarantee of a slate: %v", g)
	}
	if c := doc.Tables[1]; c.Rows[2]["number"] != positions-float64(kept) {
		t.Errorf("the report says %v, want %g positions with another item", c.Rows[2], positions-float64(kept))
	}
}
