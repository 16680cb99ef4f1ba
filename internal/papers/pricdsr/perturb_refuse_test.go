package pricdsr

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"privrec/internal/run"
)

// Sizes that no sampler can hold are refused before anything of that size is made.
func TestSizesAreRefusedBeforeMemoryIsTaken(t *testing.T) {
	dir := t.TempDir()
	in := write(t, dir, "in.tsv", "user_id\titem_id\nann\t1\n")
	for _, c := range []struct {
		items, length int
		want          string
	}{
		{math.MaxInt, 3, "items is 9223372036854775807"}, {1 << 28, 1 << 27, "length is 134217728"},
		{20, math.MaxInt, "length is 9223372036854775807"}, {math.MaxInt, math.MaxInt, "length is"},
	} {
		_, err := Perturb(context.Background(), Options{In: in, Out: filepath.Join(dir, "out.tsv"), Epsilon: 3, Items: c.items, Length: c.length, Small: true, Workers: 1})
		var usage *run.UsageError
		if !errors.As(err, &usage) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%d items, %d cells: %v, want %q", c.items, c.length, err, c.want)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("left %v (%v)", left, err)
	}
}
