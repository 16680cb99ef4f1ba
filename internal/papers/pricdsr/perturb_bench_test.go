package pricdsr

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"privrec/internal/dataset/format"
	"privrec/internal/perturb"
	"privrec/internal/privacy"
	"privrec/internal/privacy/mechanism/sequence"
	"privrec/internal/rng"
)

// best reports the rate of the fastest run beside that of all: what the machine can do
// when nothing else runs on it.
func best(b *testing.B, cells int, times []time.Duration) {
	b.ReportMetric(float64(cells)/slices.Min(times).Seconds()/1e6, "Mcells/s")
}

// Rows in memory, ids and all: keys, draws, counts and the check of who came twice, on
// two workers, for a million cells.
func BenchmarkPerturbInMemory(b *testing.B) {
	const users, length = 10_000, 101
	list := histories(users, 2000, 80, 1)
	for _, items := range []int{236_049, 59_513} {
		for _, v := range []sequence.Variant{sequence.SDPFixed, sequence.SDPPaper, sequence.RR} {
			for _, secure := range []bool{false, true} {
				o := Options{Variant: v, Epsilon: 10, Items: items, Length: length, Workers: 2, Seed: 1, Secure: secure}
				b.Run(fmt.Sprintf("%s/%d/secure=%t", v, items, secure), func(b *testing.B) {
					if err := o.Check(); err != nil {
						b.Fatal(err)
					}
					p := &perturber{o: o, m: o.Mechanism(items), cat: &Catalogue{Items: items}}
					var times []time.Duration
					for b.Loop() {
						start := time.Now()
						bits, mark := p.bits()
						l, err := privacy.NewLedger(mark)
						if err != nil {
							b.Fatal(err)
						}
						seq, err := p.m.OpenUsers(l, bits, func() (sequence.Spill, error) { return nameless(b.TempDir()) })
						if err != nil {
							b.Fatal(err)
						}
						ws, err := p.workers(seq)
						if err != nil {
							b.Fatal(err)
						}
						err = perturb.InOrder(context.Background(), 2, p.blocks(), func(next func() *block) error {
							to := next()
							for u, h := range list {
								if to == nil {
									return nil
								}
								row := to.push([]byte(h.id), int64(u))
								clear(row)
								for i, id := range h.items {
									row[length-len(h.items)+i] = int32(id)
								}
								if to.full() {
									to = next()
								}
							}
							return nil
						}, func(i int, b *block) error { return ws[i].perturb(b) }, func(*block) error { return nil })
						if err != nil {
							b.Fatal(err)
						}
						if err := seq.Finish(); err != nil {
							b.Fatal(err)
						}
						times = append(times, time.Since(start))
					}
					best(b, users*length, times)
				})
			}
		}
	}
}

// The whole of it: gzip TSV in, gzip TSV out, on two workers, two million cells.
func BenchmarkPerturbFiles(b *testing.B) {
	const users, length = 20_000, 101
	dir := b.TempDir()
	pack, err := format.NewPacker(format.Gzip)
	if err != nil {
		b.Fatal(err)
	}
	packed, err := pack.Append(nil, []byte(table(histories(users, 236_049>>6, 80, 1))))
	if err != nil {
		b.Fatal(err)
	}
	in := filepath.Join(dir, "in.tsv.gz")
	if err := os.WriteFile(in, packed, 0o644); err != nil {
		b.Fatal(err)
	}
	for _, keep := range []bool{false, true} {
		b.Run(fmt.Sprintf("keep-order=%t", keep), func(b *testing.B) {
			o := Options{In: in, Out: filepath.Join(dir, "out.tsv.gz"), Epsilon: 10, Items: 236_049, Length: length, Workers: 2, Seed: rng.Seed(1), KeepOrder: keep, Force: true}
			var times []time.Duration
			for b.Loop() {
				start := time.Now()
				if _, err := Perturb(context.Background(), o); err != nil {
					b.Fatal(err)
				}
				times = append(times, time.Since(start))
			}
			best(b, users*length, times)
		})
	}
}
