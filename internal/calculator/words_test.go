package calculator

import (
	"math"
	"strings"
	"testing"

	"privrec/internal/privacy"
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
		if up, down := RoundUp(c.v, c.digits), roundDown(c.v, c.digits); up != c.up || down != c.down {
			t.Errorf("%v with %d digits: up %s, down %s, want %s and %s", c.v, c.digits, up, down, c.up, c.down)
		}
	}
}

// Every unit has the article that it is spoken with.
func TestArticles(t *testing.T) {
	want := map[privacy.Unit]string{privacy.Edge: "an edge", privacy.Interaction: "an interaction", privacy.User: "a user", privacy.Sample: "a sample",
		privacy.Feature: "a feature vector", privacy.Record: "a record", privacy.Cell: "a cell of a sequence", privacy.Position: "a position of a slate"}
	for _, u := range privacy.Units() {
		if got := aNoun(u); got != want[u] {
			t.Errorf("%s: %q, want %q", u, got, want[u])
		}
		r := Risk{Rates: make([]Rate, 2)}
		r.Unit, r.Neighbouring = u, privacy.AddRemove
		if text := r.Statement(); !strings.Contains(text, "(a member is "+want[u]+" in the data)") {
			t.Errorf("%s: %s", u, text)
		}
	}
}
