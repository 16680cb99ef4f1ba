package nextitem

import (
	"privrec/internal/autograd"
	"privrec/internal/nn"
	"privrec/internal/tensor"
)

// UserInput gives every sample its user vector e_u. This is the features times E_U, or a
// learned row a user. Source: DIPSGNN, section 4.2, and the -U variants of its Figure 7.
type UserInput struct {
	Table    *autograd.Param // E_U (d0, d'), or one row a user (users, d')
	Features tensor.Matrix   // (users, d0); no columns: vectors are learned by user
}

// NewUserInput makes vectors of a width for users. init fills the table "user".
func NewUserInput(features tensor.Matrix, users, width int, init nn.Init) *UserInput {
	rows := users
	if features.Cols > 0 {
		rows = features.Cols
	}
	return &UserInput{Table: nn.NewParam("user", rows, width, init), Features: features}
}

// Vectors returns the vectors (len(users), d') of the given users.
func (u *UserInput) Vectors(t *autograd.Tape, users []int32) *autograd.Node {
	if u.Features.Cols == 0 {
		return t.Rows(u.Table, users)
	}
	x := t.Buffer(len(users), u.Features.Cols) // (B, d0)
	for i, user := range users {
		copy(tensor.Row(x, i), tensor.Row(u.Features, int(user)))
	}
	return t.Const(x).MatMul(t.Use(u.Table))
}
