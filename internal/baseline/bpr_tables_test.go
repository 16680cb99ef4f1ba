package baseline

import (
	"path/filepath"
	"strings"
	"testing"
	"unsafe"

	"privrec/internal/protocol/topn/topntest"
	"privrec/internal/run"
	"privrec/internal/tensor"
)

// With two-byte copies LightGCN learns, gives the same bytes for any number of workers and after
// a resume, and ranks by what it keeps. A build in float64 has none to make.
func TestTwoByteTables(t *testing.T) {
	const set = "model.tables=" + Bfloat16
	s := suite
	s.Tasks = []run.Task{task(t, "lightgcn")}
	s.Sets = map[string][]string{"lightgcn": topntest.Trained("model.layers=2", set)}
	if unsafe.Sizeof(tensor.Float(0)) == 8 {
		err := s.Try(t.Context(), s.Tasks[0], filepath.Join(t.TempDir(), "run"), nil, run.Options{})
		if err == nil || !strings.Contains(err.Error(), "--set model.tables: two-byte copies are of float32 tables") {
			t.Errorf("float64: %v", err)
		}
		return
	}
	s.Learn(t, "lightgcn")
	s.Repeat(t, "lightgcn")
	s.Resume(t, "lightgcn", "lightgcn")
	s.VectorsRank(t, "lightgcn", "")
	dir := t.TempDir()
	start(t, s.Tasks[0], filepath.Join(dir, "whole"))
	s.Start(t, s.Tasks[0], filepath.Join(dir, "short"))
	whole, short := outcome(t, filepath.Join(dir, "whole")), outcome(t, filepath.Join(dir, "short"))
	if a, b := whole.Epochs[0].Loss, short.Epochs[0].Loss; a == b || a-b > 1e-2*a || b-a > 1e-2*a {
		t.Errorf("loss %g with copies, %g without: want a small difference", b, a)
	}
}
