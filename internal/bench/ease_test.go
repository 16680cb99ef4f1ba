package bench

import (
	"strings"
	"testing"
)

func TestEASE(t *testing.T) {
	got, err := EASE(t.Context(), Options{Sizes: small()})
	if err != nil || len(got) != 2 || got[0].Name != "ease_fit" || got[1].Name != "ease_rank" {
		t.Fatalf("%+v, %v", got, err)
	}
	for _, r := range got {
		if !strings.Contains(r.Shape, "users=60 items=80 edges=300") || !(r.MinS > 0) {
			t.Errorf("%+v", r)
		}
	}
	if n := Netflix(); n.Users < 100_000 || n.Items != 17_770 || n.Edges/n.Users != 209 {
		t.Errorf("%+v is not of Netflix's shape", n)
	}
}
