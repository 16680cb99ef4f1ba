package experiment

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"privrec/internal/autograd"
	"privrec/internal/run"
	"privrec/internal/system"
	"privrec/internal/tensor"
)

// filled is a matrix of numbers that tell it apart.
func filled(rows, cols int, from float64) tensor.Matrix {
	m := tensor.New(rows, cols)
	for i := range m.Data {
		m.Data[i] = tensor.Float(from + float64(i))
	}
	return m
}

// put writes tensors where a program of some age has them.
func put(t *testing.T, path string, meta map[string]string, tensors ...run.NamedTensor) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := system.WriteFile(path, func(w io.Writer) error { return run.WriteSafetensors(w, tensors, meta) }); err != nil {
		t.Fatal(err)
	}
}

// A model is read from its file, or from where older programs have it: the best epoch of the
// checkpoint, or its last one.
func TestOpenModel(t *testing.T) {
	view := func(name string, from float64) run.NamedTensor { return run.MatrixTensor(name, filled(2, 3, from)) }
	for _, c := range []struct {
		name string
		make func(dir string)
		want float64 // first number of the parameter
	}{
		{"its file", func(dir string) {
			put(t, filepath.Join(dir, ModelFile), map[string]string{"k": "v"}, view("w", 1))
			put(t, filepath.Join(dir, "checkpoint", "checkpoint.safetensors"), nil, view("param/w", 9))
		}, 1},
		{"the best epoch", func(dir string) {
			put(t, filepath.Join(dir, "checkpoint", "checkpoint.safetensors"), nil, view("param/w", 2), view("best/w", 3), view("optim/w", 4))
		}, 3},
		{"the last epoch", func(dir string) {
			put(t, filepath.Join(dir, "checkpoint", "checkpoint.safetensors"), nil, view("param/w", 5), view("optim/w", 6))
		}, 5},
	} {
		dir := t.TempDir()
		c.make(dir)
		p := &autograd.Param{Name: "w", Value: tensor.New(2, 3)}
		w, err := OpenModel(dir)
		if err == nil {
			err = w.Into([]*autograd.Param{p})
		}
		if err != nil || float64(p.Value.Data[0]) != c.want {
			t.Errorf("%s: %v, %v; want %v", c.name, p.Value.Data, err, c.want)
		}
	}
	dir := t.TempDir()
	if _, err := OpenModel(dir); err == nil || !strings.Contains(err.Error(), "read the model") {
		t.Errorf("no model: %v", err)
	}
	put(t, filepath.Join(dir, ModelFile), nil, view("w", 1))
	w, err := OpenModel(dir)
	if err != nil {
		t.Fatal(err)
	}
	for want, p := range map[string]*autograd.Param{
		`has no "v"`: {Name: "v", Value: tensor.New(2, 3)},
		"shape":      {Name: "w", Value: tensor.New(3, 2)},
	} {
		if err := w.Into([]*autograd.Param{p}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// The vectors of every release are in one file; older programs have one for each.
func TestOpenVectors(t *testing.T) {
	now, old := t.TempDir(), t.TempDir()
	put(t, filepath.Join(now, ModelFile), nil,
		run.MatrixTensor("noisy/user", filled(4, 2, 1)), run.MatrixTensor("noisy/item", filled(3, 2, 2)),
		run.MatrixTensor("user", filled(4, 2, 3)), run.MatrixTensor("item", filled(3, 2, 4)))
	put(t, filepath.Join(old, "vectors-noisy.safetensors"), nil, run.MatrixTensor("user", filled(4, 2, 1)), run.MatrixTensor("item", filled(3, 2, 2)))
	put(t, filepath.Join(old, "vectors.safetensors"), nil, run.MatrixTensor("user", filled(4, 2, 3)), run.MatrixTensor("item", filled(3, 2, 4)))
	for _, dir := range []string{now, old} {
		for release, want := range map[string][2]float64{"noisy": {1, 2}, "": {3, 4}} {
			v, err := OpenVectors(dir, release, 4, 3)
			if err != nil || float64(v.Users.Data[0]) != want[0] || float64(v.Items.Data[0]) != want[1] {
				t.Errorf("release %q: %+v, %v", release, v, err)
			}
		}
		if _, err := OpenVectors(dir, "clean", 4, 3); err == nil {
			t.Error("a release that is not there was read")
		}
		if _, err := OpenVectors(dir, "", 5, 3); err == nil || !strings.Contains(err.Error(), "4 rows of \"user\", the data 5") {
			t.Errorf("vectors of other data: %v", err)
		}
	}
}

// What the scores take besides the vectors is read where it is there, of its own release.
func TestOpenVectorsWithOutput(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, ModelFile), nil, run.MatrixTensor("a/user", filled(4, 2, 0)), run.MatrixTensor("a/item", filled(3, 2, 0)),
		run.MatrixTensor("a/output", filled(1, 2, 7)), run.MatrixTensor("b/user", filled(4, 2, 0)), run.MatrixTensor("b/item", filled(3, 2, 0)))
	for release, want := range map[string]int{"a": 1, "b": 0} {
		v, err := OpenVectors(dir, release, 4, 3)
		if err != nil || v.Output.Rows != want || want == 1 && v.Output.Data[1] != 8 {
			t.Errorf("release %s: %+v, %v", release, v.Output, err)
		}
	}
}
