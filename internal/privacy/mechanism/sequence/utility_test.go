package sequence

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"privrec/internal/privacy"
	"privrec/internal/privacy/mechanism"
	"privrec/internal/privacy/mechanism/mechanismtest"
	"privrec/internal/rng"
)

// What is left of rows of the three Amazon domains at epsilon 10, against an
// independent simulation of 2,000 rows each: lengths exponential, at least 5 and
// at most 101, in the domains' means. Tolerances are some five standard errors
// of that simulation plus its rounding.
func TestWhatIsLeftOfRows(t *testing.T) {
	const users, length = 2000, 101
	for _, c := range []struct {
		items                                                         int
		mean                                                          float64
		column, anywhere, pairs, written, genuine, atLeast1, atLeast2 float64 // per cent, written in cells
	}{
		{59_513, 42.11, 27.0, 27.1, 7.3, 84, 12.6, 97.5, 92},
		{91_169, 31.50, 19.6, 19.7, 3.9, 87, 7.0, 94.5, 82},
		{236_049, 55.60, 8.7, 8.7, 0.75, 96, 4.3, 88, 73},
	} {
		clean := make([]int32, users*length)
		for u := range users {
			s := rng.Seed(5).Stream("length", uint64(u))
			n := min(length, int(5.5-(c.mean-5)*math.Log(1-s.Float64())))
			used := map[int32]bool{}
			for i := length - n; i < length; i++ {
				id := int32(1 + s.IntN(c.items))
				for used[id] {
					id = int32(1 + s.IntN(c.items))
				}
				used[id] = true
				clean[u*length+i] = id
			}
		}
		for _, v := range []Variant{SDPPaper, SDPFixed} {
			rows := slices.Clone(clean)
			m := Mechanism{Purpose: "seq", Variant: v, Epsilon: 10, Items: c.items, Length: length}
			if err := Perturb(m, mechanismtest.Ledger(t), mechanism.Keyed(rng.Seed(6).Stream("seq")), nil, rows, 2); err != nil {
				t.Fatal(err)
			}
			var items, column, anywhere, adjacent, pairs, written, one, two float64
			for u := range users {
				in, out := clean[u*length:(u+1)*length], rows[u*length:(u+1)*length]
				hits := 0
				for i, id := range in {
					if out[i] != 0 {
						written++
					}
					if id == 0 {
						continue
					}
					items++
					if slices.Contains(out, id) {
						anywhere++
					}
					if out[i] == id {
						column++
						hits++
					}
					if i > 0 && in[i-1] != 0 {
						adjacent++
						if out[i] == id && out[i-1] == in[i-1] {
							pairs++
						}
					}
				}
				if hits >= 1 {
					one++
				}
				if hits >= 2 {
					two++
				}
			}
			for _, q := range []struct {
				name           string
				got, want, tol float64
			}{
				{"items in their column", 100 * column / items, c.column, 0.9},
				{"items anywhere", 100 * anywhere / items, c.anywhere, 0.9},
				{"adjacent pairs", 100 * pairs / adjacent, c.pairs, 0.7},
				{"cells written", written / users, c.written, 1.6},
				{"genuine among them", 100 * anywhere / written, c.genuine, 0.9},
				{"rows with a true item", 100 * one / users, c.atLeast1, 4},
				{"rows with two", 100 * two / users, c.atLeast2, 5},
			} {
				if math.Abs(q.got-q.want) > q.tol {
					t.Errorf("%s, m %d: %s: %.2f, want %.2f", v, c.items, q.name, q.got, q.want)
				}
			}
		}
	}
}

