package roster

import (
	"testing"

	"privrec/internal/experiment"
)

// A name that is there in full counts before names that end in it.
func TestChooseExact(t *testing.T) {
	all := []experiment.Scores{{Name: "dissimilar, 1"}, {Name: "similar, 1"}, {Name: "a, b"}}
	if got, err := Choose(all, "similar, 1"); err != nil || got.Name != "similar, 1" {
		t.Errorf("got %q, %v", got.Name, err)
	}
	if _, err := Choose(all, "1"); err == nil {
		t.Error("two names end in 1")
	}
}
