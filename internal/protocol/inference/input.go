package inference

import (
	"fmt"

	"privrec/internal/tensor"
)

// input describes what an attacker sees of the users. A floor that several targets share is one input.
type input struct {
	sees   string // empty: nothing, the input of the majority
	target int    // of victims
	k      int    // 0: without lists
}

// inputs lists the inputs to measure: nothing, each distinct set of interactions alone, then those that the
// configuration asks for.
func (c Config) inputs(v *victims) (all []input) {
	all = append(all, input{})
	for i, t := range v.targets {
		if t.had != nil && t.same == i {
			all = append(all, input{sees: SeesInteractions, target: i})
		}
	}
	for i := range v.targets {
		for _, sees := range c.Attack.Sees {
			switch sees {
			case SeesInteractions: // measured above
			case SeesVectors:
				all = append(all, input{sees: sees, target: i})
			default:
				for _, k := range c.Attack.K {
					all = append(all, input{sees: sees, target: i, k: k})
				}
			}
		}
	}
	return all
}

// text returns a name of an input for readers.
func (in input) text() string {
	switch {
	case in.sees == "":
		return "nothing"
	case in.k > 0:
		return fmt.Sprintf("%s, K = %d", in.sees, in.k)
	}
	return in.sees
}

// rows returns the input of some attacked users, one row each. Interactions and lists are sums of the one-hot vectors
// of their items. An item in both counts once, so entries are 0 or 1.
func (v *victims) rows(in input, users []int32) tensor.Matrix {
	t := v.targets[in.target]
	switch in.sees {
	case "":
		return tensor.New(len(users), 1)
	case SeesVectors:
		x := tensor.New(len(users), t.vectors.Cols)
		for i, u := range users {
			copy(tensor.Row(x, i), tensor.Row(t.vectors, int(u)))
		}
		return x
	}
	x := tensor.New(len(users), v.items)
	for i, u := range users {
		row := tensor.Row(x, i)
		if in.sees != SeesLists {
			for _, c := range t.had[u] {
				row[c] = 1
			}
		}
		if in.sees != SeesInteractions {
			for _, c := range t.lists[u][:in.k] {
				row[c] = 1
			}
		}
	}
	return x
}
