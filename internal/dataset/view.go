package dataset

import (
	"slices"

	"privrec/internal/rng"
)

// View says which rows of a data set are loaded, and which seed decides them. Whatever loads data takes one, so that a
// caller says each time whether something is held out, planted or withheld. A task takes the view of its run.
type View struct {
	Seed     rng.Seed     // seed of generated rows and random splits; see RowsSeed
	HoldOut  *HoldOut     // the users and rows to leave out; nil: none
	Planted  *Planting    // the canaries to add to the training rows; nil: none
	Withheld *Withholding // what replaces the test rows while settings are chosen; nil: test rows stay
	// Forgotten are the users whose rows are left out before anything else is done. Found, unless nil, is called with
	// the ids of those whom the data have.
	Forgotten Forgotten
	Found     func(ids []string)
	// Asked loads sequences without the last training row of every user, about which models that were trained with a
	// hold-out are asked. HoldOut is then nil.
	Asked bool
	// ByPlace draws random splits as programs did before draws were keyed by ids: a user by their place in the log, and
	// validation rows by one draw over all rows. Attacks load the data of runs of such programs with it.
	ByPlace bool
}

// Check returns an error for a hold-out, a planting or a withholding that cannot be carried out on any data.
func (v View) Check() error {
	if v.HoldOut != nil {
		if err := v.HoldOut.Check(); err != nil {
			return err
		}
	}
	if v.Planted != nil {
		if err := v.Planted.Check(); err != nil {
			return err
		}
	}
	if v.Withheld != nil {
		if err := v.Withheld.Check(); err != nil {
			return err
		}
	}
	return v.Forgotten.Check()
}

// Gone returns which of the users with some ids are forgotten, and tells Found of them.
func (v View) Gone(ids []string) []bool {
	gone := v.Forgotten.Among(ids)
	if v.Found == nil {
		return gone
	}
	var found []string
	for u, g := range gone {
		if g {
			found = append(found, ids[u])
		}
	}
	v.Found(found)
	return gone
}

// Remaining returns the rows of a log without those of forgotten users, as a reader returns them from files without
// these rows. Its ladder then starts at the rows that remain. It fails if no row does.
func (v View) Remaining(l *Log) (*Log, error) {
	if len(v.Forgotten) == 0 {
		return l, nil
	}
	gone := v.Gone(l.UserIDs)
	keep := make([]bool, l.Len())
	for row, u := range l.Users {
		keep[row] = !gone[u]
	}
	if !slices.Contains(keep, true) {
		return nil, &Error{File: l.Name, Msg: "no row remains: all users are forgotten"}
	}
	return l.Keep(keep).ascending(), nil
}

// Changes returns in words what a model gets changed of the data: users or rows held out, canaries, users forgotten. No
// number in print is of such data.
func (v View) Changes() (words []string) {
	if v.HoldOut != nil {
		words = append(words, "users or rows held out")
	}
	if v.Planted != nil {
		words = append(words, "canaries planted")
	}
	if len(v.Forgotten) > 0 {
		words = append(words, "users forgotten")
	}
	return words
}

// RowsSeed returns the seed of generated rows and random splits: that of a withholding, a hold-out or a planting, which
// is the same for models with seeds of their own, else Seed.
func (v View) RowsSeed() rng.Seed {
	switch {
	case v.Withheld != nil:
		return v.Withheld.Seed
	case v.HoldOut != nil:
		return v.HoldOut.Seed
	case v.Planted != nil:
		return v.Planted.Seed
	}
	return v.Seed
}

// Refuse returns an error for data that are always loaded whole and unchanged, if the view changes or withholds rows.
// what names the data.
func (v View) Refuse(what string) error {
	if v.Planted != nil {
		return &Error{File: what, Msg: "no canaries can be planted into these data",
			Hint: "run.plant is for models of protocols top-n and next-item"}
	}
	if err := v.RefuseHoldOut(what); err != nil {
		return err
	}
	return v.RefuseWithheld(what)
}

// RefuseHoldOut returns an error for data that are always loaded whole, if the view holds something out. what names the
// data.
func (v View) RefuseHoldOut(what string) error {
	if v.HoldOut == nil {
		return nil
	}
	return &Error{File: what, Msg: "users and rows of these data cannot be held out",
		Hint: "run.hold_out is for models of protocols top-n and next-item"}
}

// RefuseForgotten returns an error for data whose users cannot be left out, if the view forgets some. what names the
// data.
func (v View) RefuseForgotten(what string) error {
	if len(v.Forgotten) == 0 {
		return nil
	}
	return &Error{File: what, Msg: "users cannot be forgotten: the pairs come ready made, and not as rows of users",
		Hint: "leave run.forgotten out, or take a log of rows"}
}

// RefuseWithheld returns an error for data that have no rows to take the place of test rows, if the view withholds
// these. what names the data.
func (v View) RefuseWithheld(what string) error {
	if v.Withheld == nil {
		return nil
	}
	return &Error{File: what, Msg: "these data cannot be read without their test rows", Err: ErrWithheld,
		Hint: "settings can be chosen under the protocols top-n and next-item"}
}

// Sequences returns sequences as the view shows them. It may change s.
func (v View) Sequences(s *Sequential) (*Sequential, error) {
	if v.Withheld != nil {
		v.Withheld.Sequences(s)
	}
	switch {
	case v.HoldOut != nil && v.HoldOut.Labels:
		return nil, &Error{File: s.Name, Msg: "rows of sequences cannot be held out of labels alone",
			Hint: "leave run.hold_out.labels out"}
	case v.HoldOut != nil:
		s = v.HoldOut.Sequences(s)
	case v.Asked:
		s = s.WithoutLast()
	}
	if v.Planted == nil {
		return s, nil
	}
	s, _, err := v.Planted.IntoSequences(s)
	return s, err
}

// Interactions returns the pairs of a log and the parts of its rows as the view shows them. s are the sequences of the
// same log. It may change parts.
func (v View) Interactions(s *Sequential, l *Log, parts []Part) (*Interactions, error) {
	var labels [][]int32
	if h := v.HoldOut; h != nil && h.Labels {
		of := slices.Clone(parts)
		h.Parts(l, of)
		labels = Labelled(l, of)
	} else if h != nil {
		h.Parts(l, parts)
	}
	var from InPlace
	if v.Withheld != nil {
		from = v.Withheld.Parts(l, parts)
	}
	d, err := NewInteractions(s, l, parts)
	if err != nil {
		return nil, err
	}
	d.InPlace, d.Labels = from, labels
	if v.Planted != nil {
		d, _, err = v.Planted.Into(d)
	}
	return d, err
}
