package perturb

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"privrec/internal/dataset/format"
)

// All files of a stage get their names, or none; a folder in the way stays.
func TestStageIsAllOrNothing(t *testing.T) {
	dir := t.TempDir()
	files := []Output{{"empty", filepath.Join(dir, "o.empty.tsv.gz")}, {"ledger", filepath.Join(dir, "o.ledger.jsonl")}, {"table", filepath.Join(dir, "o.tsv.gz")}}
	set := Outputs{Files: files, Force: true}
	st, err := NewStage(set)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range files {
		if err := os.WriteFile(st.Path(x.Name), []byte(x.Name), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "o.tsv.gz"), 0o755); err != nil { // the name of the last one is taken
		t.Fatal(err)
	}
	if err := set.Free(); err == nil {
		t.Error("a folder in the way was not refused")
	}
	var w *format.WriteError
	if err := st.swap(); !errors.As(err, &w) {
		t.Errorf("commit: %v", err)
	}
	if err := st.Drop(); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("left %v (%v)", left, err)
	}
	if _, err := NewStage(Outputs{Files: []Output{{"table", filepath.Join(dir, "none", "o.tsv")}}}); !errors.As(err, &w) {
		t.Errorf("no folder: %v", err)
	}
}
