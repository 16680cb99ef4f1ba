package calculator

import (
	"math"
	"testing"
)

func TestEither(t *testing.T) {
	for want, names := range map[string][]string{"": nil, "a": {"a"}, "a or b": {"a", "b"}, "a, b or c": {"a", "b", "c"}} {
		if got := either(names); got != want {
			t.Errorf("%q: %q, want %q", names, got, want)
		}
	}
}

func TestRounded(t *testing.T) {
	for _, c := range []struct {
		v        float64
		digits   int
		up, down string
	}{
		{1.8282366665, 6, "1.82824", "1.82823"}, {1, 6, "1", "1"}, {0.999999999, 3, "1", "0.999"}, {0, 6, "0", "0"},
		{1e-300, 2, "1e-300", "1e-300"}, {123456.7, 3, "124000", "123000"}, {99999.99, 1, "100000", "90000"}, {1.0000001, 3, "1.01", "1"},
		{9.9999999e9, 4, "1e10", "9.999e9"}, {math.Inf(1), 3, "infinite", "infinite"}, {1.0000000001e-5, 2, "1.1e-5", "1e-5"},
		{0.99999999999e-5, 2, "1e-5", "9.9e-6"},
	} {
		if up, down := roundUp(c.v, c.digits), roundDown(c.v, c.digits); up != c.up || down != c.down {
			t.Errorf("%v with %d digits: up %s, down %s, want %s and %s", c.v, c.digits, up, down, c.up, c.down)
		}
	}
}
