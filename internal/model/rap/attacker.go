package rap

import (
	"fmt"

	"privrec/internal/autograd"
	"privrec/internal/nn"
	"privrec/internal/tensor"
)

// Attacker infers attributes of users from items.
type Attacker struct {
	Item  *autograd.Param // e, one row per item (items, d)
	GRU   *nn.GRUCell     // input d, state d
	Heads []*nn.Linear    // W_t and b_t, one per attribute
}

// New returns an attacker of width dim on attributes with the given numbers of classes. init fills its parameters by
// name.
func New(items, dim int, classes []int, init nn.Init) *Attacker {
	a := &Attacker{
		Item: nn.NewParam("attacker.item", items, dim, init),
		GRU:  nn.NewGRUCell("attacker.gru", dim, dim, nn.ResetAfter, nn.GateKeep, init),
	}
	for k, c := range classes {
		a.Heads = append(a.Heads, nn.NewLinear(fmt.Sprintf("attacker.head%d", k), dim, c, true, init))
	}
	return a
}

// Params returns the parameters in a fixed order.
func (a *Attacker) Params() []*autograd.Param {
	all := append([]*autograd.Param{a.Item}, a.GRU.Params()...)
	for _, h := range a.Heads {
		all = append(all, h.Params()...)
	}
	return all
}

// Reading holds the attacker's input about B users besides their lists, and the classes to infer.
type Reading struct {
	Items  [][]int32 // a user's interactions, in the order in which they are read; may be empty
	Labels [][]int32 // by attribute: the class of each user
}

// Loss returns L_A (1, 1). w (B, items) holds the weights of all items in the users' lists.
func (a *Attacker) Loss(t *autograd.Tape, r Reading, w *autograd.Node) *autograd.Node {
	logits := a.Infer(t, r, w)
	sum := logits[0].CrossEntropy(r.Labels[0])
	for k, x := range logits[1:] {
		sum = sum.Add(x.CrossEntropy(r.Labels[k+1]))
	}
	return sum.Scale(1 / float64(len(logits)))
}

// Infer returns the logits of (4) for each attribute (B, classes). It does not read r.Labels.
func (a *Attacker) Infer(t *autograd.Tape, r Reading, w *autograd.Node) []*autograd.Node {
	z := w.MatMul(t.Use(a.Item))                 // (B, d)
	h := a.GRU.Forward(t, z, a.read(t, r.Items)) // (B, d)
	logits := make([]*autograd.Node, len(a.Heads))
	for k, head := range a.Heads {
		logits[k] = head.Forward(t, h)
	}
	return logits
}

// read returns the state after a user's interactions (B, d), zero for a user without any. All
// users end at the same position. A user with fewer interactions than others begins later.
func (a *Attacker) read(t *autograd.Tape, items [][]int32) *autograd.Node {
	b, d := len(items), a.Item.Value.Cols
	length := 0
	for _, list := range items {
		length = max(length, len(list))
	}
	h := t.Const(t.BufferZero(b, d))
	if length == 0 {
		return h
	}
	x := a.GRU.Input(t, t.Rows(a.Item, lay(items, length))) // (length·B, 3d), position by position
	for p := range length {
		next := a.GRU.Step(t, x.SliceRows(p*b, (p+1)*b), h)
		begun, all := t.Buffer(b, 1), true
		for u, list := range items {
			begun.Data[u] = 1
			if p < length-len(list) {
				begun.Data[u], all = 0, false
			}
		}
		if all {
			h = next
		} else {
			h = next.MulCol(t.Const(begun)) // a user who has not begun is still at zero
		}
	}
	return h
}

// lay returns the items of all users at the first position, then at the second, and so on. A user who has not begun has
// item 0 there, which the mask of read removes.
func lay(items [][]int32, length int) []int32 {
	flat := make([]int32, 0, length*len(items))
	for p := range length {
		for _, list := range items {
			item := int32(0)
			if k := p - (length - len(list)); k >= 0 {
				item = list[k]
			}
			flat = append(flat, item)
		}
	}
	return flat
}

// Outside is added to the score of an item outside of the list: its weight becomes 0.
const Outside = -1e30

// Weights returns w (B, items) of equation 1. users (B, d) and items (items, d) hold the
// vectors, and temperature is τ. list (B, items) is 0 for the items of T(u) and Outside for the
// others.
func Weights(users, items *autograd.Node, list tensor.Matrix, temperature float64) *autograd.Node {
	return users.MatMulT(items).Scale(1 / temperature).Add(users.Tape().Const(list)).Softmax()
}

// Against returns L_A (1, 1) on the tape of the weights w, for a recommender to raise. Its gradient goes to w alone,
// since the attacker's parameters are fixed there. own is a tape of the attacker. Against resets it, and it must stay
// unchanged until the other tape is done.
func (a *Attacker) Against(own *autograd.Tape, r Reading, w *autograd.Node) *autograd.Node {
	own.Reset()
	fixed := &autograd.Param{Name: "weights", Value: w.V}
	loss := a.Loss(own, r, own.Use(fixed))
	own.Backward(loss)
	t := w.Tape()
	y := t.Fused("attacker", 1, 1, w)
	y.V.Data[0] = loss.V.Data[0]
	slope, _ := own.Grads().Dense(fixed) // valid until own is reset, which is after this step
	return t.Custom("attacker", y, func() { tensor.Axpy(y.G.Data[0], slope.Data, w.AddGrad().Data) })
}
