package descent

import (
	"math"
	"slices"
	"testing"

	"privrec/internal/privacy"
	"privrec/internal/privacy/audit"
	"privrec/internal/rng"
)

// A step that is drawn again clips the canary's gradient, takes it at the rate of the step, and has its noise: the
// shares and moments are within six deviations, by chance once in 1e9.
func TestRedraw(t *testing.T) {
	d := DPSGD{Purpose: "steps", Clip: 2, NoiseMultiplier: 0.05, Examples: 10, Sampling: privacy.Poisson, Rate: 0.25,
		Unit: privacy.User, Share: 0.5}
	r, err := Redraw(d, 7, []float32{6, 8}, rng.Seed(2).Stream("steps"))
	if err != nil {
		t.Fatal(err)
	}
	const n = 20_000
	in := slices.Concat(slices.Repeat([]bool{true}, n), make([]bool, n))
	x, err := r.Draw(audit.Draw{Key: 1, In: in})
	if err != nil {
		t.Fatal(err)
	}
	taken, squares := 0, 0.0
	for k := range in {
		along := (x[2*k]*6 + x[2*k+1]*8) / 10
		switch {
		case along > 1 && !in[k]:
			t.Fatalf("a canary that is out adds %v", along)
		case along > 1:
			taken++
			along -= 2
		}
		squares += along * along / (d.Sigma() * d.Sigma())
	}
	if p := float64(taken) / n; math.Abs(p-0.25) > 6*math.Sqrt(0.25*0.75/n) {
		t.Errorf("taken at rate %v, want 0.25", p)
	}
	if v := squares / (2 * n); math.Abs(v-1) > 6*math.Sqrt(2./(2*n)) {
		t.Errorf("variance %v of what is stated", v)
	}
	quiet, err := r.Draw(audit.Draw{Key: 2, In: []bool{true, false}, Off: true})
	if err != nil {
		t.Fatal(err)
	}
	for j, want := range []float64{1.2, 1.6, 0, 0} {
		if math.Abs(quiet[j]-want) > 1e-6 {
			t.Errorf("without noise %v", quiet)
		}
	}
	again, err := r.Draw(audit.Draw{Key: 1, In: in})
	if err != nil || !slices.Equal(again, x) {
		t.Errorf("the same key has other noise: %v", err)
	}
}

func TestCrafted(t *testing.T) {
	d := DPSGD{Clip: 1}
	for _, c := range []struct {
		values, want []float32
		n            int
	}{
		{[]float32{0.3, -9, 12, 0.1}, []float32{-9, 12}, 2},
		{[]float32{0, 0.3, 0.4, 0.1}, []float32{1.2, 1.6}, 2}, // lengthened to twice the clip
		{[]float32{0, 0}, []float32{0, 0}, 5},
		{nil, []float32{}, 3},
	} {
		got := Crafted(d, c.values, c.n)
		for k := range got {
			if len(got) != len(c.want) || math.Abs(float64(got[k]-c.want[k])) > 1e-6 {
				t.Errorf("%v: %v, want %v", c.values, got, c.want)
				break
			}
		}
	}
}
