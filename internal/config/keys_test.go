package config

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestKeys(t *testing.T) {
	want := []Key{
		{"name", "text", false}, {"seed", "an integer of at least 0", false}, {"small", "an integer of type int8", false}, {"on", "true or false", false},
		{"wait", "an integer", false}, {"tags", "text", true}, {"sizes", "an integer", true}, {"weights", "keys and values", false},
		{"train.epochs", "an integer", false}, {"train.lr", "a number", false}, {"privacy.delta", "a number", false}, {"privacy.epsilon", "a number", false},
		{"depth", "an integer", false},
	}
	if diff := cmp.Diff(want, Keys[sample]()); diff != "" {
		t.Error(diff)
	}
}

// Every key that is listed can be set, to its default.
func TestKeysCanBeSet(t *testing.T) {
	for _, k := range Keys[sample]() {
		_, doc, err := Parse("f", []byte("{}"), []string{k.Path + "=0"}, defaults())
		var e *Error
		if errors.As(err, &e) && e.Message == "unknown key" {
			t.Errorf("%s: %v", k.Path, err)
		}
		if doc == nil || !doc.Overridden(k.Path) {
			t.Errorf("%s is not overridden", k.Path)
		}
	}
}

// A word that is none of the allowed ones is told with them, and with the nearest.
func TestOneOf(t *testing.T) {
	_, doc, err := Parse("f.yaml", []byte("name: sme\n"), nil, defaults())
	if err != nil {
		t.Fatal(err)
	}
	if e := doc.OneOf("name", "some", "all", "some"); e != nil {
		t.Error(e)
	}
	e := doc.OneOf("name", "sme", "all", "some")
	const want = `f.yaml:1:7: name: must be one of all, some, got "sme"`
	if e == nil || e.Error() != want || e.Hint() != `did you mean "some"?` {
		t.Errorf("%+v", e)
	}
	if e := doc.OneOf("name", "zzzz", "all", "some"); e == nil || e.Hint() != "" {
		t.Errorf("%+v", e)
	}
}
