package sequence

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"privrec/internal/privacy/mechanism"
	"privrec/internal/privacy/mechanism/mechanismtest"
	"privrec/internal/rng"
)

// benchRows are rows of 101 cells, the first half padding.
func benchRows(users, items int) []int32 {
	const length = 101
	rows := make([]int32, length*users)
	for u := range users {
		s := rng.Seed(1).Stream("rows", uint64(u))
		used := map[int32]bool{}
		for c := length / 2; c < length; c++ {
			id := int32(1 + s.IntN(items))
			for used[id] {
				id = int32(1 + s.IntN(items))
			}
			used[id] = true
			rows[u*length+c] = id
		}
	}
	return rows
}

func benchCases(b *testing.B, f func(b *testing.B, m Mechanism, bits mechanism.Bits)) {
	for _, items := range []int{236_049, 59_513, 300} { // Books, Movies, a pool
		for _, v := range []Variant{SDPFixed, SDPPaper, RR} {
			m := Mechanism{Purpose: "s", Variant: v, Epsilon: 10, Items: items, Length: 101}
			for _, c := range []struct {
				name string
				bits mechanism.Bits
			}{{"keyed", mechanism.Keyed(rng.Seed(1).Stream("seq"))}, {"secret", mechanism.Secret()}} {
				b.Run(fmt.Sprintf("%s/%d/%s", v, items, c.name), func(b *testing.B) { f(b, m, c.bits) })
			}
		}
	}
}

// A million cells at once on two workers, samplers and both passes included.
func BenchmarkSequences(b *testing.B) {
	const users = 10_000
	benchCases(b, func(b *testing.B, m Mechanism, bits mechanism.Bits) {
		clean := benchRows(users, m.Items)
		rows := make([]int32, len(clean))
		for b.Loop() {
			b.StopTimer()
			l := mechanismtest.LedgerFor(b, bits.Noise())
			copy(rows, clean)
			b.StartTimer()
			if err := Perturb(m, l, bits, nil, rows, 2); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(len(rows)*b.N)/b.Elapsed().Seconds()/1e6, "Mcells/s")
	})
}

// One sampler, twenty rows at a time. The lower decile of the times is what the
// processor can do when nothing else runs on it.
func BenchmarkSequenceRows(b *testing.B) {
	const users, at = 2000, 20
	benchCases(b, func(b *testing.B, m Mechanism, bits mechanism.Bits) {
		clean := benchRows(users, m.Items)
		rows := make([]int32, at*m.Length)
		s := sampler(m, m.rejects(), bits)
		var times []time.Duration
		for user := uint64(0); b.Loop(); {
			from := int(user) % users * m.Length
			copy(rows, clean[from:from+len(rows)])
			start := time.Now()
			for i := range at {
				if err := s.Row(user, rows[i*m.Length:(i+1)*m.Length]); err != nil {
					b.Fatal(err)
				}
				user++
			}
			times = append(times, time.Since(start))
		}
		slices.Sort(times)
		b.ReportMetric(float64(len(rows))/times[len(times)/10].Seconds()/1e6, "Mcells/s/core")
	})
}
