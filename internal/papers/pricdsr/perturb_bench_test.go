package pricdsr

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"privrec/internal/dataset/compress"
	"privrec/internal/perturb"
	"privrec/internal/privacy/mechanism/sequence"
	"privrec/internal/report"
	"privrec/internal/rng"
	"privrec/internal/run"
)

// best reports the rate of the fastest run beside that of all: what the machine can do
// when nothing else runs on it.
func best(b *testing.B, cells int, times []time.Duration) {
	b.ReportMetric(float64(cells)/slices.Min(times).Seconds()/1e6, "Mcells/s")
}

// memory are rows that are there already, and are written nowhere.
type memory struct {
	list   []history
	length int
	next   int
}

func (m *memory) Read(b *perturb.Block[int32]) (bool, error) {
	if m.next == len(m.list) {
		return false, nil
	}
	h := m.list[m.next]
	row := b.Push(m.next, []byte(h.id))
	clear(row)
	for i, id := range h.items {
		row[m.length-len(h.items)+i] = int32(id)
	}
	m.next++
	return true, nil
}

func (m *memory) Length() int                             { return m.length }
func (m *memory) Headers() []string                       { return nil }
func (m *memory) Append(*perturb.Block[int32], int) error { return nil }
func (m *memory) Digest() (string, error)                 { return "", nil }
func (m *memory) Close()                                  {}

// Rows in memory, ids and all: keys, draws, counts and the check of who came twice, on
// two workers, for a million cells.
func BenchmarkPerturbInMemory(b *testing.B) {
	const users, length = 10_000, 101
	list := someHistories(users, 2000, 80, 1)
	for _, items := range []int{236_049, 59_513} {
		for _, v := range []sequence.Variant{sequence.SDPFixed, sequence.SDPPaper, sequence.RR} {
			for _, secure := range []bool{false, true} {
				o := Options{Settings: perturb.Settings{Out: filepath.Join(b.TempDir(), "out.tsv"), Items: items, Length: length, Workers: 2, Seed: 1, Secure: secure, Force: true}, Variant: v, Epsilon: 10, KeepOrder: true}
				b.Run(fmt.Sprintf("%s/%d/secure=%t", v, items, secure), func(b *testing.B) {
					if err := o.Check(); err != nil {
						b.Fatal(err)
					}
					var times []time.Duration
					for b.Loop() {
						start := time.Now()
						p := &perturber{o: o, m: o.Mechanism(items)}
						j := p.job()
						j.Beside = nil
						j.Open = func(context.Context) (perturb.Records[int32], error) { return &memory{list: list, length: length}, nil }
						j.Report = func(perturb.Facts) (run.Result, error) { return &report.Document{}, nil }
						err := perturb.Run(b.Context(), j)
						if err != nil {
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
	pack, err := compress.NewPacker(compress.Gzip)
	if err != nil {
		b.Fatal(err)
	}
	packed, err := pack.Append(nil, []byte(table(someHistories(users, 236_049>>6, 80, 1))))
	if err != nil {
		b.Fatal(err)
	}
	in := filepath.Join(dir, "in.tsv.gz")
	if err := os.WriteFile(in, packed, 0o644); err != nil {
		b.Fatal(err)
	}
	for _, keep := range []bool{false, true} {
		b.Run(fmt.Sprintf("keep-order=%t", keep), func(b *testing.B) {
			o := Options{Settings: perturb.Settings{In: in, Out: filepath.Join(dir, "out.tsv.gz"), Items: 236_049, Length: length, Workers: 2, Seed: rng.Seed(1), Force: true}, Epsilon: 10, KeepOrder: keep}
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
