package crossdomain

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"

	"privrec/internal/autograd"
	"privrec/internal/dataset"
	"privrec/internal/dataset/registry"
	"privrec/internal/experiment"
	"privrec/internal/rng"
	"privrec/internal/run"
)

// Name is the protocol in results.
const Name = "cross-domain"

// Experiment is one model on one ordered pair of domains. Load makes it; the method sets the exported fields after the
// data.
type Experiment struct {
	Method   string
	Standing experiment.Standing
	Single   bool // the auxiliary domain has no part in the model
	Training Training
	// Paper holds the paper's printed values for the setting, by metric; nil: none.
	Paper   map[string]float64
	Printed string   // where
	Notes   []string // for the result, after those of the data

	experiment.Core
	experiment.Maker[Model, *Rows]
	Data *dataset.Cross

	length        int
	eval          Eval
	tuning, final *Rows // without and with validation items
	valid, test   *held
	lists         string // hash of what rows are ranked among
	tape          *autograd.Tape
}

// Load reads the data and checks that they can be ranked.
func Load(ctx context.Context, env *run.Env, c Data, e Eval) (*Experiment, error) {
	defer env.Stage("load " + c.Name)()
	d, err := registry.LoadCross(ctx, c.Name, c.Target, c.Auxiliary, env.View(), registry.Options{})
	if err != nil {
		return nil, err
	}
	target := &d.Domains[0]
	for _, v := range []struct {
		what string
		rows []int32
	}{{"test", target.Test}, {"validation", target.Valid}} {
		if !slices.ContainsFunc(v.rows, func(i int32) bool { return i != 0 }) {
			return nil, &dataset.Error{File: d.Name, Msg: fmt.Sprintf("the split leaves no %s rows of %s", v.what,
				target.Name)}
		}
	}
	if err := experiment.CheckCutoffs([]int{slices.Max(e.K)}, target.Items, "of "+target.Name); err != nil {
		return nil, err
	}
	x := &Experiment{Core: experiment.Core{Env: env}, Data: d, length: c.Length, eval: e, tape: autograd.NewTape()}
	return x, errors.Join(env.Private(d.Rows()), env.RecordData(d.Source.Title, d.Source.Hash))
}

// Cut makes the rows of both trainings and the candidates of held-out rows. auxiliary holds Data.Length columns a user;
// nil: there are none.
func (x *Experiment) Cut(auxiliary []int32) error {
	target := &x.Data.Domains[0]
	x.tuning, x.final = x.rows("tuning", auxiliary, false), x.rows("final", auxiliary, true)
	ids := x.Data.UserIDs
	if x.Env.View().ByPlace {
		ids = nil
	}
	lists, err := target.Lists(x.eval.Negatives, rng.Seed(x.eval.NegativesSeed), ids)
	if err != nil {
		return &run.UsageError{Message: err.Error(), Fix: "take fewer, by eval.negatives"}
	}
	x.lists = hashLists(lists)
	all := make([][]int32, x.Data.Users)
	for u := range all {
		all[u] = target.Train[u]
		if v := target.Valid[u]; v != 0 {
			all[u] = append(slices.Clip(all[u]), v)
		}
	}
	x.valid = newHeld("validation", target.Valid, lists, target.Train)
	x.test = newHeld("test", target.Test, lists, all)
	return nil
}

// Rows returns the rows of both trainings: without and with validation items.
func (x *Experiment) Rows() (tuning, final *Rows) { return x.tuning, x.final }

// rows returns the rows of the tuning (without validation items) or of the final training. In the target domain it
// leaves out only a validation item, and not the last training item of users without one.
func (x *Experiment) rows(name string, auxiliary []int32, final bool) *Rows {
	target := &x.Data.Domains[0]
	p := &Rows{Name: name, Cols: x.length - 1}
	p.Cells[0] = target.Matrix(p.Cols, final)
	if auxiliary != nil {
		p.Cells[1] = cut(auxiliary, x.length, final)
	}
	p.Known = make([]bool, target.Items+1)
	for _, i := range p.Cells[0] {
		p.Known[i] = true
	}
	p.Known[0] = false
	return p
}

// cut removes one column, the same for every user, so that it tells nothing beyond the released rows: the last one,
// where validation items stand, for the training that validation measures, and the first one for the training on all
// rows.
func cut(rows []int32, length int, first bool) []int32 {
	out := make([]int32, 0, len(rows)/length*(length-1))
	lo, hi := 0, length-1
	if first {
		lo, hi = 1, length
	}
	for at := 0; at < len(rows); at += length {
		out = append(out, rows[at+lo:at+hi]...)
	}
	return out
}

// hashLists returns a hash of the candidates of every row.
func hashLists(lists [][]int32) string {
	h := sha256.New()
	for u, l := range lists {
		binary.Write(h, binary.LittleEndian, int32(u))
		binary.Write(h, binary.LittleEndian, l)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Run implements run.Work: it trains, chooses the epoch on validation, trains again on all rows, ranks and accounts.
func (x *Experiment) Run(ctx context.Context) error {
	return experiment.Steps[*Outcome]{Fit: x.training().Run, Measure: x.measure, Keep: x.Save,
		Document: x.document}.Run(ctx, &x.Core)
}
