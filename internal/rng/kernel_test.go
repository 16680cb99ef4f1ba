package rng

import (
	"math"
	"testing"
)

// paths lists what this machine can run, plain Go always among them.
func paths() []simd {
	var p []simd
	for k := plain; k <= detect(); k++ {
		p = append(p, k)
	}
	return p
}

func (k simd) String() string { return [...]string{"off", "avx2", "avx512"}[k] }

// Every path gives the same words, across the carry from the low to the high
// half of the block counter too.
func TestKernelsAgreeOnWords(t *testing.T) {
	s := Seed(1).Stream("words").id.schedule()
	for _, first := range []uint64{0, 1, 7, 1<<32 - 9, 1<<32 - 16, 1<<40 + 3, 1<<64 - 5} {
		for _, groups := range []int{1, 2, 5} {
			n := groups * groupWords
			want := make([]uint32, n+8)
			wordsGo(groups, &s, first, &want[0])
			for _, k := range paths() {
				got := make([]uint32, n+8)
				k.words(groups, &s, first, &got[0])
				for i := range want {
					if got[i] != want[i] {
						t.Fatalf("%s, first %d, groups %d: word %d is %08x, want %08x", k, first, groups, i, got[i], want[i])
					}
				}
			}
		}
	}
}

// Words drawn in bulk are those of Uint64 on every path, from an even and an odd position and
// across the carry of the block counter, and so is what is drawn after them.
func TestUint64s(t *testing.T) {
	defer func(old simd) { active = old }(active)
	for _, active = range paths() {
		for _, from := range []uint64{0, 1, 6, 1<<33 - 21} {
			for n := range 140 {
				a, b := Seed(5).Stream("words"), Seed(5).Stream("words")
				a.Seek(from)
				b.Seek(from)
				got := make([]uint64, n+1)
				a.Uint64s(got[:n])
				for i, x := range got[:n] {
					if want := b.Uint64(); x != want {
						t.Fatalf("%s, position %d, %d words: word %d is %016x, want %016x", active, from, n, i, x, want)
					}
				}
				if got[n] != 0 || a.Pos() != b.Pos() || a.Uint64() != b.Uint64() {
					t.Fatalf("%s, position %d, %d words: position %d, want %d, and the word after them", active, from, n, a.Pos(), b.Pos())
				}
			}
		}
	}
}

// Every path keeps the same values: those whose uniform number is at least p, at any position,
// with parts of a group at the end.
func TestKeep(t *testing.T) {
	for _, p := range []float64{0, 0x1p-24, 0.1, 0.2, 0.5, 1 - 0x1p-24, 1} {
		for _, n := range []int{1, 63, 64, 65, 1000} {
			s := Seed(9).Stream("keep")
			s.Skip(64 * 3)
			u := make([]float32, n)
			from := s
			s.Uniforms(u)
			for _, k := range paths() {
				had := active
				active = k
				got, r := make([]float32, n+8), from
				r.Keep(got[:n], p, 1.25)
				active = had
				for i := range got {
					want := float32(0)
					if i < n && float64(u[i]) >= p {
						want = 1.25
					}
					if got[i] != want {
						t.Fatalf("%s, p %g, n %d: value %d is %g, want %g", k, p, n, i, got[i], want)
					}
				}
				if r.Pos() != s.Pos() {
					t.Fatalf("%s, n %d: position %d, want %d", k, n, r.Pos(), s.Pos())
				}
			}
		}
	}
}

// Bits are those of Keep, on every path.
func TestKeepBits(t *testing.T) {
	defer func(old simd) { active = old }(active)
	for _, p := range []float64{0, 0x1p-24, 0.1, 0.5, 1 - 0x1p-24, 1} {
		for _, words := range []int{0, 1, 2, 17} {
			for _, active = range paths() {
				a, b := Seed(9).Stream("keep"), Seed(9).Stream("keep")
				a.Skip(64 * 5)
				b.Skip(64 * 5)
				values, bits := make([]float32, 64*words), make([]uint64, words+1)
				a.Keep(values, p, 2)
				b.KeepBits(bits[:words], p)
				for i, v := range values {
					if got := bits[i/64] >> (i % 64) & 1; got != uint64(v/2) {
						t.Fatalf("%s, p %g, %d words: bit %d is %d, value %g", active, p, words, i, got, v)
					}
				}
				if a.Pos() != b.Pos() || bits[words] != 0 {
					t.Fatalf("%s, %d words: position %d, want %d; after them %x", active, words, b.Pos(), a.Pos(), bits[words])
				}
			}
		}
	}
}

