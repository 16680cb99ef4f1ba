package cli

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The real Zhihu test slates through the command, counted from its output alone: what is
// left of the recommendation accuracy of distinct items is that of the specification's
// section 4.3 (two draws of a standard deviation of 0.0006: tolerance 0.0025, the seed is
// fixed), and of randomised response half of the positions are kept at ln(M-1) (Bernstein,
// false alarm 1e-9).
func TestZhihuSlatesThroughTheCommand(t *testing.T) {
	clicked := map[string]map[string]bool{}
	for _, r := range realRows(t, "exposure/zhihu", "user_items.tsv.gz") {
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
	for _, r := range realRows(t, "exposure/zhihu", "test.tsv.gz") {
		if r[2] == "1" {
			slates = append(slates, append([]string{r[1]}, strings.Split(r[3], ",")...))
			text.WriteString(strings.Join(slates[len(slates)-1], " ") + "\n")
		}
	}
	items.WriteString("item_id\n")
	n := 0
	for _, r := range realRows(t, "exposure/zhihu", "vocab.tsv.gz") {
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
		perturbed(t, "exposure", "--in", in, "--out", out, "--catalogue", catalogue, "--ratio", fmt.Sprint(ratio), "--force", "--seed", "1")
		got, kept := count()
		t.Logf("uniform, ratio %g: accuracy %.4f, %d positions of %d kept", ratio, got, kept, 10*len(slates))
		if math.Abs(got-want) > 0.0025 || kept != (10-2*k)*len(slates) {
			t.Errorf("ratio %g: accuracy %.4f, want %.4f; %d positions kept", ratio, got, want, kept)
		}
	}
	printed := perturbed(t, "exposure", "--in", in, "--out", out, "--catalogue", catalogue, "--replace", "rr", "--epsilon", fmt.Sprint(math.Log(float64(n-1))), "--force", "--json", "--seed", "1")
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
