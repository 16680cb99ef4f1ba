package sgdmf

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"privrec/internal/privacy"
	"privrec/internal/private/release"
	"privrec/internal/protocol/topn"
	"privrec/internal/rng"
	"privrec/internal/run"
	"privrec/internal/run/runtest"
	"privrec/internal/tensor"
)

// Where rows stand for all others, a user's vector is the minimum of equation (1) with the weight of each drawn row
// that the user does not have times as large, and no term of another row.
func TestVectorsOfDrawnRowsAreMinima(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		f, _, rows := drawn(rt)
		var some []int32
		for r := range f.items {
			if rapid.Bool().Draw(rt, "drawn") {
				some = append(some, int32(r))
			}
		}
		if len(some) == 0 {
			some = []int32{0}
		}
		times := float64(len(f.items)) / float64(len(some))
		f.share(some, times)
		s, v := newSolver(f), values(f.v)
		for _, own := range rows {
			u := make([]tensor.Float, 1+f.c.Dim)
			has := f.rows(own, nil)
			if !s.solve(has, u) {
				rt.Fatal("not solved")
			}
			loss := func(u []float64) (sum float64) {
				for r := range v {
					x := u[0] * float64(f.p[r])
					for k, y := range v[r] {
						x += u[k+1] * y
					}
					if slices.Contains(has, int32(r)) {
						sum += (1 - x) * (1 - x)
					} else if slices.Contains(some, int32(r)) {
						sum += f.c.Unobserved * times * x * x
					}
				}
				for k, x := range u {
					if k == 0 {
						x -= f.c.Prior
					}
					sum += f.c.Lambda * x * x
				}
				return sum
			}
			at := widened(u)
			for k := range at {
				const step = 1e-4
				at[k] += step
				up := loss(at)
				at[k] -= 2 * step
				down := loss(at)
				at[k] += step
				if slope := (up - down) / (2 * step); math.Abs(slope) > 1e-3*(1+f.c.Lambda) {
					rt.Fatalf("slope %g along coordinate %d of the vector of %v", slope, k, own)
				}
			}
		}
	})
}

// All rows drawn are all rows.
func TestAllRowsDrawn(t *testing.T) {
	f := newFactors(ModelConfig{Dim: 2, Items: 5, Unobserved: 0.3, Lambda: 1, Prior: 0.7}, []float64{5, 4, 3, 2, 1}, 1,
		rng.Seed(1).Stream("v"))
	solve := func() []tensor.Float {
		u := make([]tensor.Float, 3)
		if !newSolver(f).solve([]int32{0, 3}, u) {
			t.Fatal("not solved")
		}
		return u
	}
	want := solve()
	f.share([]int32{0, 1, 2, 3, 4}, 1)
	for k, x := range solve() {
		if math.Abs(float64(x-want[k])) > 1e-5 {
			t.Errorf("value %d: %v, want %v", k, x, want[k])
		}
	}
	f.join()
	if got := solve(); !slices.Equal(got, want) {
		t.Errorf("after join %v, want %v", got, want)
	}
}

// Every subset is drawn alike: of the ten pairs of five rows, 20,000 draws give each 2,000 times within 6.5 standard
// deviations, which fails once in 10^9 for all ten. A subset of all rows is all of them.
func TestSubset(t *testing.T) {
	const draws = 20_000
	times := map[string]int{}
	for k := range uint64(draws) {
		times[fmt.Sprint(subset(rng.Seed(1).Stream("subsets").Sub(k), 5, 2))]++
	}
	if len(times) != 10 {
		t.Errorf("%d pairs: %v", len(times), times)
	}
	for pair, n := range times {
		if math.Abs(float64(n)-draws/10) > 6.5*math.Sqrt(draws*0.1*0.9) {
			t.Errorf("%s was drawn %d times", pair, n)
		}
	}
	if all := subset(rng.Seed(1).Stream("subsets"), 4, 4); !slices.Equal(all, []int32{0, 1, 2, 3}) {
		t.Error(all)
	}
}

// deferred reads a part of the table in each step.
var deferred = []string{"train.noise=deferred", "train.others=drawn", "train.average=false", "train.negatives=15",
	"train.sample=0.2", "train.steps=7"}

// dense is deferred with noise at once.
func dense(sets []string) []string { return append(slices.Clone(sets), "train.noise=dense") }

