package train

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"privrec/internal/autograd"
	"privrec/internal/tensor"
)

// Checkpoint holds the whole state of a run between two steps.
type Checkpoint struct {
	State   json.RawMessage        // position, history, early stopping, the caller's extra; opaque to a store
	Tensors []autograd.NamedTensor // "param/<name>", "best/<name>" and "optim/<name>"
}

// Store keeps one checkpoint. Save replaces the previous checkpoint whole or not at all. It must not use the tensors
// after it has returned, since they are the live ones. Load reports false if there is no checkpoint; the checkpoint
// that it returns belongs to the caller.
type Store interface {
	Save(*Checkpoint) error
	Load() (*Checkpoint, bool, error)
}

// Prefixes of the tensors of a checkpoint.
const (
	prefixParam = "param/"
	prefixBest  = "best/"
	prefixOptim = "optim/"
)

const stateVersion = 1

// bits is a float64 that is written by its bits, so that text cannot round it.
type bits float64

// MarshalText writes the bits as 16 hexadecimal digits.
func (b bits) MarshalText() ([]byte, error) {
	return fmt.Appendf(nil, "%016x", math.Float64bits(float64(b))), nil
}

// UnmarshalText parses the digits that MarshalText wrote.
func (b *bits) UnmarshalText(text []byte) error {
	u, err := strconv.ParseUint(string(text), 16, 64)
	if err != nil || len(text) != 16 {
		return fmt.Errorf("%q is not 16 hexadecimal digits", text)
	}
	*b = bits(math.Float64frombits(u))
	return nil
}

// identity holds what must agree between a checkpoint and the run that continues from it.
type identity struct {
	Samples   int       `json:"samples"`
	BatchSize int       `json:"batch_size"`
	DropLast  bool      `json:"drop_last"`
	Shuffle   bool      `json:"shuffle"`
	Seed      uint64    `json:"seed"`
	Epochs    int       `json:"epochs"`
	Select    Selection `json:"select"`
	Float     int       `json:"float_bits"`
	Tag       string    `json:"tag"`
}

func (o *Options) identity() identity {
	return identity{
		Samples: o.samples(), BatchSize: o.BatchSize, DropLast: o.DropLast, Shuffle: o.Shuffle, Seed: uint64(o.Seed),
		Epochs: o.Epochs, Select: o.Select, Float: floatBits, Tag: o.Tag,
	}
}

// diff returns an error that names the first field in which two identities differ.
func (a identity) diff(b identity) error {
	for _, f := range []struct {
		name     string
		old, now any
	}{
		{"samples", a.Samples, b.Samples}, {"batch size", a.BatchSize, b.BatchSize},
		{"drop last", a.DropLast, b.DropLast},
		{"shuffle", a.Shuffle, b.Shuffle}, {"seed", a.Seed, b.Seed}, {"epochs", a.Epochs, b.Epochs},
		{"selection", a.Select, b.Select}, {"float bits", a.Float, b.Float}, {"configuration", a.Tag, b.Tag},
	} {
		if f.old != f.now {
			return fmt.Errorf("checkpoint of another run: %s is %v there and %v here", f.name, f.old, f.now)
		}
	}
	return nil
}

// progress holds the position of a run: between two steps, or between an epoch's last step and its validation.
type progress struct {
	Version  int           `json:"version"`
	Identity identity      `json:"identity"`
	Epoch    int           `json:"epoch"` // the one under way; Epochs when all are done
	Batch    int           `json:"batch"` // batches done in it
	Step     int           `json:"step"`  // steps done in all
	Seen     int           `json:"seen"`  // samples done in the epoch
	LossSum  bits          `json:"loss_sum"`
	History  []EpochRecord `json:"history"`
	Stop     stopState     `json:"stop"`
	Best     int           `json:"best"` // selected epoch, -1 while there is none
	Done     bool          `json:"done"`
	Extra    []byte        `json:"extra,omitempty"` // of Options.Extra; empty outside a checkpoint
}

// Position returns the position of a checkpoint, for messages: the epoch, the batch, the step and whether the run is
// done.
func (c *Checkpoint) Position() (epoch, batch, step int, done bool, err error) {
	p, err := c.progress()
	return p.Epoch, p.Batch, p.Step, p.Done, err
}

