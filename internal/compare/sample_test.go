package compare

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// A sample depends on ids alone, a smaller one is part of a larger one, and its means are those of all users. It
// reads back as it was written.
func TestSample(t *testing.T) {
	whole := &Scores{Metrics: []string{"Recall@5", "NDCG@5"}, Values: map[string][]float64{}}
	for i := range 200 {
		whole.Users = append(whole.Users, fmt.Sprint("user ", i))
		whole.Weights = append(whole.Weights, float64(1+i%3))
		whole.Values["Recall@5"] = append(whole.Values["Recall@5"], float64(i%4)/4)
		whole.Values["NDCG@5"] = append(whole.Values["NDCG@5"], math.Sqrt(float64(i))/20)
	}
	other := *whole // the same users in another order
	other.Users = slices.Clone(whole.Users)
	slices.Reverse(other.Users)
	small, large, reversed := whole.Sample(20), whole.Sample(60), other.Sample(20)
	for _, id := range small.Users {
		if !slices.Contains(large.Users, id) || !slices.Contains(reversed.Users, id) {
			t.Errorf("%q is in the sample of 20 and not in that of 60, or not where users stand in another order", id)
		}
	}
	if len(small.Users) != 20 || len(small.Weights) != 20 || len(small.Values["NDCG@5"]) != 20 || small.Whole() != 200 {
		t.Errorf("%d users of %d", len(small.Users), small.Whole())
	}
	if whole.Sample(200) != whole || whole.Sample(1000) != whole {
		t.Error("a sample of everybody is another table")
	}
	if again := large.Sample(20); again.Whole() != 200 || !slices.Equal(again.Users, small.Users) {
		t.Error("a sample of a sample is another one")
	}
	for i, id := range small.Users {
		at := slices.Index(whole.Users, id)
		if small.Weights[i] != whole.Weights[at] || small.Values["NDCG@5"][i] != whole.Values["NDCG@5"][at] {
			t.Errorf("%q has the scores of somebody else", id)
		}
	}
	var text, packed bytes.Buffer
	if err := small.Write(&text, 6); err != nil {
		t.Fatal(err)
	}
	z := gzip.NewWriter(&packed)
	if _, err := z.Write(text.Bytes()); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "scores.tsv.gz")
	if err := os.WriteFile(path, packed.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	back := &Scores{Values: map[string][]float64{}}
	if err := back.read(path); err != nil {
		t.Fatal(err)
	}
	for _, m := range whole.Metrics {
		if got, want := back.Mean(m), whole.Mean(m); got != want {
			t.Errorf("%s: mean %g, of all %g", m, got, want)
		}
		for i, x := range back.Values[m] {
			if math.Abs(x-small.Values[m][i]) > 1e-6 {
				t.Errorf("%s of %q: %g, want %g", m, back.Users[i], x, small.Values[m][i])
			}
		}
	}
	if !slices.Equal(back.Users, small.Users) || !slices.Equal(back.Weights, small.Weights) || back.Whole() != 200 {
		t.Errorf("read back %d users of %d", len(back.Users), back.Whole())
	}
}
