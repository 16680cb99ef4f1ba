package topn

import (
	"context"
	"fmt"
	"math"
	"slices"

	"privrec/internal/autograd"
	"privrec/internal/eval"
	"privrec/internal/experiment"
	"privrec/internal/run"
	"privrec/internal/tensor"
)

// hasInputs is a model whose users have inputs besides parameters, such as features.
type hasInputs interface {
	// Inputs returns one row for each user, which may be changed between releases, and a description of a row.
	Inputs() (rows tensor.Matrix, what string)
}

// Deploy implements experiment.Deploying. It rebuilds the model with the parameters of the checkpoint, and fails unless
// it releases the same as the run did.
func (a *answers) Deploy(_ context.Context, release string) (*experiment.Deployed, error) {
	x := a.x
	kind, err := a.kind(release)
	if err != nil {
		return nil, err
	}
	if x.New == nil {
		return nil, &run.UsageError{Message: "the run keeps a table of vectors or a closed form, and nothing that " +
			"computes from the inputs of users",
			Fix: "ask a model that trains by epochs, such as train lightgcn, or take evidence that is in scores and " +
				"vectors"}
	}
	if err := x.Make(x.Graph); err != nil {
		return nil, err
	}
	params := x.Model.Params()
	w, err := experiment.OpenParameters(x.Env.Dir)
	if err != nil {
		return nil, err
	}
	if err := w.Into(params); err != nil {
		return nil, err
	}
	d := experiment.Deployed{}
	if m, ok := x.Model.(hasInputs); ok {
		d.Inputs, d.What = m.Inputs()
	} else {
		at := slices.IndexFunc(params,
			func(p *autograd.Param) bool { return p.Name == "user" && p.Value.Rows == x.Data.Users })
		if at < 0 {
			return nil, fmt.Errorf("deploy the run in %s: %s has no rows of users", x.Env.Dir, x.Method.Name)
		}
		d.Inputs, d.What = params[at].Value, "the user's row of layer 0"
	}
	if err := x.sameAgain(kind); err != nil {
		return nil, err
	}
	if x.Fresh != nil {
		d.Noise = x.Fresh(kind)
	}
	first := callAtEnd(x.Method.Train.Epochs, len(x.Method.releases()))
	d.Answer = func(n int) (experiment.Vectors, eval.Scorer, error) {
		v, err := x.release(kind, first+Call(n))
		if err != nil {
			return v, nil, err
		}
		s, err := x.scorer(v)
		return v, s, err
	}
	return experiment.NewDeployed(d, x.Close), nil
}

// mostApart bounds the difference between two builds of one model, relative to the largest number: other kernels round
// differently.
const mostApart = 1e-3

// sameAgain fails if the rebuilt model does not release the same as the run did, including the noise.
func (x *Experiment) sameAgain(kind string) error {
	was, err := experiment.OpenVectors(x.Env.Dir, kind, x.Data.Users, x.Data.Items)
	if err != nil {
		return err
	}
	now, err := x.release(kind, callAtEnd(x.Method.Train.Epochs, slices.Index(x.Method.releases(), kind)))
	if err != nil {
		return err
	}
	for _, side := range [][2]tensor.Matrix{{was.Users, now.Users}, {was.Items, now.Items}} {
		worst, largest := 0.0, 0.0
		if side[0].Rows != side[1].Rows || side[0].Cols != side[1].Cols {
			worst = math.Inf(1)
		}
		for i := 0; i < side[0].Rows && !math.IsInf(worst, 1); i++ {
			for k, v := range tensor.Row(side[0], i) {
				worst = max(worst, math.Abs(float64(v-tensor.Row(side[1], i)[k])))
				largest = max(largest, math.Abs(float64(v)))
			}
		}
		if !(worst <= mostApart*largest) {
			return &run.UsageError{Message: fmt.Sprintf("the run's checkpoint does not give the vectors that the run "+
				"released: they differ by up to %.3g where the largest number is %.3g", worst, largest),
				Fix: "train again with another --out; a run whose noise has no seed cannot be made again"}
		}
	}
	return nil
}
