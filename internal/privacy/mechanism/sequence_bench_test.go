package mechanism

import (
	"fmt"
	"testing"

	"privrec/internal/privacy"
	"privrec/internal/rng"
)

// Cells a second on every core: a million cells of the Books catalogue, rows of
// 101 of which about half are padding.
func BenchmarkSequences(b *testing.B) {
	const length, users = 101, 10_000
	for _, items := range []int{236_049, 59_513, 300} {
		for _, v := range []Variant{SDPFixed, SDPPaper, RR} {
			for _, source := range []string{"keyed", "secret"} {
				b.Run(fmt.Sprintf("%s/%d/%s", v, items, source), func(b *testing.B) {
					m := Sequence{Purpose: "s", Variant: v, Epsilon: 10, Items: items, Length: length}
					clean, rows := make([]int32, length*users), make([]int32, length*users)
					for u := range users {
						s := rng.Seed(1).Stream("rows", uint64(u))
						used := map[int32]bool{}
						for c := length / 2; c < length; c++ {
							id := int32(1 + s.IntN(items))
							for used[id] {
								id = int32(1 + s.IntN(items))
							}
							used[id] = true
							clean[u*length+c] = id
						}
					}
					bits := Keyed(rng.Seed(1).Stream("seq"))
					if source == "secret" {
						bits = Secret()
					}
					for b.Loop() {
						b.StopTimer()
						l, _ := privacy.NewLedger(privacy.Research)
						copy(rows, clean)
						b.StartTimer()
						if err := PerturbSequences(m, l, bits, nil, rows, 2); err != nil {
							b.Fatal(err)
						}
					}
					b.ReportMetric(float64(length*users*b.N)/b.Elapsed().Seconds()/1e6, "Mcells/s")
				})
			}
		}
	}
}
