package features

import (
	"fmt"

	"privrec/internal/dataset"
	"privrec/internal/privacy"
	"privrec/internal/privacy/mechanism"
	"privrec/internal/privacy/mechanism/local"
	"privrec/internal/rng"
	"privrec/internal/tensor"
)

// Release returns the features of all users, each user's perturbed once. once is the ledger of releases before training
// ([run.Env.Once]), and noise gives the stream of a purpose ([run.Env.Noise] of the paper). The events are in the
// ledger before a value changes. The rows depend only on the data, the configuration and the streams, so a resumed run
// gets the same rows and releases nothing new: checkpoints need not hold them. With noise none the table is in the
// clear, as Account declares.
func (c Config) Release(x *dataset.Interactions, once *privacy.Ledger,
	noise func(purpose string) (rng.Stream, error)) (*Table, error) {
	t, err := c.clear(x)
	if err != nil || c.Noise == NoiseNone {
		return t, err
	}
	if err := c.perturb(t, once, noise); err != nil {
		return nil, err
	}
	return t, once.Flush("before training")
}

// clear returns the features of all users in the clear.
func (c Config) clear(x *dataset.Interactions) (*Table, error) {
	if c.Form == FormAttributes {
		return ClearAttributes(x)
	}
	return Clear(x, c.Range == RangeMinMax)
}

// perturb replaces the rows of a table by users' reports: in form table some features of the row, in form attributes
// every attribute under its own budget.
func (c Config) perturb(t *Table, once *privacy.Ledger, noise func(purpose string) (rng.Stream, error)) error {
	if c.Form != FormAttributes {
		s, err := noise(purpose)
		if err != nil {
			return err
		}
		if err := local.DrawFeatures(c.sampler(t.Kinds), once, mechanism.Keyed(s), t.X.Data); err != nil {
			return fmt.Errorf("perturb user features: %w", err)
		}
		return nil
	}
	at := 0
	for _, k := range t.Kinds {
		o := c.oracle(k.Name, k.Categories, mechanism.Share(1)/mechanism.Share(len(t.Kinds)))
		s, err := noise(o.Purpose)
		if err != nil {
			return err
		}
		if err := perturbAttribute(o, k, once, mechanism.Keyed(s),
			tensor.ColsView(t.X, at, at+k.Categories)); err != nil {
			return fmt.Errorf("perturb user features: %w", err)
		}
		at += k.Categories
	}
	return nil
}

// perturbAttribute replaces the one-hot vectors of an attribute by its reports: the vector of the category from
// randomised response, or the bits of unary encoding.
func perturbAttribute(o local.Oracle, k local.FeatureKind, l *privacy.Ledger, b mechanism.Bits, v tensor.Matrix) error {
	if o.Kind == local.OUE {
		f := local.FeatureSampler{Purpose: o.Purpose, Epsilon: o.Epsilon, Features: []local.FeatureKind{k},
			Share: o.Share}
		bits := make([]tensor.Float, 0, v.Rows*v.Cols)
		for u := range v.Rows {
			bits = append(bits, tensor.Row(v, u)...)
		}
		if err := local.DrawFeatures(f, l, b, bits); err != nil {
			return err
		}
		for u := range v.Rows {
			copy(tensor.Row(v, u), bits[u*v.Cols:])
		}
		return nil
	}
	codes := make([]int32, v.Rows)
	for u := range codes {
		for i, one := range tensor.Row(v, u) {
			if one == 1 {
				codes[u] = int32(i)
			}
		}
	}
	m := local.Response{Purpose: o.Purpose, Epsilon: o.Epsilon, Categories: int64(k.Categories), Unit: privacy.Feature,
		Share: o.Share}
	if err := local.PerturbResponses(m, l, b, codes); err != nil {
		return err
	}
	for u, code := range codes {
		clear(tensor.Row(v, u))
		tensor.Row(v, u)[code] = 1
	}
	return nil
}
