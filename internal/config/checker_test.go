package config

import (
	"errors"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
)

// checked is a configuration in a file of five lines, with one override.
func checked(t *testing.T) *Document {
	t.Helper()
	text := "name: d\n" +
		"tags: [a, b]\n" +
		"sizes: [1, 2]\n" +
		"train: {epochs: 3}\n" +
		"privacy: {delta: 0.5}\n"
	_, doc, err := Parse("c.yaml", []byte(text), []string{"train.lr=2"}, defaults())
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// Every check accepts what it should, edges included, and says of the rest where it stands, what
// it must be and what it is.
func TestChecker(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		name string
		do   func(v *Checker) bool
		want string // all messages; empty: accepted
	}{
		{"check, right", func(v *Checker) bool { return v.Check(true, "name", "no") }, ""},
		{"check, wrong", func(v *Checker) bool { return v.Check(false, "name", "is %q, not %d", "d", 3) }, `c.yaml:1:7: name: is "d", not 3`},
		{"set by an override", func(v *Checker) bool { return v.Check(false, "train.lr", "is wrong") }, "--set train.lr: is wrong"},
		{"left at its default", func(v *Checker) bool { return v.Check(false, "depth", "is wrong") }, "c.yaml: depth: is wrong"},
		{"a key of no field: where its parent stands", func(v *Checker) bool { return v.Check(false, "train.nothing", "is wrong") }, "c.yaml:4:8: train.nothing: is wrong"},

		{"not empty", func(v *Checker) bool { return v.NotEmpty("name", " ") }, ""},
		{"empty", func(v *Checker) bool { return v.NotEmpty("name", "") }, "c.yaml:1:7: name: must not be empty"},

		{"one of", func(v *Checker) bool { return v.OneOf("name", "d", "c", "d") }, ""},
		{"none of", func(v *Checker) bool { return v.OneOf("name", "e", "c", "d") }, `c.yaml:1:7: name: must be one of c, d, got "e"`},
		{"words", func(v *Checker) bool { return v.Words("tags", []string{"b", "a"}, "a", "b", "c") }, ""},
		{"no words", func(v *Checker) bool { return v.Words("tags", nil, "a", "b") }, "c.yaml:2:7: tags: must name at least one of a, b"},
		{"words, wrong and twice", func(v *Checker) bool { return v.Words("tags", []string{"a", "x", "a"}, "a", "b") },
			"c.yaml:2:7: tags: must be one of a, b, got \"x\"\nc.yaml:2:7: tags: names \"a\" twice"},

		{"between, least", func(v *Checker) bool { return v.Between("train.epochs", 1, 1, 9) }, ""},
		{"between, most", func(v *Checker) bool { return v.Between("train.epochs", 9, 1, 9) }, ""},
		{"between, below", func(v *Checker) bool { return v.Between("train.epochs", 0, 1, 9) }, "c.yaml:4:17: train.epochs: must lie in 1..9, got 0"},
		{"between, above", func(v *Checker) bool { return v.Between("train.epochs", 10, 1, 9) }, "c.yaml:4:17: train.epochs: must lie in 1..9, got 10"},
		{"at least", func(v *Checker) bool { return v.AtLeast("train.epochs", 1, 1) }, ""},
		{"less", func(v *Checker) bool { return v.AtLeast("train.epochs", 0, 1) }, "c.yaml:4:17: train.epochs: must be at least 1, got 0"},
		{"integers", func(v *Checker) bool { return v.Integers("sizes", "size", []int{9, 1}, 1, 9) }, ""},
		{"no integers", func(v *Checker) bool { return v.Integers("sizes", "size", nil, 1, 9) }, "c.yaml:3:8: sizes: must name at least one size"},
		{"integers, outside and twice", func(v *Checker) bool { return v.Integers("sizes", "size", []int{5, 5, 0, 5}, 1, 9) },
			"c.yaml:3:8: sizes: names 5 twice\nc.yaml:3:8: sizes: must lie in 1..9, got 0\nc.yaml:3:8: sizes: names 5 twice"},

		{"within, least", func(v *Checker) bool { return v.Within("privacy.delta", 1e-12, 1e-12, 100) }, ""},
		{"within, most", func(v *Checker) bool { return v.Within("privacy.delta", 100, 1e-12, 100) }, ""},
		{"within, below", func(v *Checker) bool { return v.Within("privacy.delta", 0, 1e-12, 100) }, "c.yaml:5:18: privacy.delta: must lie in [1e-12,100], got 0"},
		{"within, above", func(v *Checker) bool { return v.Within("privacy.delta", 1e7, 1e-12, 1e6) }, "c.yaml:5:18: privacy.delta: must lie in [1e-12,1e+06], got 1e+07"},
		{"within, NaN", func(v *Checker) bool { return v.Within("privacy.delta", nan, 0, 1) }, "c.yaml:5:18: privacy.delta: must lie in [0,1], got NaN"},
		{"below, least", func(v *Checker) bool { return v.Below("privacy.delta", 0, 0, 1) }, ""},
		{"below, most", func(v *Checker) bool { return v.Below("privacy.delta", 1, 0, 1) }, "c.yaml:5:18: privacy.delta: must lie in [0,1), got 1"},
		{"below, less", func(v *Checker) bool { return v.Below("privacy.delta", -1, 0, 1) }, "c.yaml:5:18: privacy.delta: must lie in [0,1), got -1"},
		{"below, NaN", func(v *Checker) bool { return v.Below("privacy.delta", nan, 0, 1) }, "c.yaml:5:18: privacy.delta: must lie in [0,1), got NaN"},
		{"above, least", func(v *Checker) bool { return v.Above("privacy.delta", 0, 0, 64) }, "c.yaml:5:18: privacy.delta: must lie in (0,64], got 0"},
		{"above, most", func(v *Checker) bool { return v.Above("privacy.delta", 64, 0, 64) }, ""},
		{"above, more", func(v *Checker) bool { return v.Above("privacy.delta", inf, 0, 64) }, "c.yaml:5:18: privacy.delta: must lie in (0,64], got +Inf"},
		{"above, NaN", func(v *Checker) bool { return v.Above("privacy.delta", nan, 0, 64) }, "c.yaml:5:18: privacy.delta: must lie in (0,64], got NaN"},
		{"inside, least", func(v *Checker) bool { return v.Inside("privacy.delta", 0, 0, 1) }, "c.yaml:5:18: privacy.delta: must lie in (0,1), got 0"},
		{"inside", func(v *Checker) bool { return v.Inside("privacy.delta", 0.5, 0, 1) }, ""},
		{"inside, most", func(v *Checker) bool { return v.Inside("privacy.delta", 1, 0, 1) }, "c.yaml:5:18: privacy.delta: must lie in (0,1), got 1"},
		{"inside, NaN", func(v *Checker) bool { return v.Inside("privacy.delta", nan, 0, 1) }, "c.yaml:5:18: privacy.delta: must lie in (0,1), got NaN"},

		{"each, empty", func(v *Checker) bool { return Each(v, "sizes", []int{}, func(int) bool { return false }) }, ""},
		{"each, wrong and twice", func(v *Checker) bool {
			return Each(v, "sizes", []float64{0.5, 2, 0.5}, func(x float64) bool { return v.Below("sizes", x, 0, 1) })
		}, "c.yaml:3:8: sizes: must lie in [0,1), got 2\nc.yaml:3:8: sizes: names 0.5 twice"},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := NewChecker(checked(t))
			ok := c.do(v)
			got := ""
			if err := v.Err(); err != nil {
				got = err.Error()
			}
			if got != c.want {
				t.Errorf("messages\n got %q\nwant %q", got, c.want)
			}
			if right := c.want == ""; ok != right || v.OK() != right {
				t.Errorf("returned %v, OK is %v, want %v", ok, v.OK(), right)
			}
		})
	}
}