// Normals agree with double precision arithmetic on the same bits to 1e-5
// relative on every path, near zero and in the tail included.
func TestKernelsAgreeOnNormals(t *testing.T) {
	groups := 20_000
	n := groups * groupWords
	s := Seed(2).Stream("normals").id.schedule()
	words := make([]uint32, n)
	wordsGo(groups, &s, 99, &words[0])
	for _, k := range paths() {
		got := make([]float32, n)
		k.normals(groups, &s, 99, &got[0])
		worst := 0.0
		for i := range got {
			pair := i &^ 16
			c, sn := exactPair(words[pair], words[pair+16])
			want := c
			if i&16 != 0 {
				want = sn
			}
			worst = max(worst, math.Abs(float64(got[i])-want)/math.Abs(want))
		}
		t.Logf("%s: worst relative error %.2g over %d values", k, worst, n)
		if !(worst < 1e-6) { // two paths are then within 2e-6 of each other
			t.Errorf("%s: worst relative error %g", k, worst)
		}
	}
}

// The extremes of both words: u rounds to 1, u smallest, every quadrant edge.
func TestBoxMuller32Edges(t *testing.T) {
	for _, a := range []uint32{0, 1, 1 << 31, 0xb504f333, math.MaxUint32 - 200, math.MaxUint32} {
		for _, b := range []uint32{0, 1, 1<<29 - 1, 1 << 29, 1<<30 - 1, 1 << 30, 1 << 31, 3 << 30, math.MaxUint32} {
			c, s := boxMuller32(a, b)
			wc, ws := exactPair(a, b)
			for _, p := range [][2]float64{{float64(c), wc}, {float64(s), ws}} {
				if math.Abs(p[0]-p[1]) > 1e-6*math.Abs(p[1]) || math.IsNaN(p[0]) {
					t.Errorf("boxMuller32(%x, %x): %g, want %g", a, b, p[0], p[1])
				}
			}
			if r := math.Hypot(float64(c), float64(s)); r > 6.77 {
				t.Errorf("radius %g", r)
			}
		}
	}
}

// exactPair is the definition of boxMuller32 in double precision; only the
// rounding of u to float32 is part of the definition.
func exactPair(a, b uint32) (cos, sin float64) {
	u := float64(float32(a)*0x1p-32 + 0x1p-33)
	r := math.Sqrt(-2 * math.Log(u))
	q := int32(b<<2) >> 2
	sin, cos = math.Sincos(float64(q) * (math.Pi / 2 * 0x1p-30))
	switch b >> 30 {
	case 1:
		cos, sin = -sin, cos
	case 2:
		cos, sin = -cos, -sin
	case 3:
		cos, sin = sin, -cos
	}
	return r * cos, r * sin
}

// A forced path is obeyed where the processor has it.
func TestLimit(t *testing.T) {
	for _, c := range []struct {
		best simd
		env  string
		want simd
	}{
		{avx512, "", avx512}, {avx512, "off", plain}, {avx512, "avx2", avx2}, {avx512, "avx512", avx512},
		{avx2, "avx512", avx2}, {plain, "avx2", plain}, {avx2, "sse9", avx2},
	} {
		if got := limit(c.best, c.env); got != c.want {
			t.Errorf("limit(%s, %q) = %s, want %s", c.best, c.env, got, c.want)
		}
	}
}

