package protect

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"privrec/internal/dataset/slate"
	"privrec/internal/perturb"
	"privrec/internal/privacy"
	"privrec/internal/rng"
	"privrec/internal/tensor"
)

// logged is a small set: n users with logs of random items below vocab, and a pair each
// for every user in Test, whose slate is the end of the log.
func logged(n, vocab, t, l int, seed uint64) *slate.Set {
	s := rng.Seed(seed).Stream("set")
	set := &slate.Set{Name: "small", Vocab: vocab, Train: &slate.Pairs{T: t, L: l}, Valid: &slate.Pairs{T: t, L: l}, Test: &slate.Pairs{T: t, L: l}}
	for u := range n {
		log := make([]int32, t+l+3)
		for i := range log {
			log[i] = slate.FirstItem + int32(s.IntN(vocab-int(slate.FirstItem)))
		}
		set.Users = append(set.Users, string(rune('a'+u%26)))
		set.Logged = append(set.Logged, log)
		set.Clicked = append(set.Clicked, slices.Sorted(slices.Values(log[:l])))
		set.Test.Users = append(set.Test.Users, int32(u))
		set.Test.Slates = append(set.Test.Slates, log[l+3:]...)
		set.Test.Behaviours = append(set.Test.Behaviours, log[:l]...)
		set.Test.Complete = append(set.Test.Complete, true)
	}
	return set
}

// directions are vectors in the plane: item i points to angle i, items divisible by 7
// have none.
func directions(vocab int) [][]tensor.Float {
	v := make([][]tensor.Float, vocab)
	for i := range v {
		if i >= int(slate.FirstItem) && i%7 != 0 {
			v[i] = []tensor.Float{tensor.Float(math.Cos(float64(i))), tensor.Float(math.Sin(float64(i)))}
		}
	}
	return v
}

func pool(t testing.TB, set *slate.Set) *Pool {
	t.Helper()
	p, err := NewPool(set)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Of every slate exactly ceil(T ratio) positions change, to items that it had not, each
// once; all else stays, the pairs given too.
func TestProtectReplacesWhatItSays(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		length := rapid.IntRange(1, 12).Draw(r, "T")
		set := logged(rapid.IntRange(8, 20).Draw(r, "users"), rapid.IntRange(40, 90).Draw(r, "vocab"), length, 3, rapid.Uint64().Draw(r, "seed"))
		p := set.Test
		if rapid.Bool().Draw(r, "unknown items") {
			p.Slates[0], p.Slates[len(p.Slates)-1] = slate.OOV, slate.OOV
		}
		before := slices.Clone(p.Slates)
		pool, err := NewPool(set)
		if err != nil {
			r.Fatal(err)
		}
		o := Options{Method: Method{Select: rapid.SampledFrom(Selections()).Draw(r, "select"), Replace: rapid.SampledFrom(Replacements()[:3]).Draw(r, "replace"), Ratio: rapid.Float64Range(0, 0.999).Draw(r, "ratio"), Weighted: rapid.Bool().Draw(r, "weighted"), Batch: rapid.IntRange(6, 30).Draw(r, "batch"), OwnRows: rapid.Bool().Draw(r, "own"), Reference: rapid.SampledFrom([]string{ReferencePast, ReferenceSlate}).Draw(r, "reference")}, Vectors: directions(set.Vocab), Pool: pool, Seed: rng.Seed(rapid.Uint64().Draw(r, "draws")), Workers: rapid.IntRange(1, 3).Draw(r, "workers")}
		out, rep, err := Slates(context.Background(), p, o)
		if err != nil {
			r.Fatal(err)
		}
		want := int(math.Ceil(float64(length) * o.Ratio * (1 - 0x1p-51)))
		if rep.Count != want || rep.Replaced != int64(want*p.Len()) || rep.Slates != int64(p.Len()) {
			r.Fatalf("report %+v, want %d positions a slate", rep, want)
		}
		if !slices.Equal(p.Slates, before) {
			r.Fatal("the slates given have changed")
		}
		for i := range p.Len() {
			was, is := p.Slate(i), out.Slate(i)
			changed := 0
			for k := range was {
				if is[k] == was[k] {
					continue
				}
				changed++
				if is[k] < slate.FirstItem || int(is[k]) >= set.Vocab || slices.Contains(was, is[k]) || slices.Index(is, is[k]) != k {
					r.Fatalf("slate %v became %v", was, is)
				}
			}
			if changed != want {
				r.Fatalf("slate %v became %v: %d positions changed, want %d", was, is, changed, want)
			}
		}
	})
}

