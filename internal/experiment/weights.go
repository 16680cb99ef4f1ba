package experiment

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"privrec/internal/autograd"
	"privrec/internal/run"
	"privrec/internal/tensor"
)

// ModelFile names the file with the model of a run, in safetensors format: the reported parameters by name, or the
// vectors of its releases.
const ModelFile = "model.safetensors"

// retrain holds the advice for a model that cannot be read.
const retrain = "train again with another --out"

// Keep writes the parameters of the reported model, with the method's remarks in meta. It writes no file if there are
// no parameters.
func Keep(env *run.Env, params []*autograd.Param, meta map[string]string) error {
	if len(params) == 0 {
		return nil
	}
	tensors := make([]run.NamedTensor, len(params))
	for i, p := range params {
		tensors[i] = run.MatrixTensor(p.Name, p.Value)
	}
	return write(env, tensors, meta)
}

// Vectors holds the vectors of all users (users, d) and items (items, d) of one release. A ranking uses their inner
// products, or the method's own scores, which may use Output.
type Vectors struct {
	Release      string // empty: the only one
	Users, Items tensor.Matrix
	Output       tensor.Matrix // what the scores take besides, such as a last layer's weights; empty: nothing
}

// KeepVectors writes the vectors of a run's releases, which are all that its ranking needs.
func KeepVectors(env *run.Env, releases []Vectors) error {
	var tensors []run.NamedTensor
	for _, v := range releases {
		tensors = append(tensors, run.MatrixTensor(vectorName(v.Release, "user"), v.Users),
			run.MatrixTensor(vectorName(v.Release, "item"), v.Items))
		if v.Output.Rows > 0 {
			tensors = append(tensors, run.MatrixTensor(vectorName(v.Release, "output"), v.Output))
		}
	}
	return write(env, tensors, nil)
}

func write(env *run.Env, tensors []run.NamedTensor, meta map[string]string) error {
	return env.WriteArtefact(ModelFile, func(w io.Writer) error { return run.WriteSafetensors(w, tensors, meta) })
}

func vectorName(release, side string) string {
	if release == "" {
		return side
	}
	return release + "/" + side
}

// Weights holds the tensors of a finished run's model.
type Weights struct {
	Meta    map[string]string
	path    string
	prefix  string // of the names of parameters
	tensors []run.NamedTensor
}

// OpenModel reads the model of a run directory. Runs of older programs have it in their checkpoint; where an epoch was
// chosen, the model is that of the chosen epoch.
func OpenModel(dir string) (*Weights, error) {
	w, err := open(filepath.Join(dir, ModelFile))
	if !errors.Is(err, fs.ErrNotExist) {
		return w, err
	}
	return OpenParameters(dir)
}

// OpenParameters reads a run's final parameters from its checkpoint; where an epoch was chosen, those of the chosen
// epoch.
func OpenParameters(dir string) (*Weights, error) {
	w, err := open(filepath.Join(dir, "checkpoint", "checkpoint.safetensors"))
	if err != nil {
		return nil, err
	}
	w.prefix = "param/"
	if slices.ContainsFunc(w.tensors, func(t run.NamedTensor) bool { return strings.HasPrefix(t.Name, "best/") }) {
		w.prefix = "best/"
	}
	return w, nil
}

func open(path string) (*Weights, error) {
	tensors, meta, err := run.ReadSafetensors(path)
	if err != nil {
		return nil, run.WithHint(fmt.Errorf("read the model: %w", err), retrain)
	}
	return &Weights{Meta: meta, path: path, tensors: tensors}, nil
}

// Into copies the values of the file into parameters.
func (w *Weights) Into(params []*autograd.Param) error {
	for _, p := range params {
		t, err := w.tensor(w.prefix + p.Name)
		if err != nil {
			return err
		}
		if err := t.CopyTo(p.Value); err != nil {
			return fmt.Errorf("read the model: %s: %w", w.path, err)
		}
	}
	return nil
}

// Matrix returns a view of one tensor of the file.
func (w *Weights) Matrix(name string) (tensor.Matrix, error) {
	t, err := w.tensor(w.prefix + name)
	if err != nil {
		return tensor.Matrix{}, err
	}
	m, err := t.Matrix()
	if err != nil {
		return m, fmt.Errorf("read the model: %s: %w", w.path, err)
	}
	return m, nil
}

// has reports whether the file has a tensor of that name.
func (w *Weights) has(name string) bool {
	return slices.ContainsFunc(w.tensors, func(t run.NamedTensor) bool { return t.Name == name })
}

func (w *Weights) tensor(name string) (run.NamedTensor, error) {
	at := slices.IndexFunc(w.tensors, func(t run.NamedTensor) bool { return t.Name == name })
	if at < 0 {
		return run.NamedTensor{}, fmt.Errorf("read the model: %s has no %q", w.path, name)
	}
	return w.tensors[at], nil
}

// OpenVectors reads the vectors of one release of a run. It fails unless there are users and items rows of equal width.
// Runs of older programs have one file for each release.
func OpenVectors(dir, release string, users, items int) (Vectors, error) {
	v := Vectors{Release: release}
	w, err := open(filepath.Join(dir, ModelFile))
	name := func(side string) string { return vectorName(release, side) }
	if errors.Is(err, fs.ErrNotExist) {
		old, bad := open(filepath.Join(dir, oldVectors(release)))
		if !errors.Is(bad, fs.ErrNotExist) {
			w, err = old, bad
			name = func(side string) string { return side }
		}
	}
	if err != nil {
		return v, err
	}
	for _, side := range []struct {
		name string
		rows int
		to   *tensor.Matrix
	}{{"user", users, &v.Users}, {"item", items, &v.Items}} {
		m, err := w.Matrix(name(side.name))
		if err != nil {
			return v, err
		}
		if m.Rows != side.rows {
			return v, fmt.Errorf("read the model: %s has %d rows of %q, the data %d", w.path, m.Rows, name(side.name),
				side.rows)
		}
		*side.to = m
	}
	if v.Users.Cols != v.Items.Cols {
		return v, fmt.Errorf("read the model: %s has users of %d and items of %d numbers", w.path, v.Users.Cols,
			v.Items.Cols)
	}
	if at := name("output"); w.has(at) {
		v.Output, err = w.Matrix(at)
	}
	return v, err
}

// HasVectors reports whether a run keeps vectors of its users.
func HasVectors(dir string) bool {
	w, err := open(filepath.Join(dir, ModelFile))
	return err == nil && slices.ContainsFunc(w.tensors, func(t run.NamedTensor) bool {
		return t.Name == "user" || strings.HasSuffix(t.Name, "/user")
	})
}

// oldVectors returns the file name of a release in programs before [ModelFile].
func oldVectors(release string) string {
	if release == "" {
		return "vectors.safetensors"
	}
	return "vectors-" + release + ".safetensors"
}