// Deferred noise leaves ledger and account as they are. Bytes depend neither on workers nor on where and how often a
// run was interrupted or saved.
func TestDeferredNoise(t *testing.T) {
	dir, other := filepath.Join(t.TempDir(), "run"), filepath.Join(t.TempDir(), "run")
	suite.Start(t, suite.Tasks[0], dir, deferred...)
	suite.Start(t, suite.Tasks[0], other, dense(deferred)...)
	account := func(dir string) string {
		a := runtest.ReadJSON[release.Account](t, dir, "privacy.json", true)
		l, err := privacy.Reading{}.File(filepath.Join(dir, run.LedgerName))
		if err != nil {
			t.Fatal(err)
		}
		entries := []string{}
		for _, e := range l.Entries() {
			entries = append(entries, fmt.Sprintf("%s %d %+v %s", e.Purpose, e.Count, e.Event, e.Period))
		}
		return fmt.Sprintf("%v %v %+v\n%s", a.Claimed, a.Total, a.Beside, strings.Join(entries, "\n"))
	}
	if got, want := account(dir), account(other); got != want || !strings.Contains(got, "step 7") {
		t.Errorf("account\n%s\nwith noise at once\n%s", got, want)
	}
	if o := runtest.ReadJSON[topn.Outcome](t, dir, "metrics.json", true); o.Steps != 7 {
		t.Errorf("%d steps", o.Steps)
	}
	want := runtest.Artefacts(t, dir)
	for _, workers := range []string{"run.workers=2", "run.workers=5", "run.save_steps=1"} {
		more := filepath.Join(t.TempDir(), "run")
		suite.Start(t, suite.Tasks[0], more, append(slices.Clip(deferred), workers)...)
		runtest.Same(t, workers, runtest.Artefacts(t, more), want)
	}
	saving := append(slices.Clip(deferred), "run.save_steps=1")
	for at := 2; at <= 4; at++ { // two steps after each look
		dir := filepath.Join(t.TempDir(), "run")
		if err := suite.Try(runtest.NewFuse(t, at, nil), suite.Tasks[0], dir, saving,
			run.Options{}); !run.WasInterrupted(err) {
			t.Fatalf("interrupted at look %d: %v", at, err)
		}
		if err := suite.Try(t.Context(), suite.Tasks[0], dir, saving, run.Options{Resume: true}); err != nil {
			t.Fatal(err)
		}
		runtest.Same(t, fmt.Sprint("interrupted at look ", at), runtest.Artefacts(t, dir), want)
	}
}

// A run that was killed goes on from an older checkpoint to the same bytes.
func TestDeferredNoiseAfterKill(t *testing.T) {
	sets := append(slices.Clip(deferred), "run.save_steps=1")
	whole := filepath.Join(t.TempDir(), "run")
	suite.Start(t, suite.Tasks[0], whole, deferred...)
	dir := filepath.Join(t.TempDir(), "run")
	checkpoint := filepath.Join(dir, "checkpoint", "checkpoint.safetensors")
	err := suite.Try(runtest.NewFuse(t, 2, nil), suite.Tasks[0], dir, sets, run.Options{})
	if !run.WasInterrupted(err) {
		t.Fatal(err)
	}
	early, err := os.ReadFile(checkpoint)
	if err != nil {
		t.Fatal(err)
	}
	if err := suite.Try(runtest.NewFuse(t, 3, nil), suite.Tasks[0], dir, sets,
		run.Options{Resume: true}); !run.WasInterrupted(err) {
		t.Fatal(err)
	}
	if err := os.WriteFile(checkpoint, early, 0o600); err != nil { // as a kill leaves it
		t.Fatal(err)
	}
	if err := suite.Try(t.Context(), suite.Tasks[0], dir, sets, run.Options{Resume: true}); err != nil {
		t.Fatal(err)
	}
	runtest.Same(t, "killed", runtest.Artefacts(t, dir), runtest.Artefacts(t, whole))
}