// The count is the ceiling of the product as a person computes it.
func TestPositions(t *testing.T) {
	for _, c := range []struct {
		t     int
		ratio float64
		want  int
	}{{10, 0, 0}, {10, 0.2, 2}, {10, 0.3, 3}, {10, 0.6, 6}, {10, 0.7, 7}, {10, 0.21, 3}, {10, 0.99, 10}, {5, 0.2, 1}, {3, 0.1, 1}, {7, 0.5, 4}, {100, 0.07, 7}, {100, 0.29, 29}} {
		if got := positions(c.t, c.ratio); got != c.want {
			t.Errorf("%d positions at ratio %g: %d, want %d", c.t, c.ratio, got, c.want)
		}
	}
}

// The same seed gives the same slates with any number of workers; another seed, part or
// setting gives others.
func TestProtectIsDetermined(t *testing.T) {
	set := logged(60, 90, 10, 5, 1)
	o := Options{Method: Method{Ratio: 0.4, Batch: 20}, Pool: pool(t, set), Seed: 5, Workers: 1, Vectors: directions(90)}
	made := map[string][]int32{}
	for _, by := range Replacements()[:3] {
		for _, how := range Selections() {
			o.Select, o.Replace, o.Workers = how, by, 1
			out, _, err := Slates(context.Background(), set.Test, o)
			if err != nil {
				t.Fatal(err)
			}
			for _, o.Workers = range []int{2, 7} {
				again, _, err := Slates(context.Background(), set.Test, o)
				if err != nil || !slices.Equal(out.Slates, again.Slates) {
					t.Errorf("%s, %s: other slates with %d workers (%v)", how, by, o.Workers, err)
				}
			}
			made[how+" "+by] = out.Slates
			for name, change := range map[string]func(o *Options){"seed": func(o *Options) { o.Seed++ }, "part": func(o *Options) { o.Part = "train" }} {
				x := o
				change(&x)
				other, _, err := Slates(context.Background(), set.Test, x)
				if err != nil || slices.Equal(out.Slates, other.Slates) {
					t.Errorf("%s, %s: the same slates with another %s (%v)", how, by, name, err)
				}
			}
		}
	}
	for a, x := range made {
		for b, y := range made {
			if a != b && slices.Equal(x, y) {
				t.Errorf("%s and %s made the same slates", a, b)
			}
		}
	}
}

// No two slates have the same draws: a thousand that are alike come out all different,
// of more than 1e18 ways (false alarm below 1e-12).
func TestSlatesHaveDrawsOfTheirOwn(t *testing.T) {
	set := logged(1000, 5000, 10, 2, 1)
	var users, items []string
	for range 1000 {
		copy(set.Test.Slates[len(users)*10:], set.Test.Slates[:10])
		users = append(users, "u")
	}
	for i := range 10 {
		items = append(items, fmt.Sprint(i+1))
	}
	alike := func(slates [][]string) (n int) {
		seen := map[string]bool{}
		for _, s := range slates {
			seen[strings.Join(s, " ")] = true
		}
		return len(slates) - len(seen)
	}
	for _, by := range Replacements() {
		o := Options{Method: Method{Replace: by, Ratio: 0.5, Batch: 500}, Pool: pool(t, set)}
		f := FileOptions{Method: Method{Replace: by, Ratio: 0.5, Batch: 500}, Settings: perturb.Settings{Items: 5000, Workers: 2}}
		if by == ReplaceRR {
			l, err := privacy.NewLedger(privacy.Research)
			if err != nil {
				t.Fatal(err)
			}
			o.Ratio, o.Epsilon, o.Ledger, f.Ratio, f.Epsilon = 0, 1, l, 0, 1
		}
		out, _, err := Slates(context.Background(), set.Test, o)
		if err != nil {
			t.Fatal(err)
		}
		var slates [][]string
		for i := range out.Len() {
			slates = append(slates, strings.Fields(fmt.Sprint(out.Slate(i))))
		}
		if n := alike(slates); n > 0 {
			t.Errorf("%s: %d slates of 1000 came out like others", by, n)
		}
		if by == ReplacePopularity || by == ReplaceInBatch { // of a file of one slate there is nothing to draw
			continue
		}
		dir := t.TempDir()
		rows := slices.Repeat([][]string{items}, 1000)
		f.In, f.Out = put(t, dir, "in.txt", linesText(users, rows)), filepath.Join(dir, "out.txt")
		if _, err := File(context.Background(), f); err != nil {
			t.Fatal(err)
		}
		if n := alike(fieldsOf(t, "out.txt", get(t, f.Out))); n > 0 {
			t.Errorf("%s: %d slates of 1000 in a file came out like others", by, n)
		}
	}
}

