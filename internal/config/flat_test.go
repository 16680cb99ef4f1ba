package config

import (
	"maps"
	"testing"
)

// Flat gives every single value by its path, lists by index.
func TestFlat(t *testing.T) {
	got, err := Flat("a.yaml", []byte("a: 1\nb:\n  c: x y\n  d: [2, 3]\n  e: []\nf:\n  - g: true\n"))
	want := map[string]string{"a": "1", "b.c": "x y", "b.d.0": "2", "b.d.1": "3", "f.0.g": "true"}
	if err != nil || !maps.Equal(got, want) {
		t.Errorf("%v, %v; want %v", got, err, want)
	}
	for _, bad := range []string{"", "a: [", "a: &x 1\nb: *x\n"} {
		if got, err := Flat("a.yaml", []byte(bad)); err == nil {
			t.Errorf("%q: %v", bad, got)
		}
	}
}
