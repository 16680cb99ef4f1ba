package channel

import (
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"privrec/internal/privacy/mechanism"
	"privrec/internal/privacy/mechanism/mechanismtest"
	"privrec/internal/rng"
)

// reopen is what a process does that goes on from a checkpoint.
func reopen[T mechanism.Float](t testing.TB, c *Channel[T]) *Channel[T] {
	t.Helper()
	b, err := json.Marshal(c.State())
	if err != nil {
		t.Fatal(err)
	}
	var st State
	if err := json.Unmarshal(b, &st); err != nil {
		t.Fatal(err)
	}
	again, err := Open[T](noisy, mechanismtest.Ledger(t), rng.Seed(4).Stream("noise"))
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Restore(st); err != nil {
		t.Fatal(err)
	}
	if got := stateOf(t, again); got != string(b) {
		t.Fatalf("the state changed by resuming:\n%s\nwant\n%s", got, b)
	}
	again.add = c.add
	return again
}

func stateOf[T mechanism.Float](t testing.TB, c *Channel[T]) string {
	t.Helper()
	b, err := json.Marshal(c.State())
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// Stopped anywhere and resumed, a channel gives the same noise and ends in the
// same state, to the bit.
func TestResumeIsExact(t *testing.T) {
	t.Run("float32", testResume[float32])
	t.Run("float64", testResume[float64])
}

func testResume[T mechanism.Float](t *testing.T) {
	const steps = 12
	run := func(stop int) ([]T, string) {
		c, _ := open[T](t, noisy)
		var all []T
		for s := range uint64(steps) {
			if s == uint64(stop) {
				c = reopen(t, c)
			}
			x := mechanismtest.Message[T](7, 11)
			if err := c.Perturb(x, 11, 3, s/4, s%4); err != nil {
				t.Fatal(err)
			}
			all = append(all, x...)
		}
		if err := c.Check(); err != nil {
			t.Fatal(err)
		}
		return all, stateOf(t, c)
	}
	want, state := run(-1)
	for stop := range steps {
		got, end := run(stop)
		if !slices.Equal(got, want) || end != state {
			t.Errorf("resumed at step %d: same noise %t, state\n%s\nwant\n%s", stop, slices.Equal(got, want), end, state)
		}
	}
}

// A fault that takes many values to see is seen at the same step however often
// the run is resumed; and a state from after the failure is not accepted.
func TestResumeKeepsTheChecks(t *testing.T) {
	fails := func(every int) (int, *Channel[float32]) {
		c, _ := open[float32](t, noisy)
		c.add = func(s rng.Stream, dst []float32, sigma float32) { addNormals(s, dst, sigma*1.02) }
		for s := range 100 {
			if s > 0 && s%every == 0 {
				c = reopen(t, c)
			}
			err := c.Perturb(mechanismtest.Message[float32](32, 150), 150, 1, uint64(s))
			var failed *mechanism.CheckError
			if errors.As(err, &failed) {
				return s, c
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		return -1, c
	}
	want, c := fails(1000)
	if want < 10 {
		t.Fatalf("the fault is seen at step %d, too early for this test", want)
	}
	for _, every := range []int{1, 3, 10} {
		if got, _ := fails(every); got != want {
			t.Errorf("resumed every %d steps the fault is seen at step %d, want %d", every, got, want)
		}
	}
	again, _ := open[float32](t, noisy)
	if err := again.Restore(c.State()); err == nil || !strings.Contains(err.Error(), "failed") {
		t.Errorf("the state of a failed channel: %v", err)
	}
}

// Steps lost since the checkpoint are repeated, steps before it are not.
func TestKeysAfterResume(t *testing.T) {
	c, _ := open[float32](t, noisy)
	step := func(c *Channel[float32], part int32, key ...uint64) error {
		r, err := c.Start([]int32{part}, 1, 3, key...)
		if err != nil {
			return err
		}
		r.RowAt(0, make([]float32, 3), 0, 0)
		return r.Finish()
	}
	for _, part := range []int32{7, 70} {
		if err := step(c, part, 2, 0); err != nil {
			t.Fatal(err)
		}
	}
	again := reopen(t, c)
	if err := step(c, 8, 2, 0); err != nil { // lost
		t.Fatal(err)
	}
	if err := step(again, 8, 2, 0); err != nil {
		t.Errorf("a lost step cannot be repeated: %v", err)
	}
	for name, err := range map[string]error{"the part": step(reopen(t, c), 7, 2, 0), "an earlier pass": step(reopen(t, c), 9, 1, 0)} {
		if err == nil {
			t.Errorf("%s was used again after resuming", name)
		}
	}
}

func TestRestoreRefuses(t *testing.T) {
	c, _ := open[float32](t, noisy)
	if err := Train(c, 3); err != nil {
		t.Fatal(err)
	}
	good := c.State()
	if err := c.Restore(good); err == nil {
		t.Error("a channel in use was restored")
	}
	half, _ := open[float32](t, noisy)
	if _, err := half.Begin(1, 1); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*State){
		"purpose": func(s *State) { s.Purpose = "other" }, "sigma": func(s *State) { s.Sigma *= 2 },
		"stream": func(s *State) { s.Stream[2]++ }, "failed": func(s *State) { s.Failed = "scale" },
		"open": func(s *State) { *s = half.State() }, "negative": func(s *State) { s.Values = -1 },
		"unchanged": func(s *State) { s.Unchanged = s.Values + 1 }, "checked": func(s *State) { s.Checked = s.Values + 1 },
		"unseen": func(s *State) { s.Values, s.Checked, s.Unchanged = 0, 0, 0 }, "squares": func(s *State) { s.SumSq = -1 },
		"checks": func(s *State) { s.Checks = -1 }, "no checks": func(s *State) { s.Checks = 0 },
		"key":     func(s *State) { s.Used = [][]uint64{{2, 0}} },
		"size":    func(s *State) { s.Used = [][]uint64{{6, 0, 1}} },
		"middle":  func(s *State) { s.Used = [][]uint64{{3, 0, 1}} },
		"no bits": func(s *State) { s.Used = [][]uint64{{2, 0, 0}} },
		"order":   func(s *State) { s.Used = [][]uint64{{2, 1, 1}, {2, 0, 1}} },
		"twice":   func(s *State) { s.Used = [][]uint64{{2, 1, 1}, {2, 1, 2}} },
		"parts":   func(s *State) { s.Used = [][]uint64{{byPartFlag + 1, 0, 1}} },
		"nothing": func(s *State) { s.Used = [][]uint64{nil} },
	} {
		bad := good
		change(&bad)
		c, _ := open[float32](t, noisy)
		before := stateOf(t, c)
		if err := c.Restore(bad); err == nil {
			t.Errorf("%s: accepted", name)
		}
		if after := stateOf(t, c); after != before {
			t.Errorf("%s: refused and yet restored: %s", name, after)
		}
	}
	fresh, _ := open[float32](t, noisy)
	if err := fresh.Restore(good); err != nil {
		t.Error(err)
	}
}

// Sums that no finite number can hold reach the next check through a checkpoint.
func TestStateKeepsNaN(t *testing.T) {
	c, _ := open[float32](t, noisy)
	if err := Train(c, 3); err != nil {
		t.Fatal(err)
	}
	c.total.Sum, c.total.Sq, c.total.Zeros = math.NaN(), math.Inf(1), 3
	if err := reopen(t, c).Check(); err == nil {
		t.Error("NaN was lost")
	}
}

// What is accepted comes back as it was.
func FuzzChannelState(f *testing.F) {
	c, _ := open[float32](f, noisy)
	f.Add([]byte(stateOf(f, c)))
	if err := Train(c, 3); err != nil {
		f.Fatal(err)
	}
	f.Add([]byte(stateOf(f, c)))
	for _, key := range [][]uint64{{5}, {5, 1 << 40}, {5, 6, 7, 8, 63}, {5, 6, 7, 8, 64}} {
		if err := c.Perturb(make([]float32, 3), 3, 1, key...); err != nil {
			f.Fatal(err)
		}
	}
	r, err := c.Start([]int32{3, 100, 64}, 3, 0, 5, 1)
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte(stateOf(f, c)))
	if err := r.Finish(); err != nil {
		f.Fatal(err)
	}
	f.Add([]byte(stateOf(f, c)))
	f.Fuzz(func(t *testing.T, b []byte) {
		var st State
		if json.Unmarshal(b, &st) != nil {
			return
		}
		c, _ := open[float32](t, noisy)
		if c.Restore(st) != nil {
			return
		}
		want, err := json.Marshal(st)
		if err != nil {
			t.Fatal(err)
		}
		if got := stateOf(t, c); got != string(want) {
			t.Fatalf("%s came back as %s", want, got)
		}
	})
}