// What cannot be carried out is refused.
func TestProtectRefuses(t *testing.T) {
	set := logged(30, 60, 10, 5, 1)
	good := Options{Method: Method{Ratio: 0.2}, Pool: pool(t, set), Vectors: directions(60)}
	tiny := logged(3, 12, 10, 5, 1) // 8 items for slates of 10
	odd := logged(3, 60, 10, 5, 1)
	odd.Test.Slates[13] = 77
	ledger := func() *privacy.Ledger {
		l, err := privacy.NewLedger(privacy.Research)
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	for _, c := range []struct {
		want   string
		pairs  *slate.Pairs
		change func(o *Options)
	}{
		{"ratio is 1, want at least 0 and below 1", set.Test, func(o *Options) { o.Ratio = 1 }},
		{"ratio is -0.1", set.Test, func(o *Options) { o.Ratio = -0.1 }},
		{"ratio is NaN", set.Test, func(o *Options) { o.Ratio = math.NaN() }},
		{`select is "none"`, set.Test, func(o *Options) { o.Select = SelectNone }},
		{`replace is "best"`, set.Test, func(o *Options) { o.Replace = "best" }},
		{`reference is "me"`, set.Test, func(o *Options) { o.Reference = "me" }},
		{"tau is -1", set.Test, func(o *Options) { o.Tau = -1 }},
		{"batch is 1 slates", set.Test, func(o *Options) { o.Batch = 1 }},
		{"epsilon belongs to rr", set.Test, func(o *Options) { o.Epsilon = 1 }},
		{"no pool", set.Test, func(o *Options) { o.Pool = nil }},
		{"select similar needs vectors", set.Test, func(o *Options) { o.Select, o.Vectors = SelectSimilar, nil }},
		{"there is nothing to protect", &slate.Pairs{}, func(o *Options) {}},
		{"slate 0: a slate of 10 items takes 9 new ones, and there are only", tiny.Test, func(o *Options) { o.Ratio, o.Pool = 0.9, pool(t, tiny) }},
		{"slate of pair 1, position 3: token 77, want one below 60", odd.Test, func(o *Options) {}},
		{"slate of pair 1, position 3: token 77", odd.Test, func(o *Options) { o.Replace, o.Ratio, o.Epsilon, o.Ledger = ReplaceRR, 0, 3, ledger() }},
		{"rr answers every position", set.Test, func(o *Options) { o.Replace, o.Epsilon = ReplaceRR, 3 }},
		{"rr answers every position", set.Test, func(o *Options) { o.Replace, o.Ratio, o.Epsilon, o.Select = ReplaceRR, 0, 3, SelectRandom }},
		{"epsilon is 0", set.Test, func(o *Options) { o.Replace, o.Ratio = ReplaceRR, 0 }},
		{"epsilon is +Inf", set.Test, func(o *Options) { o.Replace, o.Ratio, o.Epsilon = ReplaceRR, 0, math.Inf(1) }},
		{"rr needs a ledger", set.Test, func(o *Options) { o.Replace, o.Ratio, o.Epsilon = ReplaceRR, 0, 3 }},
	} {
		o := good
		c.change(&o)
		out, _, err := Slates(context.Background(), c.pairs, o)
		if err == nil || out != nil || !strings.HasPrefix(err.Error(), "protect slates: ") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %q", err, c.want)
		}
	}
	empty := &slate.Set{Users: []string{"a"}, Vocab: 9, Logged: [][]int32{nil}}
	if _, err := NewPool(empty); err == nil || !strings.Contains(err.Error(), "there is nothing to draw from") {
		t.Errorf("no user was shown anything: %v", err)
	}
	empty.Logged[0] = []int32{slate.OOV}
	if _, err := NewPool(empty); err == nil || !strings.Contains(err.Error(), "log of user a holds token 1") {
		t.Errorf("an unknown item in a log: %v", err)
	}
}

