package features

import (
	"fmt"

	"privrec/internal/dataset"
	"privrec/internal/privacy/mechanism/local"
	"privrec/internal/tensor"
)

// Table holds the features of all users in the clear.
type Table struct {
	X     tensor.Matrix // (users, values), numbers in [-1, 1] and one-hot vectors
	Kinds []local.FeatureKind
}

// Clear returns Table 1 of the training ratings and the attributes of all users: (users, 44). With minMax it maps each
// number from the minimum and maximum over all users to [-1, 1], and a constant to 0. A rating of 0 has an unknown
// level. It fails, with a *dataset.Error, on data without ratings, on a rating that is not a whole number from 0 to 5,
// and where Attributes does.
func Clear(x *dataset.Interactions, minMax bool) (*Table, error) {
	attributes, err := Attributes(x.Features)
	if err != nil {
		return nil, err
	}
	if x.Ratings == nil {
		return nil, &dataset.Error{File: x.Name, Field: "rating", Msg: "recipe " + x.Recipe +
			" keeps no ratings to make features of", Hint: "choose recipe gerai"}
	}
	if err := aligned(x); err != nil {
		return nil, err
	}
	t := newTable(x.Users, Kinds(attributes))
	row := make([]float64, Numbers)
	for u, ratings := range x.Ratings {
		counts, err := countLevels(x, u, ratings)
		if err == nil {
			err = Statistics(counts, x.Items, row)
		}
		if err != nil {
			return nil, &dataset.Error{File: x.Name, Field: "rating", Msg: fmt.Sprintf("user %q", x.UserIDs[u]),
				Err: err}
		}
		for k, v := range row {
			tensor.Row(t.X, u)[k] = tensor.Float(v)
		}
	}
	if minMax {
		t.stretch()
	}
	t.encode(Numbers, attributes)
	return t, nil
}

// ClearAttributes returns the one-hot vectors of the attributes alone: (users, 26).
func ClearAttributes(x *dataset.Interactions) (*Table, error) {
	attributes, err := Attributes(x.Features)
	if err != nil {
		return nil, err
	}
	if err := aligned(x); err != nil {
		return nil, err
	}
	t := newTable(x.Users, attributeKinds(attributes))
	t.encode(0, attributes)
	return t, nil
}

func newTable(users int, kinds []local.FeatureKind) *Table {
	return &Table{tensor.New(users, local.FeatureSampler{Features: kinds}.Width()), kinds}
}

// aligned fails if the features belong to other users than the interactions.
func aligned(x *dataset.Interactions) error {
	f := x.Features
	for u, id := range x.UserIDs {
		if u >= len(f.UserIDs) || f.UserIDs[u] != id {
			return &dataset.Error{File: f.Source, Field: "user",
				Msg:  fmt.Sprintf("no features of user %q, who has interactions", id),
				Hint: "features must be of the same users, in the same order"}
		}
	}
	if n := len(f.UserIDs); n > len(x.UserIDs) {
		return &dataset.Error{File: f.Source, Field: "user",
			Msg:  fmt.Sprintf("features of user %q, who has no interactions", f.UserIDs[len(x.UserIDs)]),
			Hint: "features must be of the same users, in the same order"}
	}
	return nil
}

// countLevels returns the number of a user's ratings by level.
func countLevels(x *dataset.Interactions, u int, ratings []float32) (counts Counts, err error) {
	for k, r := range ratings {
		if !(r >= 0 && r <= Levels) || r != float32(int(r)) {
			return counts, fmt.Errorf(
				"item %q has rating %v, want a whole number from 1 to %d, or 0 where it is not known",
				x.ItemIDs[x.Train[u][k]], r, Levels)
		}
		counts[int(r)]++
	}
	return counts, nil
}

// encode writes one-hot vectors from column at on.
func (t *Table) encode(at int, attributes []Attribute) {
	for _, a := range attributes {
		for u, code := range a.Codes {
			tensor.Row(t.X, u)[at+int(code)] = 1
		}
		at += len(a.Levels)
	}
}

// stretch maps every number linearly by its minimum and maximum over all users.
func (t *Table) stretch() {
	for k := range Numbers {
		lo, hi := tensor.Float(1), tensor.Float(-1)
		for u := range t.X.Rows {
			v := tensor.Row(t.X, u)[k]
			lo, hi = min(lo, v), max(hi, v)
		}
		for u := range t.X.Rows {
			v := &tensor.Row(t.X, u)[k]
			if hi <= lo {
				*v = 0
				continue
			}
			*v = max(-1, min(1, 2*(*v-lo)/(hi-lo)-1))
		}
	}
}
