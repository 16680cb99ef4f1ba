package rng

import (
	"math/rand/v2"
	"slices"
	"testing"
)

var _ rand.Source = (*Stream)(nil)

func take(s Stream, n int) []uint64 {
	w := make([]uint64, n)
	for i := range w {
		w[i] = s.Uint64()
	}
	return w
}

// Identities that must name the same stream, and those that must not.
func TestIdentity(t *testing.T) {
	seed := Seed(1 << 40)
	base := seed.Stream("noise", 3, 4)
	for _, same := range []Stream{seed.Stream("noise").Sub(3, 4), seed.Stream("noise").Sub(3).Sub(4), seed.Stream("noise", 3).Sub(4)} {
		if same != base {
			t.Errorf("%+v differs from %+v", same, base)
		}
	}
	used := base
	used.Uint64()
	if used.Sub() != base || used.Sub(9) != base.Sub(9) {
		t.Error("a child depends on the position of its parent")
	}
	seen := map[identity]string{}
	for name, s := range map[string]Stream{
		"base": base, "order": seed.Stream("noise", 4, 3), "fewer": seed.Stream("noise", 3), "more": seed.Stream("noise", 3, 4, 0),
		"other": seed.Stream("noisf", 3, 4), "seed": Seed(1<<40+1).Stream("noise", 3, 4), "low": Seed(1).Stream("noise", 3, 4),
		"empty": seed.Stream(""), "zero": seed.Stream("\x00"), "zeros": seed.Stream("\x00\x00"), "none": {},
		"long": seed.Stream("a name that is longer than eight bytes"), "longer": seed.Stream("a name that is longer than eight bytes "),
		"index0": seed.Stream("", 0), "digit": seed.Stream("noise3", 4),
	} {
		if other, ok := seen[s.id]; ok {
			t.Errorf("%s and %s are one stream", name, other)
		}
		seen[s.id] = name
	}
}

// A value depends only on its position, not on earlier draws.
func TestSeekAndState(t *testing.T) {
	s := Seed(5).Stream("seek")
	want := take(s, 40)
	for i := range want {
		r := s
		r.Seek(uint64(i))
		if got := take(r, 40-i); !slices.Equal(got, want[i:]) {
			t.Fatalf("from %d on the words differ", i)
		}
		if err := r.Restore(State{ID: r.State().ID, Pos: uint64(i)}); err != nil || r.Pos() != uint64(i) {
			t.Fatalf("restore: %v", err)
		}
		if got := r.Uint64(); got != want[i] {
			t.Fatalf("restored word %d differs", i)
		}
	}
	other := Seed(5).Stream("other")
	if err := other.Restore(s.State()); err == nil {
		t.Error("the state of another stream was accepted")
	}
}

// Bulk draws start at a block and move by whole groups, whatever came before.
func TestBulkPositions(t *testing.T) {
	for _, n := range []int{1, 64, 65, 150} {
		a, b := Seed(6).Stream("bulk"), Seed(6).Stream("bulk")
		a.Uint64() // half a block
		b.Seek(2)
		x, y, u := make([]float32, n), make([]float32, n), make([]float32, n)
		a.Normals32(x)
		b.Normals32(y)
		if !slices.Equal(x, y) || a.Pos() != b.Pos() {
			t.Errorf("n %d: an odd position changes the draw", n)
		}
		if want := uint64(2 + (n+63)/64*32); a.Pos() != want {
			t.Errorf("n %d: position %d, want %d", n, a.Pos(), want)
		}
		a.Uniforms(u)
		for _, v := range u {
			if v < 0 || v >= 1 {
				t.Fatalf("uniform %g", v)
			}
		}
	}
	s := Seed(6).Stream("64")
	z := make([]float64, 5)
	s.Normals64(z)
	if s.Pos() != 6 {
		t.Errorf("five doubles moved to %d, want 6", s.Pos())
	}
}

func TestDrawsDoNotAllocate(t *testing.T) {
	s := Seed(7).Stream("alloc")
	dst := make([]float32, 150)
	z := make([]float64, 9)
	if n := testing.AllocsPerRun(100, func() {
		r := s.Sub(1, 2, 3, 4)
		r.Normals32(dst)
		r.AddNormals32(dst, 2)
		r.Uniforms(dst)
		r.Keep(dst, 0.5, 2)
		r.Normals64(z)
		r.IntN(10)
		r.NormFloat64()
	}); n != 0 {
		t.Errorf("%g allocations", n)
	}
}

func TestPermAndIntN(t *testing.T) {
	s := Seed(8).Stream("perm")
	for _, n := range []int{0, 1, 2, 100} {
		p := s.Perm(n)
		slices.Sort(p)
		for i, v := range p {
			if int(v) != i {
				t.Fatalf("not a permutation of %d", n)
			}
		}
	}
	for _, n := range []int{1, 3, 1<<62 + 1} {
		for range 1000 {
			if v := s.IntN(n); v < 0 || v >= n {
				t.Fatalf("IntN(%d) = %d", n, v)
			}
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("IntN(0) did not panic")
		}
	}()
	s.IntN(0)
}

// TestOfNames: streams of names are those of the names one after the other, and names that read alike when they are
// put together, or end in zero bytes, have streams of their own.
func TestOfNames(t *testing.T) {
	s := Seed(3).Stream("base")
	if a, b := s.Of("u", "i"), s.Of("u").Of("i"); a != b {
		t.Error("Of(u, i) is not Of(u).Of(i)")
	}
	lists := [][]string{{}, {""}, {"", ""}, {"1"}, {"12"}, {"1", "2"}, {"2", "1"}, {"12345678"}, {"123456789"}, {"12345678", "9"},
		{"12345678\x00"}, {"\x00"}, {"\x00\x00"}, {"\x00", "\x00"}}
	for i, a := range lists {
		for _, b := range lists[:i] {
			if s.Of(a...) == s.Of(b...) {
				t.Errorf("%q and %q have one stream", a, b)
			}
		}
	}
	if n := testing.AllocsPerRun(100, func() { _ = s.Of("user", "item") }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