// In-batch draws hold what the others of the batch were shown, and not what only the
// victim was; with OwnRows that too. Without logs the slates of the pairs count.
func TestInBatchLeavesOutTheVictim(t *testing.T) {
	set := logged(40, 200, 4, 2, 3)
	for _, from := range []string{"logs", "slates"} {
		if from == "slates" {
			set.Logged = nil
			set.Test.Slates[5] = slate.OOV // which no log has, and no slate gets
		}
		p := pool(t, set)
		if p.From != from {
			t.Fatalf("from %s, want %s", p.From, from)
		}
		of := map[int32]map[int32]bool{} // item -> users who were shown it
		for u, log := range p.logs {
			for _, item := range log {
				if of[item] == nil {
					of[item] = map[int32]bool{}
				}
				of[item][int32(u)] = true
			}
		}
		own := [2]int{}
		for k, rows := range []bool{false, true} {
			for seed := range rng.Seed(20) {
				out, r, err := Slates(context.Background(), set.Test, Options{Method: Method{Replace: ReplaceInBatch, Ratio: 0.5, Batch: 20, OwnRows: rows}, Pool: p, Seed: seed})
				if err != nil || r.Batches != 2 {
					t.Fatalf("%d batches (%v)", r.Batches, err)
				}
				for i, item := range out.Slates {
					u := out.Users[i/out.T]
					if item == set.Test.Slates[i] {
						continue
					}
					if !of[item][u] || len(of[item]) > 1 {
						continue
					}
					own[k]++
				}
			}
		}
		want := from == "logs" // a slate's own items never come again: the rest of the log may
		if own[0] != 0 || (own[1] > 0) != want {
			t.Errorf("%s: items that only the victim was shown came %d times without the own rows, %d times with them", from, own[0], own[1])
		}
	}
}

// Batches are as even as can be, and none is small.
func TestDeal(t *testing.T) {
	for _, c := range []struct {
		n, size int
		want    []int
	}{{0, 3, []int{0, 0}}, {2, 3, []int{0, 2}}, {3, 3, []int{0, 3}}, {5, 3, []int{0, 5}}, {7, 3, []int{0, 3, 7}}, {13970, 266, nil}} {
		got := deal(c.n, c.size)
		if c.want != nil && !slices.Equal(got, c.want) {
			t.Errorf("%d by %d: %v, want %v", c.n, c.size, got, c.want)
		}
		for k := range len(got) - 1 {
			if n := got[k+1] - got[k]; n < min(c.size, c.n) || n >= 2*c.size {
				t.Errorf("%d by %d: a batch of %d", c.n, c.size, n)
			}
		}
	}
}

// Accuracy by hand: a repeated click counts twice in positions, once in distinct items;
// users whose clicks are unknown do not count.
func TestAccuracyByHand(t *testing.T) {
	set := &slate.Set{Vocab: 20, Users: []string{"a", "b", "?"}, Clicked: [][]int32{{5, 7, 9}, {}, nil}}
	p := &slate.Pairs{T: 4, Users: []int32{0, 0, 1, 2}, Slates: []int32{
		5, 5, 8, 10, // 2 of 4; 1 of 3
		9, 7, slate.OOV, slate.OOV, // 2 of 4; 2 of 3
		5, 7, 9, 11, // of b, who clicked nothing
		5, 7, 9, 5, // of an unknown user
	}}
	a, b := Accuracy(set, p)
	if want := 1.0 / 3; math.Abs(a-want) > 1e-15 || math.Abs(b-want) > 1e-15 {
		t.Errorf("accuracy %g and %g, want %g", a, b, want)
	}
	set.Clicked = nil
	if a, b := Accuracy(set, p); !math.IsNaN(a) || !math.IsNaN(b) {
		t.Errorf("accuracy %g and %g without any clicks known", a, b)
	}
}

// A caller who gives up gets no slates and takes no epsilon, whether at the start or half way,
// with any method.
func TestProtectGivesUp(t *testing.T) {
	set := logged(3000, 90, 10, 5, 1)
	for _, by := range Replacements() {
		l, err := privacy.NewLedger(privacy.Research)
		if err != nil {
			t.Fatal(err)
		}
		o := Options{Method: Method{Replace: by, Ratio: 0.4}, Pool: pool(t, set), Workers: 2}
		if by == ReplaceRR {
			o.Ratio, o.Epsilon, o.Ledger = 0, 3, l
		}
		boom := errors.New("enough")
		for _, after := range []int{0, 1, 3} {
			if by == ReplaceRR && after > 0 {
				continue // answered at once
			}
			ctx, cancel := context.WithCancelCause(context.Background())
			out, _, err := Slates(&lookedAt{Context: ctx, left: after, end: func() { cancel(boom) }}, set.Test, o)
			if out != nil || !errors.Is(err, boom) {
				t.Errorf("%s, given up at look %d: %v", by, after, err)
			}
			cancel(nil)
		}
		if n := len(l.Entries()); n != 0 {
			t.Errorf("%s: %d ledger entries of what was given up", by, n)
		}
	}
}

// lookedAt is a context that ends when it was looked at some times.
type lookedAt struct {
	context.Context
	mu   sync.Mutex
	left int
	end  func()
}

// Err counts.
func (c *lookedAt) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.left--; c.left < 0 {
		c.end()
	}
	return c.Context.Err()
}
