// Package userinput describes users to networks over sessions: by their features, as DIPSGNN compares models, or by
// themselves alone. Source: Hu and Fang, arXiv 2309.11515, section 4.2.
package userinput

import (
	"fmt"
	"math"

	"privrec/internal/autograd"
	"privrec/internal/dataset"
	"privrec/internal/nn"
	"privrec/internal/tensor"
)

// Sources of user vectors.
const (
	Features = "features"
	ID       = "id"
)

// Clear codes every user's features (users, d0). It maps a number linearly to [-1,1]
// between the smallest and the largest of all users. A category becomes one indicator a level.
// A missing value is all zeros. Source: DIPSGNN, section 4.2, and its published program.
func Clear(f *dataset.Features) (tensor.Matrix, error) {
	if f == nil || f.Width() == 0 {
		return tensor.Matrix{}, fmt.Errorf("the data have no user features; set model.user_input to %q", ID)
	}
	if err := f.Complete(); err != nil {
		return tensor.Matrix{}, err
	}
	x := tensor.New(len(f.UserIDs), f.Width())
	at := 0
	for i := range f.Columns {
		c := &f.Columns[i]
		if c.Kind == dataset.Categorical {
			for u, code := range c.Codes {
				if code >= 0 {
					tensor.Row(x, u)[at+int(code)] = 1
				}
			}
			at += len(c.Levels)
			continue
		}
		scale, err := scaling(c)
		if err != nil {
			return tensor.Matrix{}, err
		}
		for u, v := range c.Numbers {
			if !math.IsNaN(v) {
				tensor.Row(x, u)[at] = tensor.Float(scale(v))
			}
		}
		at++
	}
	return x, nil
}

// scaling returns the map of a numeric column to [-1,1]. A constant column maps to 0. The
// bounds come from the data, as in the paper, and no noise protects them.
func scaling(c *dataset.Column) (func(float64) float64, error) {
	lo, hi, ok := c.Range()
	if !ok {
		return nil, fmt.Errorf("feature %q has no value for any user", c.Name)
	}
	mid, half := (hi+lo)/2, (hi-lo)/2
	if half == 0 {
		half = 1
	}
	return func(x float64) float64 { return min(1, max(-1, (x-mid)/half)) }, nil
}

// Input gives every sample the vector e_u of its user: the features times E_U, or a learned row for each user.
// Source: DIPSGNN, section 4.2, and the -U variants of its Figure 7.
type Input struct {
	Table    *autograd.Param // E_U (d0, d'), or one row a user (users, d')
	Features tensor.Matrix   // (users, d0); no columns: vectors are learned by user
}

// New returns vectors of a width for users. init fills the table "user".
func New(features tensor.Matrix, users, width int, init nn.Init) *Input {
	rows := users
	if features.Cols > 0 {
		rows = features.Cols
	}
	return &Input{Table: nn.NewParam("user", rows, width, init), Features: features}
}

// Vectors returns the vectors (len(users), d') of the given users.
func (u *Input) Vectors(t *autograd.Tape, users []int32) *autograd.Node {
	if u.Features.Cols == 0 {
		return t.Rows(u.Table, users)
	}
	x := t.Buffer(len(users), u.Features.Cols) // (B, d0)
	for i, user := range users {
		copy(tensor.Row(x, i), tensor.Row(u.Features, int(user)))
	}
	return t.Const(x).MatMul(t.Use(u.Table))
}
