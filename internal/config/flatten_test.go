package config

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSettings(t *testing.T) {
	got, err := Settings("c.yaml", []byte("run:\n  seed: 1\n  out: \"\"\nk: [5, 10]\nrows:\n  - {a: 1, b: [x]}\nlow: &z .5\nsame: *z\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := []Setting{{"run.seed", "1"}, {"run.out", `""`}, {"k", "[5, 10]"}, {"rows", "[{a: 1, b: [x]}]"}, {"low", ".5"}, {"same", "*z"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for _, bad := range []string{"", "[1]", "a: [", "a: 1\n---\nb: 2"} {
		if got, err := Settings("c.yaml", []byte(bad)); err == nil || !strings.HasPrefix(err.Error(), "c.yaml") {
			t.Errorf("%q: %v, %v; want an error that names the file", bad, got, err)
		}
	}
}
