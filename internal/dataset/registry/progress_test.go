package registry

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"privrec/internal/dataset"
	"privrec/internal/progress"
	"privrec/internal/progress/progresstest"
)

// Hashing and reading a file are reported by the buffer.
func TestLoadingReports(t *testing.T) {
	var b strings.Builder
	b.WriteString("user_id,item_id\n")
	for i := range 100_000 {
		fmt.Fprintf(&b, "%d,%d\n", i%500, i/500)
	}
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "own-shop"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "own-shop", "own-shop.csv"), []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	var r progresstest.Recorder
	if _, err := Load(progress.With(t.Context(), &r), "own-shop", "all", dataset.View{},
		Options{Dir: dir, NoCache: true}); err != nil {
		t.Fatal(err)
	}
	r.Whole(t, "hash own-shop.csv, 0.", 1)
	r.Whole(t, "read own-shop.csv, 0.", b.Len()/(1<<17))
}
