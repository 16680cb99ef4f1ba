package stream

import (
	"testing"

	"privrec/internal/bench"
)

func TestBench(t *testing.T) {
	got, err := Bench(t.Context(), bench.Options{Sizes: bench.Sizes{Users: 9, Items: 5, Edges: 40}, Time: 1})
	if err != nil || len(got) != 3 || got[0].Name != "stream_blt" || got[2].Name != "stream_banded_secure" {
		t.Fatalf("%+v, %v", got, err)
	}
	for _, r := range got {
		if !(r.MinS > 0) {
			t.Errorf("%+v", r)
		}
	}
}
