package registry

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"privrec/internal/dataset"
)

// Whoever names a file is told where it belongs and what it is called there, which then is found.
func TestFileAsData(t *testing.T) {
	t.Chdir(t.TempDir())
	data := filepath.Join(t.TempDir(), "data")
	t.Setenv("PRIVREC_DATA", data)
	const rows = "user_id,item_id\nu,x\nu,y\nv,x\n"
	if err := os.WriteFile("My shop_1.csv", []byte(rows), 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := Find("My shop_1.csv")
	const want = "copy the file to own-my-shop-1/own-my-shop-1.csv below $PRIVREC_DATA"
	var fault *dataset.Error
	if !errors.As(err, &fault) || !strings.Contains(fault.Hint, want) {
		t.Fatalf("%v", err)
	}
	dir := filepath.Join(data, "own-my-shop-1")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "own-my-shop-1.csv"), []byte(rows), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Find("own-my-shop-1"); err != nil {
		t.Error(err)
	}
}
