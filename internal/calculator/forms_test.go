package calculator

import (
	"reflect"
	"strings"
	"testing"
)

// numbersForm has every number of a question, whole or not, under the key that answers give it.
func TestFormHasEveryNumber(t *testing.T) {
	form := map[string]reflect.Kind{}
	of := reflect.TypeFor[numbersForm]()
	for i := range of.NumField() {
		key, rest, _ := strings.Cut(of.Field(i).Tag.Get("json"), ",")
		if rest != "omitempty" {
			t.Errorf("%s is in every answer", key)
		}
		form[key] = of.Field(i).Type.Kind()
	}
	for name, k := range kinds {
		key := strings.ReplaceAll(name, "-", "_")
		if name == "epsilon" {
			key = "release_epsilon"
		}
		want := reflect.Float64
		if k.span.whole {
			want = reflect.Int64
		}
		if form[key] != want {
			t.Errorf("%s: %v, want %v", key, form[key], want)
		}
		delete(form, key)
	}
	for key := range form {
		t.Errorf("%s is no number of a question", key)
	}
}
