package pricdsr

import (
	"math"
	"testing"

	"privrec/internal/privacy/mechanism/sequence"
)

// Half is half, long rows over small catalogues included.
func TestHalfKept(t *testing.T) {
	for _, v := range []sequence.Variant{sequence.SDPPaper, sequence.SDPFixed, sequence.RR} {
		for _, size := range [][2]int{{1, 1}, {100, 101}, {37868, 50}} {
			m := sequence.Mechanism{Variant: v, Items: size[0], Length: size[1]}
			m.Epsilon = halfKept(m)
			if got := m.Keep(0); math.Abs(got-0.5) > 1e-12 {
				t.Errorf("%s, %d items, %d cells: %v kept at epsilon %v", v, size[0], size[1], got, m.Epsilon)
			}
		}
	}
}
