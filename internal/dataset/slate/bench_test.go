package slate

import "testing"

// BenchmarkLoadZhihu loads the extracted Zhihu pairs, everything included.
func BenchmarkLoadZhihu(b *testing.B) {
	dir := realData(b)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Load(b.Context(), "exposure-zhihu", Options{Dir: dir}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkStandIn generates the stand-in and builds its pairs.
func BenchmarkStandIn(b *testing.B) {
	for b.Loop() {
		if _, err := Load(b.Context(), StandIn, Options{Seed: 1}); err != nil {
			b.Fatal(err)
		}
	}
}