// All problems come in the order of the file, as one error that the rest of the program knows.
func TestCheckerCollects(t *testing.T) {
	v := NewChecker(checked(t))
	v.Between("train.epochs", 3, 4, 5)
	v.Check(true, "tags", "no")
	v.OneOf("name", "halp", "help", "other")
	v.Within("train.lr", 2, 0, 1)
	err := v.Err()
	var all Errors
	if !errors.As(err, &all) || !Is(err) {
		t.Fatalf("the error is a %T", err)
	}
	var paths []string
	for _, e := range all {
		paths = append(paths, e.Path)
	}
	if want := []string{"train.lr", "name", "train.epochs"}; !slices.Equal(paths, want) {
		t.Errorf("problems with %q, want %q", paths, want)
	}
	if got := all.Hint(); got != `did you mean "help"?` {
		t.Errorf("the hint is %q", got)
	}
}

// Without a problem the error is nil, not an empty list of them; a configuration made in code has
// no file, and its keys are named all the same.
func TestCheckerWithoutFile(t *testing.T) {
	v := NewChecker(nil)
	if err := v.Err(); err != nil {
		t.Errorf("nothing was checked: %v", err)
	}
	v.Between("train.epochs", 0, 1, 9)
	if err := v.Err(); err == nil || !strings.HasSuffix(err.Error(), "train.epochs: must lie in 1..9, got 0") {
		t.Errorf("error %v", err)
	}
}

// A recorder says what every kind of check allows, and an entry of a list counts for its list.
func TestLimits(t *testing.T) {
	v := NewRecorder()
	v.NotEmpty("a", "")
	v.OneOf("b", "x", "x", "", "y")
	v.Between("c.d", 5, 1, 10)
	v.AtLeast("e", 1, 1)
	v.Within("f", 1, 0, 2)
	v.Below("g", 1, 0, 2)
	v.Above("h", 1, 0, 2)
	v.Inside("i", 1, 0, 2)
	v.Integers("k", "cutoff", []int{5}, 1, 9)
	v.NotEmpty("list.0.name", "n")
	want := map[string]string{"a": "not empty", "b": "x, left out, y", "c.d": "1..10", "e": "at least 1", "f": "[0,2]", "g": "[0,2)", "h": "(0,2]", "i": "(0,2)", "k": "1..9", "list[].name": "not empty"}
	if !maps.Equal(want, v.Limits()) {
		t.Errorf("got %v, want %v", v.Limits(), want)
	}
	if got := v.Choices("b"); !slices.Equal(got, []string{"x", "", "y"}) || v.Choices("a") != nil {
		t.Errorf("the words to complete are %q", got)
	}
	if NewChecker(nil).Limits() != nil {
		t.Error("a checker of values keeps limits")
	}
}