func BenchmarkNormals32(b *testing.B) {
	for _, k := range paths() {
		for _, n := range []int{150, 9600} {
			b.Run(k.String()+"/"+map[int]string{150: "row150", 9600: "9600"}[n], func(b *testing.B) {
				old := active
				active = k
				defer func() { active = old }()
				dst := make([]float32, n)
				s := Seed(1).Stream("bench")
				b.ReportAllocs()
				for i := 0; b.Loop(); i++ {
					r := s.Sub(3, uint64(i))
					r.Normals32(dst)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/value")
			})
		}
	}
}

// AddNormals32 adds what Normals32 draws, whatever the length, on every path.
func TestAddNormals32(t *testing.T) {
	defer func(old simd) { active = old }(active)
	for _, active = range paths() {
		for _, n := range []int{0, 1, 63, 64, 65, 150, 640, 1000} {
			a, b := Seed(3).Stream("add"), Seed(3).Stream("add")
			z, y := make([]float32, n), make([]float32, n)
			for i := range y {
				y[i] = float32(i)
			}
			a.Normals32(z)
			b.AddNormals32(y, 0.25)
			for i := range y {
				if want := float64(i) + 0.25*float64(z[i]); math.Abs(float64(y[i])-want) > 1e-7*(1+math.Abs(want)) {
					t.Fatalf("%s, n %d: value %d is %g, want %g", active, n, i, y[i], want)
				}
			}
			if a.Pos() != b.Pos() {
				t.Errorf("%s, n %d: positions %d and %d", active, n, a.Pos(), b.Pos())
			}
		}
	}
}

func TestMoments(t *testing.T) {
	defer func(old simd) { active = old }(active)
	for _, active = range paths() {
		for _, n := range []int{0, 1, 15, 16, 17, 150, 5000} {
			x, y := make([]float32, n), make([]float32, n)
			x64, y64 := make([]float64, n), make([]float64, n)
			var sum, sq float64
			zeros := int64(0)
			for i := range x {
				x[i] = float32(i%7) - 3
				y[i] = x[i] + float32(i%5)*0.5
				x64[i], y64[i] = float64(x[i]), float64(y[i])
				d := float64(i%5) * 0.5
				sum += d
				sq += d * d
				if d == 0 {
					zeros++
				}
			}
			var m, m64 Moments
			m.Differences32(x, y)
			m64.Differences64(x64, y64)
			for _, m := range []*Moments{&m, &m64} {
				if m.N != int64(n) || m.Zeros != zeros || math.Abs(m.Sum()-sum) > 1e-6*sum || math.Abs(m.SumSq()-sq) > 1e-6*sq {
					t.Errorf("%s, n %d: %+v, want sum %g, squares %g, zeros %d", active, n, m, sum, sq, zeros)
				}
			}
		}
	}
}

// Without AVX-512, which fuses them, products are rounded before sums and moments are summed in lanes
// of double precision: AVX2 gives the bits of the loops in plain Go, so that noise that an earlier program
// added by those is the same.
func TestBitsBelowAVX512(t *testing.T) {
	defer func(old simd) { active = old }(active)
	for k := plain; k <= min(avx2, detect()); k++ {
		for _, n := range []int{1, 7, 8, 63, 64, 150, 1000, 5003} {
			active = k
			z, y, before := make([]float32, n), make([]float32, n), make([]float32, n)
			s := Seed(4).Stream("bits")
			of := s
			of.Normals32(z)
			for i := range y {
				y[i] = float32(i%11) - 5
			}
			want := append([]float32(nil), y...)
			copy(before, y)
			for i := range want {
				scaled := 0.37 * z[i]
				want[i] += scaled
			}
			of = s
			of.AddNormals32(y, 0.37)
			for i := range y {
				if y[i] != want[i] {
					t.Fatalf("%s, n %d: value %d is %v, want %v", k, n, i, y[i], want[i])
				}
			}
			var got, loops Moments
			got.Differences32(before, y)
			for i := range y {
				loops.one(i%momentsChunk, float64(y[i]-before[i]))
			}
			loops.N = int64(n)
			if got != loops {
				t.Errorf("%s, n %d: moments %+v, want %+v", k, n, got, loops)
			}
		}
	}
}