func (c *Checkpoint) progress() (progress, error) {
	var p progress
	d := json.NewDecoder(strings.NewReader(string(c.State)))
	d.DisallowUnknownFields()
	if err := d.Decode(&p); err != nil {
		return p, fmt.Errorf("checkpoint: state: %w", err)
	}
	if p.Version != stateVersion {
		return p, fmt.Errorf("checkpoint: version %d, this program reads %d", p.Version, stateVersion)
	}
	return p, nil
}

// History returns the records of the epochs that a checkpoint has completed.
func (c *Checkpoint) History() ([]EpochRecord, error) {
	p, err := c.progress()
	return p.History, err
}

// Selected copies a checkpoint's selected parameters into params: those of the best epoch if the run selects by
// validation and has one, else the last. On an error it has changed nothing. Within an epoch the last parameters may
// lack updates that a lazy optimiser has not made yet; between epochs they are complete.
func (c *Checkpoint) Selected(params []*autograd.Param) error {
	p, err := c.progress()
	if err != nil {
		return err
	}
	prefix := prefixParam
	if p.Identity.Select == SelectBest && p.Best >= 0 {
		prefix = prefixBest
	}
	values, err := c.match(prefix, params)
	if err != nil {
		return err
	}
	for i, v := range values {
		copyMatrix(params[i].Value, v)
	}
	return nil
}

// match returns the tensors with a prefix that belong to params. It fails on missing or surplus names and on other
// shapes, with the name.
func (c *Checkpoint) match(prefix string, params []*autograd.Param) ([]tensor.Matrix, error) {
	found := map[string]tensor.Matrix{}
	for _, t := range c.Tensors {
		if name, ok := strings.CutPrefix(t.Name, prefix); ok {
			if _, twice := found[name]; twice {
				return nil, fmt.Errorf("checkpoint: tensor %q occurs twice", t.Name)
			}
			found[name] = t.Value
		}
	}
	values := make([]tensor.Matrix, len(params))
	for i, p := range params {
		v, ok := found[p.Name]
		if !ok {
			return nil, fmt.Errorf("checkpoint: tensor %q is missing", prefix+p.Name)
		}
		if v.Rows != p.Value.Rows || v.Cols != p.Value.Cols {
			return nil, fmt.Errorf("checkpoint: tensor %q is %dx%d, the model's parameter is %dx%d",
				prefix+p.Name, v.Rows, v.Cols, p.Value.Rows, p.Value.Cols)
		}
		values[i] = v
		delete(found, p.Name)
	}
	for _, t := range c.Tensors { // in order, so that the message is always the same
		if name, ok := strings.CutPrefix(t.Name, prefix); ok {
			if _, left := found[name]; left {
				return nil, fmt.Errorf("checkpoint: tensor %q belongs to no parameter of the model", t.Name)
			}
		}
	}
	return values, nil
}

// withPrefix returns the tensors whose names have a prefix, without it.
func (c *Checkpoint) withPrefix(prefix string) []autograd.NamedTensor {
	var list []autograd.NamedTensor
	for _, t := range c.Tensors {
		if name, ok := strings.CutPrefix(t.Name, prefix); ok {
			list = append(list, autograd.NamedTensor{Name: name, Value: t.Value})
		}
	}
	return list
}

// checkPrefixes returns an error for a tensor that belongs to no part of a run.
func (c *Checkpoint) checkPrefixes() error {
	for _, t := range c.Tensors {
		if !slices.ContainsFunc([]string{prefixParam, prefixBest, prefixOptim},
			func(p string) bool { return strings.HasPrefix(t.Name, p) }) {
			return fmt.Errorf("checkpoint: unknown tensor %q", t.Name)
		}
	}
	return nil
}

func copyMatrix(dst, src tensor.Matrix) {
	for i := range dst.Rows {
		copy(tensor.Row(dst, i), tensor.Row(src, i))
	}
}

func cloneMatrix(m tensor.Matrix) tensor.Matrix {
	c := tensor.New(m.Rows, m.Cols)
	copyMatrix(c, m)
	return c
}
