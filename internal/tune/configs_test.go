package tune_test

import (
	"path/filepath"
	"testing"

	"privrec/internal/papers"
	"privrec/internal/tune"
)

// The studies that come with the program can be run: their tasks, keys and spaces are known.
func TestStudies(t *testing.T) {
	for _, name := range []string{"ml-100k.yaml", "ml-1m-private.yaml"} {
		s, err := tune.Load(filepath.Join("../../configs/tune", name), papers.All())
		if err != nil {
			t.Error(err)
			continue
		}
		if len(s.Tasks) < 5 || s.Trials != 16 {
			t.Errorf("%s: %d tasks with %d trials each", name, len(s.Tasks), s.Trials)
		}
	}
}
