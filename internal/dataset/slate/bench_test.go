package slate

import (
	"testing"

	"privrec/internal/dataset"
)

// BenchmarkLoadZhihu loads the extracted Zhihu pairs, everything included.
func BenchmarkLoadZhihu(b *testing.B) {
	dir := realData(b)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Load(b.Context(), "exposure-zhihu", dataset.View{}, Options{Dir: dir}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkStandIn generates the stand-in and builds its pairs.
func BenchmarkStandIn(b *testing.B) {
	for b.Loop() {
		if _, err := Load(b.Context(), StandIn, dataset.View{Seed: 1}, Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
