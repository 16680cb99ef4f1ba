package dpsgd

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"privrec/internal/experiment"
	"privrec/internal/privacy"
	"privrec/internal/privacy/mechanism/mechanismtest"
	"privrec/internal/privacy/mechanism/secure"
	"privrec/internal/rng"
	"privrec/internal/run"
	"privrec/internal/run/runtest"
	"privrec/internal/tensor"
)

// Codes are whole steps and none is longer than C, so that one interaction more or less moves the release by C at most
// and another item by 2 C. They have the directions of the codes of seeded noise.
func TestSecretCodes(t *testing.T) {
	for _, norm := range []float64{0.2, 1, 7} {
		c := Interactions()
		c.Model.Norm = norm
		m, err := c.secretItems()
		if err != nil {
			t.Fatal(err)
		}
		const items, d = 50, 16
		s := rng.Seed(1).Stream("codes")
		whole, err := secretCodes(items, d, norm, m.Grid, s)
		if err != nil {
			t.Fatal(err)
		}
		other := codes(items, d, norm, s)
		for i := 1; i <= items; i++ {
			sq := 0.0
			for k := range d {
				x := float64(whole[i*d+k]) * m.Grid
				sq += x * x
				if math.Abs(x-float64(tensor.Row(other, i)[k])) > 1e-5*norm {
					t.Fatalf("item %d, value %d: %v, want %v", i, k, x, tensor.Row(other, i)[k])
				}
			}
			if n := math.Sqrt(sq); n > norm || n < norm*(1-1e-5) {
				t.Errorf("a code of length %v, C is %v", n, norm)
			}
		}
	}
	if _, err := secretCodes(1, 2, 1, 0x1p-40, rng.Seed(1).Stream("codes")); err == nil {
		t.Error("a grid that is too fine was taken")
	}
}

// A run releases codes and discrete normal noise of the law in its ledger: chi-square, false alarm 1e-9.
func TestSecretItemsHaveTheLawOfTheirEvent(t *testing.T) {
	dir, _ := start(t, append(slices.Clone(units["interaction"]), "model.user_input=id", "model.dim=32", "run.secure=true")...)
	tensors, _, err := run.ReadSafetensors(filepath.Join(dir, ReleasedFile))
	if err != nil || len(tensors) != 1 {
		t.Fatal(err)
	}
	rows, err := tensors[0].Matrix()
	if err != nil {
		t.Fatal(err)
	}
	l, err := privacy.Reading{}.File(filepath.Join(dir, run.LedgerName))
	if err != nil {
		t.Fatal(err)
	}
	var e privacy.DiscreteGaussian
	for _, x := range l.Entries() {
		if x.Purpose == purposeItems {
			e = x.Event.(privacy.Sampled).Event.(privacy.DiscreteGaussian)
		}
	}
	c := Interactions()
	m, err := c.secretItems()
	if err != nil {
		t.Fatal(err)
	}
	// Single precision keeps the parts of a hundredth of a deviation, into which the values are counted. What is beneath the
	// noise is a code, whose values are below an eighth of it here: so the sum of a code and noise is compared by moments of
	// all values, the noise alone by its law.
	sum, square, n := 0.0, 0.0, float64(rows.Rows*rows.Cols)
	for i := range rows.Rows {
		for _, v := range tensor.Row(rows, i) {
			sum += float64(v)
			square += float64(v) * float64(v)
		}
	}
	sigma := e.Sigma * m.Grid
	want := sigma*sigma + c.Model.Norm*c.Model.Norm/float64(rows.Cols)
	if got := square / n; math.Abs(got/want-1) > 6.2*math.Sqrt(2/n)*1.1 || math.Abs(sum/n) > 6.2*math.Sqrt(want/n)*1.1 {
		t.Errorf("%v values of mean %v and mean square %v, want %v", n, sum/n, got, want)
	}
	ch, err := secure.OpenGaussian[float64](m, mechanismtest.SecureLedger(t))
	if err != nil {
		t.Fatal(err)
	}
	x := make([]float64, 40_000)
	if err := ch.Perturb(x, 40, 1, 1); err != nil {
		t.Fatal(err)
	}
	at := -1
	mechanismtest.CheckLaw(t, "noise", len(x), int64(e.Sigma/10), func() int64 { at++; return int64(x[at] / m.Grid) }, secure.DiscreteGaussianLaw{Sigma: e.Sigma}.PMF)
}

