package experiment

import (
	"privrec/internal/autograd"
	"privrec/internal/run"
	"privrec/internal/tensor"
)

// Model is a model with parameters. A protocol adds how it learns and how it scores.
type Model interface {
	// Params lists the parameters in a fixed order. There are none where the model is computed at once.
	Params() []*autograd.Param
}

// Free gives the memory of a model or a scorer back: by its Close method if it has one, otherwise that of its
// parameters, if it has any. The garbage collector does not see such memory. m may be nil.
func Free(m any) {
	if c, ok := m.(interface{ Close() }); ok {
		c.Close()
	} else if m, ok := m.(Model); ok {
		for _, p := range m.Params() {
			tensor.Free(p.Value)
		}
	}
}

// Maker makes the models of a run and holds one at a time. S is what a model learns: rows, or samples.
type Maker[M Model, S any] struct {
	// New makes the model that learns some rows. Its parameters have their initial values. It is called at the
	// beginning of each training, for a forecast, and for the answers of a finished run, which fill in its parameters.
	// Top-n trains once, and calls it when the work is opened. A model that is computed at once is computed here.
	New func(learned S) (M, error)
	// Keep writes the reported model. It is called after the account. Nil: only its parameters are written.
	Keep func(m M) error

	Model M // that Make made last
}

// Make makes a new model in place of the last one.
func (k *Maker[M, S]) Make(learned S) error {
	k.Close()
	m, err := k.New(learned)
	if err == nil {
		k.Model = m
	}
	return err
}

// Load makes a model with the parameters of the finished run in dir.
func (k *Maker[M, S]) Load(dir string, learned S) error {
	if err := k.Make(learned); err != nil || len(k.Model.Params()) == 0 {
		return err
	}
	w, err := OpenModel(dir)
	if err != nil {
		return err
	}
	return w.Into(k.Model.Params())
}

// Save writes the model. One without parameters is computed again when it is asked.
func (k *Maker[M, S]) Save(env *run.Env) error {
	if k.Keep != nil {
		return k.Keep(k.Model)
	}
	return Keep(env, k.Model.Params(), nil)
}

// Close frees the memory of the model.
func (k *Maker[M, S]) Close() {
	Free(k.Model)
	k.Model = *new(M)
}
