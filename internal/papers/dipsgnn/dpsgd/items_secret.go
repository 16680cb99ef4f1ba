package dpsgd

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"path/filepath"

	"privrec/internal/privacy"
	"privrec/internal/privacy/mechanism/secure"
	"privrec/internal/protocol/nextitem"
	"privrec/internal/rng"
	"privrec/internal/run"
	"privrec/internal/tensor"
)

// ReleasedFile names the file of the released items of all positions, in safetensors format. A run with secure noise
// keeps it, since other noise would be a second release.
const ReleasedFile = "released.safetensors"

// secretItems returns the mechanism that releases items with noise from cryptographic bits, on a grid of at most 2^26
// steps to a deviation. A code is a vector of whole steps not longer than C, so one interaction more or less moves the
// release by at most C, with nothing left out for rounding, and another item by 2 C. The release is stated as one on a
// sample of everything, since discrete noise on samples has an exact account.
func (c Config) secretItems() (secure.DiscreteGaussian, error) {
	law, err := c.items()
	if err != nil {
		return secure.DiscreteGaussian{}, err
	}
	_, e := math.Frexp(law.Sigma)
	return secure.DiscreteGaussian{Purpose: purposeItems, Sigma: law.Sigma, Sensitivity: law.Sensitivity,
		Dimension: int64(max(c.Model.Dim, 2)),
		Bound:     c.Model.Norm, Grid: math.Ldexp(1, e-26), Whole: true, Unit: law.Unit, Neighbouring: law.Neighbouring,
		Share: law.Share, Rate: 1}, nil
}

// secretCodes returns a vector of whole steps for every item (items+1, d), row 0 unused. They have the directions of
// codes, and are not longer than C.
func secretCodes(items, d int, norm, step float64, s rng.Stream) ([]int64, error) {
	out, z := make([]int64, (items+1)*d), make([]float64, d)
	radius := math.Floor(norm / step)
	if radius > 1<<30 {
		return nil, fmt.Errorf("items: codes of %g steps, want at most 2^30: privacy.epsilon is too small", radius)
	}
	limit := int64(radius) * int64(radius)
	for i := 1; i <= items; i++ {
		of := s.Sub(uint64(i))
		of.Normals64(z)
		sq := 0.0
		for _, v := range z {
			sq += v * v
		}
		whole := int64(0)
		for k, v := range z {
			x := int64(v * radius * (1 - 1e-9) / math.Sqrt(sq)) // towards zero
			out[i*d+k] = x
			whole += x * x
		}
		if whole > limit {
			return nil, fmt.Errorf("items: the code of item %d has squared length %d, want at most %d", i, whole, limit)
		}
	}
	return out, nil
}

// releaseSecretly releases the items of all positions with secure noise, or returns the release of an earlier attempt.
// The release is on file, and in the ledger, before anything is computed from it.
func releaseSecretly(x *nextitem.Experiment, c Config, once *privacy.Ledger, env *run.Env) (*released, error) {
	m, err := c.secretItems()
	if err != nil {
		return nil, err
	}
	r, positions := lay(x.Data.Train, x.Data.Test, tensor.New(x.Items+1, c.Model.Dim))
	r.scale = scaleOf(c.Model.Norm, m.Sigma, c.Model.Dim)
	if err := once.Bound(purposeItems, 1); err != nil {
		return nil, err
	}
	if _, finished := env.Finished(); finished || env.Resume {
		found, err := r.read(env)
		switch {
		case err != nil:
			return nil, err
		case found: // the ledger's lines of that attempt are kept with those of its steps
			return r, nil
		case finished || env.ReleasedForGood():
			return nil, run.WithHint(fmt.Errorf("the run in %s has no %s: other noise would be a second release",
				env.Dir, ReleasedFile), "train again with another --out")
		}
	}
	code, err := secretCodes(x.Items, c.Model.Dim, c.Model.Norm, m.Grid, env.Seed.Stream("dpsgd.codes"))
	if err != nil {
		return nil, err
	}
	ch, err := secure.OpenGaussian[float64](m, once)
	if err != nil {
		return nil, err
	}
	items := positions.items(x.Data.Train, x.Data.Test)
	d := c.Model.Dim
	rel, err := ch.Start(positions.sequence, r.rows.Rows, d, 0)
	if err == nil {
		err = once.Show()
	}
	if err != nil {
		return nil, err
	}
	tensor.Parallel(r.rows.Rows, 16, func(_, lo, hi int) {
		row := make([]float64, d)
		for i := lo; i < hi; i++ {
			for k := range row {
				row[k] = float64(code[int(items[i])*d+k]) * m.Grid // exact
			}
			rel.RowAt(i, row, int(positions.part[i]), uint64(positions.at[i]))
			for k, v := range row {
				tensor.Row(r.rows, i)[k] = tensor.Float(v)
			}
		}
	})
	if err := errors.Join(rel.Finish(), ch.Check(), once.Flush("before training")); err != nil || !env.Writes() {
		return r, err
	}
	return r, env.WriteArtefact(ReleasedFile, func(w io.Writer) error {
		return run.WriteSafetensors(w, []run.NamedTensor{run.MatrixTensor(purposeItems, r.rows)},
			map[string]string{"configuration": env.ConfigHash})
	})
}

// items returns the item of every position.
func (p places) items(train, test [][]int32) []int32 {
	out := make([]int32, 0, len(p.part))
	for _, part := range [][][]int32{train, test} {
		for _, s := range part {
			out = append(out, s...)
		}
	}
	return out
}

// read reads the rows that an earlier attempt released from its file. found is false if there is no such file.
func (r *released) read(env *run.Env) (found bool, err error) {
	path := filepath.Join(env.Dir, ReleasedFile)
	tensors, meta, err := run.ReadSafetensors(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err == nil && (meta["configuration"] != env.ConfigHash || len(tensors) != 1 || tensors[0].Name != purposeItems) {
		err = errors.New("it is of another configuration")
	}
	if err == nil {
		err = tensors[0].CopyTo(r.rows)
	}
	if err != nil {
		return false, run.WithHint(fmt.Errorf("read what was released: %s: %w", path, err),
			"train again with another --out")
	}
	return true, nil
}