// A run with a secure release of items has the account of the same run with seeded noise, and answers from the file of
// what it released.
func TestSecretItems(t *testing.T) {
	sets := append(slices.Clone(units["interaction"]), "model.user_input=id", "train.epochs=1")
	seeded, _ := start(t, sets...)
	dir, text := start(t, append(sets, "run.secure=true")...)
	a, b := runtest.ReadJSON[Privacy](t, dir, "privacy.json", true), runtest.ReadJSON[Privacy](t, seeded, "privacy.json", true)
	for i := range b.Units {
		x, y := float64(a.Units[i].Accounted.Eps), float64(b.Units[i].Accounted.Eps)
		if math.Abs(x-y) > 1e-3*y || a.Units[i].Unit != b.Units[i].Unit {
			t.Errorf("epsilon %v for one %s with secure noise, %v with seeded", x, a.Units[i].Unit, y)
		}
	}
	if z := a.Steps.NoiseMultiplier / b.Steps.NoiseMultiplier; math.Abs(z-1) > 1e-5 {
		t.Errorf("noise multiplier %v with secure noise, %v with seeded", a.Steps.NoiseMultiplier, b.Steps.NoiseMultiplier)
	}
	if !slices.Equal(a.Published, []string{experiment.ModelFile, run.LedgerName, ReleasedFile}) || !strings.Contains(text, ReleasedFile) {
		t.Errorf("published %v", a.Published)
	}
	x, err := experiment.Ask(t.Context(), []run.Task{Task()}, dir)
	if err != nil {
		t.Fatal(err)
	}
	x.Close()
	if err := os.Remove(filepath.Join(dir, ReleasedFile)); err != nil {
		t.Fatal(err)
	}
	if _, err := experiment.Ask(t.Context(), []run.Task{Task()}, dir); err == nil || !strings.Contains(err.Error(), "second release") {
		t.Error(err)
	}
}

// A run that was stopped releases its items once, with a checkpoint and without, and what it released is used again.
func TestSecretItemsResume(t *testing.T) {
	sets := append(slices.Clone(units["interaction"]), "model.user_input=id", "run.secure=true", "run.save_steps=1")
	whole, _ := start(t, append(slices.Clone(sets), "train.epochs=1")...)
	sequences := items(t, whole)
	for _, kept := range []bool{true, false} {
		dir := filepath.Join(t.TempDir(), "run")
		if _, err := try(runtest.NewFuse(t, 6, nil), dir, sets, run.Options{}); !run.WasInterrupted(err) {
			t.Fatal(err)
		}
		first, err := os.ReadFile(filepath.Join(dir, ReleasedFile))
		if err != nil {
			t.Fatal(err)
		}
		if !kept {
			if err := os.RemoveAll(filepath.Join(dir, "checkpoint")); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := try(t.Context(), dir, sets, run.Options{Resume: true}); err != nil {
			t.Fatal(err)
		}
		again, err := os.ReadFile(filepath.Join(dir, ReleasedFile))
		if err != nil || string(first) != string(again) {
			t.Errorf("with a checkpoint %v: items were released twice (%v)", kept, err)
		}
		a := runtest.ReadJSON[Privacy](t, dir, "privacy.json", true)
		if n, own := drawn(t, dir), items(t, dir); n != a.Steps.Count+own || own != sequences {
			t.Errorf("with a checkpoint %v: %d releases in the ledger, %d of items, planned were %d steps and %d", kept, n, own, a.Steps.Count, sequences)
		}
		if eps := float64(a.Units[0].Accounted.Eps); eps > 5 || eps < 4.9 {
			t.Errorf("epsilon %v", eps)
		}
	}
}

// items returns how many releases of the ledger are of items: one for each sequence, of which each interaction is in one.
func items(t *testing.T, dir string) (n int64) {
	t.Helper()
	l, err := privacy.Reading{Unfinished: true}.File(filepath.Join(dir, run.LedgerName))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range l.Entries() {
		if e.Purpose == purposeItems {
			n += e.Count
		}
	}
	return n
}
