package dipsgnn

import (
	"privrec/internal/autograd"
	"privrec/internal/nn"
	"privrec/internal/tensor"
)

// userInput gives every sample its user vector e_u: perturbed features times
// E_U, or a learned row a user (Figure 7's -U variants).
type userInput struct {
	table    *autograd.Param // E_U (d0, d'), or one row a user (users, d')
	features tensor.Matrix   // (users, d0); no columns: vectors are learned by user
}

func newUserInput(features tensor.Matrix, users, width int, init nn.Init) *userInput {
	rows := users
	if features.Cols > 0 {
		rows = features.Cols
	}
	return &userInput{table: nn.NewParam("user", rows, width, init), features: features}
}

// vectors returns the user vectors (len(users), d') of the given users.
func (u *userInput) vectors(t *autograd.Tape, users []int32) *autograd.Node {
	if u.features.Cols == 0 {
		return t.Rows(u.table, users)
	}
	x := t.Buffer(len(users), u.features.Cols) // (B, d0)
	for i, user := range users {
		copy(tensor.Row(x, i), tensor.Row(u.features, int(user)))
	}
	return t.Const(x).MatMul(t.Use(u.table))
}