// For any rows and setting: the shape is kept, ids are of the
// catalogue and distinct, the users' results do not depend on workers, the
// input of a refused call is untouched.
func TestSequenceProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := Mechanism{
			Purpose: "seq",
			Variant: rapid.SampledFrom([]Variant{SDPPaper, SDPFixed, RR}).Draw(t, "variant"),
			Epsilon: rapid.SampledFrom([]float64{1e-30, 0.1, 1, 5, 40, 1000}).Draw(t, "epsilon"),
			Items:   rapid.IntRange(1, 40).Draw(t, "items"),
			Length:  rapid.IntRange(1, 9).Draw(t, "length"),
		}
		n := rapid.IntRange(1, 5).Draw(t, "users")
		rows := make([]int32, n*m.Length)
		for u := range n {
			perm := rapid.Permutation(mechanismtest.UpTo(m.Items)).Draw(t, "ids")
			for c := range m.Length {
				if c < len(perm) && rapid.Bool().Draw(t, "item") {
					rows[u*m.Length+c] = int32(perm[c]) + 1
				}
			}
		}
		bits := mechanism.Keyed(rng.Seed(rapid.Uint64().Draw(t, "seed")).Stream("seq"))
		l, err := privacy.NewLedger(privacy.Research)
		if err != nil {
			t.Fatal(err)
		}
		broken := slices.Clone(rows)
		broken[rapid.IntRange(0, len(rows)-1).Draw(t, "cell")] = int32(m.Items) + 1
		kept := slices.Clone(broken)
		if Perturb(m, l, bits, nil, broken, 2) == nil || !slices.Equal(kept, broken) {
			t.Fatal("an id beyond the catalogue")
		}
		a, b := slices.Clone(rows), slices.Clone(rows)
		if err := Perturb(m, l, bits, nil, a, 1); err != nil {
			t.Fatal(err)
		}
		if err := Perturb(m, l, bits, nil, b, 3); err != nil || !slices.Equal(a, b) {
			t.Fatalf("%v and %v (%v)", a, b, err)
		}
		for u := range n {
			used := map[int32]bool{}
			for _, id := range a[u*m.Length : (u+1)*m.Length] {
				if id < 0 || int(id) > m.Items || id > 0 && used[id] && m.Variant != RR {
					t.Fatalf("row %v", a[u*m.Length:(u+1)*m.Length])
				}
				used[id] = true
			}
		}
	})
}

// One run, several goroutines with samplers of their own: run with -race.
func TestSamplersSideBySide(t *testing.T) {
	const users, items, length = 400, 200, 8
	m := Mechanism{Purpose: "seq", Variant: SDPFixed, Epsilon: 3, Items: items, Length: length}
	bits := mechanism.Keyed(rng.Seed(4).Stream("seq"))
	want := someRows(users, items, length)
	got := slices.Clone(want)
	if err := Perturb(m, mechanismtest.Ledger(t), bits, nil, want, 1); err != nil {
		t.Fatal(err)
	}
	run, err := m.Open(mechanismtest.Ledger(t), bits)
	if err != nil {
		t.Fatal(err)
	}
	err = inParallel(8, func(w int) error {
		s, err := run.Sampler(uint64(w*50), uint64(w*50+50))
		for u := w * 50; u < w*50+50 && err == nil; u++ {
			err = s.Row(uint64(u), got[u*length:(u+1)*length])
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := run.Finish(); err != nil || !slices.Equal(got, want) {
		t.Errorf("other rows (%v)", err)
	}
}

// A failing worker is reported, the first of them where there are several.
func TestInParallel(t *testing.T) {
	for range 20 {
		err := inParallel(4, func(i int) error {
			if i >= 2 {
				return &mechanism.CheckError{N: int64(i)}
			}
			return nil
		})
		if e, ok := err.(*mechanism.CheckError); !ok || e.N != 2 {
			t.Fatalf("%v", err)
		}
	}
}

// The events of all variants and limits go through a ledger file and come back.
func TestSequenceEventsOnFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.jsonl")
	l, err := privacy.CreateLedger(path, privacy.Research, nil)
	if err != nil {
		t.Fatal(err)
	}
	bits := mechanism.Keyed(rng.Seed(4).Stream("seq"))
	var want []privacy.Event
	for _, v := range []Variant{SDPPaper, SDPFixed, RR} {
		for _, eps := range []float64{0, 2, math.Inf(1)} {
			m := Mechanism{Purpose: string(v), Variant: v, Epsilon: eps, Items: 20, Length: 4, Limits: true}
			if err := Perturb(m, l, bits, nil, []int32{0, 0, 3, 5}, 1); err != nil {
				t.Fatal(err)
			}
			want = append(want, m.Event())
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.Split(bytes.TrimSpace(b), []byte("\n"))
	lines = lines[1 : len(lines)-1] // header and end
	// First, and once: a user has as many cells as a row.
	if !bytes.HasPrefix(lines[0], []byte(`{"holding":{"unit":"user","of":"cell","most":4}`)) {
		t.Errorf("%s: want that a user holds 4 cells", lines[0])
	}
	if lines = lines[1:]; len(lines) != len(want) {
		t.Fatalf("%d lines for %d events", len(lines), len(want))
	}
	for _, line := range lines {
		var e struct{ Event json.RawMessage }
		if err := json.Unmarshal(line, &e); err != nil {
			t.Fatal(err)
		}
		got, err := privacy.UnmarshalEvent(e.Event)
		if err != nil || !slices.Contains(want, got) {
			t.Errorf("%s: %v (%v)", line, got, err)
		}
	}
}
