package slates

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"privrec/internal/dataset"
	"privrec/internal/dataset/format"
	"privrec/internal/perturb"
)

// Rows of slates that do not stand together are refused with the command that sorts them, by the columns of the file.
func TestRowsOfSlatesApart(t *testing.T) {
	for _, text := range []string{
		"position;x;user_id;slate_id;item_id\n1;.;u;a;1\n1;.;u;b;2\n2;.;u;a;2\n2;.;u;b;3\n", // by position
		"position;x;user_id;slate_id;item_id\n1;.;u;a;1\n2;.;u;a;2\n1;.;u;b;2\n1;.;u;c;2\n", // a slate in two parts
	} {
		path := filepath.Join(t.TempDir(), "slates.csv")
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		r, err := Open(context.Background(), &perturb.Settings{In: path, InForm: format.CSV}, &perturb.Catalogue{}, Remembered)
		for ok := true; err == nil && ok; {
			r.held = false
			ok, err = r.Next()
		}
		var e *dataset.Error
		if !errors.As(err, &e) || !strings.Contains(e.Hint, "sort -s -t ';' -k3,3 -k4,4 -k1,1n) > ") {
			t.Errorf("%q: %v", text, err)
		}
		if r != nil {
			r.Close()
		}
	}
}