// begun returns a training on few users of a large table.
func begun(t *testing.T, c Config) *training {
	t.Helper()
	const users, items = 4, 600
	var ids []string
	var rows [][]int32
	for u := range int32(users) {
		ids, rows = append(ids, fmt.Sprint(u)), append(rows, []int32{u, u + 4, 8})
	}
	counts := make([]float64, items)
	for i := range counts {
		counts[i] = float64(items - i)
	}
	b, err := newBudget(c, users, items)
	if err != nil {
		t.Fatal(err)
	}
	l, err := privacy.NewLedger(privacy.Research)
	if err != nil {
		t.Fatal(err)
	}
	tr, err := newTraining(c, b, ids, rows, counts, l, func(p string) rng.Stream { return rng.Seed(2).Stream(p) },
		func(p string) (rng.Stream, error) { return rng.Seed(2).Stream(p), nil })
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// trained returns such a training after its steps, brought to its end or not.
func trained(t *testing.T, c Config, flush bool) *training {
	t.Helper()
	tr := begun(t, c)
	for tr.step < tr.of {
		if err := tr.advance(); err != nil {
			t.Fatal(err)
		}
	}
	if flush {
		if err := tr.finish(); err != nil {
			t.Fatal(err)
		}
	}
	return tr
}

// farFromNoise returns by how many standard deviations the mean square of what noise added to the rows that no user has
// is from its law, steps with noise at once: independent normal values of variance c² sum of (1-decay)^(2i).
func farFromNoise(t *testing.T, c Config, flush bool) float64 {
	t.Helper()
	tr := trained(t, c, flush)
	b, err := newBudget(c, 4, 600)
	if err != nil {
		t.Fatal(err)
	}
	sigma := c.Train.Rate / b.sgd.ExpectedBatch() * b.sgd.Sigma()
	variance, keep := 0.0, 1-c.Train.Decay
	for i := range c.Train.Steps {
		variance += sigma * sigma * math.Pow(keep, 2*float64(i))
	}
	start := newFactors(c.Model, tr.counts, b.counts.Deviation(), rng.Seed(2).Stream("first vectors"))
	sum, n := 0.0, 0.0
	for r := 20; r < tr.f.v.Rows; r++ {
		for k, x := range tensor.Row(tr.f.v, r) {
			d := float64(x) - math.Pow(keep, float64(c.Train.Steps))*float64(tensor.Row(start.v, r)[k])
			sum, n = sum+d*d, n+1
		}
	}
	return (sum/n/variance - 1) / math.Sqrt(2/n)
}

// Rows that users do not have end with the noise of every step, deferred or not: the mean square of 18,560 values is
// within 6.5 of its standard deviations, which fails once in 10^10. Without the flush at the end it is not.
func TestEveryRowHasAllNoise(t *testing.T) {
	c := Default()
	c.Model.Dim, c.Model.Items, c.Train.Clip, c.Privacy.Epsilon = 32, 600, 1e-6, 2
	c.Train.Steps, c.Train.Sample, c.Train.Negatives, c.Train.Average, c.Train.Rate = 9, 0.5, 40, false, 1e6
	c.Train.Others = Drawn
	for _, noise := range []string{"", Deferred} {
		c.Train.Noise = noise
		if d := farFromNoise(t, c, true); math.Abs(d) > 6.5 {
			t.Errorf("noise %q: %.1f standard deviations", noise, d)
		}
	}
	if d := farFromNoise(t, c, false); math.Abs(d) <= 6.5 {
		t.Errorf("without a flush: %.1f standard deviations", d)
	}
}

// All rows that a step's users' vectors and gradients are computed from have all noise, and stand in the factors as
// they stand in V: the own rows of every user in the step, contributed or not, and the negatives. Others lag behind.
func TestStepReadsItsRows(t *testing.T) {
	c := Default()
	c.Model.Dim, c.Model.Items, c.Train.Steps, c.Train.Sample, c.Train.Negatives = 4, 600, 6, 0.5, 40
	c.Train.Average, c.Train.Others, c.Train.Noise, c.Privacy.Items = false, Drawn, Deferred, 1
	tr := begun(t, c)
	lagging := false
	for ; tr.step < tr.of; tr.step++ {
		users, err := tr.steps.Begin(0, uint64(tr.step))
		if err != nil {
			t.Fatal(err)
		}
		negatives, times := tr.drawNegatives()
		if err := tr.read(users, negatives, times); err != nil {
			t.Fatal(err)
		}
		must := slices.Clone(negatives)
		for k, u := range users {
			own := tr.f.rows(tr.train[u], nil)
			must = append(must, own...)
			if err := tr.steps.Add(k, own, slices.Repeat([]tensor.Float{1}, len(own)*c.Model.Dim)); err != nil {
				t.Fatal(err)
			}
		}
		noised := tr.late.State().Noised
		for _, r := range must {
			v, w := tensor.Row(tr.f.v, int(r)), tensor.Row(tr.f.w, int(r))
			if int64(noised[r]) != tr.step || !slices.Equal(v, w[1:]) {
				t.Fatalf("step %d: row %d has the noise of %d steps, %v in V and %v in the factors", tr.step, r,
					noised[r],
					v, w)
			}
		}
		for r, n := range noised {
			lagging = lagging || int64(n) < tr.step && !slices.Contains(must, int32(r))
		}
		if err := tr.end(); err != nil {
			t.Fatal(err)
		}
	}
	if !lagging {
		t.Error("every row was read in every step")
	}
}

// Deferred noise is refused with what reads every row in every step, and with secure noise.
func TestDeferredNoiseRefuses(t *testing.T) {
	for set, want := range map[string]string{
		"train.optimizer=adam": "adam reads the noise of every row", "train.average=true": "a mean over steps reads",
		"train.others=all": "users' equations read every row", "train.noise=later": "train.noise",
		"train.others=none": "train.others", "train.negatives=0": "drawn needs train.negatives",
	} {
		err := Task().Check("", append(slices.Clone(deferred), set))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", set, err)
		}
	}
	if err := Task().Check("", deferred); err != nil {
		t.Error(err)
	}
	err := suite.Try(t.Context(), suite.Tasks[0], filepath.Join(t.TempDir(), "run"),
		append(slices.Clip(deferred), "run.secure=true"), run.Options{})
	if err == nil || !strings.Contains(err.Error(), "train.noise=deferred has no secure noise") {
		t.Errorf("secure: %v", err)
	}
}
