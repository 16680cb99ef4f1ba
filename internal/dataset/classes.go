package dataset

import "fmt"

// Classes returns a feature as classes of users, each with at least one user. It is the column of that name, or with
// borders the ranges of Column.Bands. It fails with an *Error if the features are nil, if the column is missing or not
// categorical, if a user has no value, and if all users have the same one.
func (f *Features) Classes(name string, borders ...float64) (Column, error) {
	if f == nil {
		return Column{}, &Error{Field: name, Msg: "the recipe takes no user features, so users have no classes",
			Hint: "choose a recipe that has this feature"}
	}
	named, err := f.Column(name)
	if err != nil {
		return Column{}, &Error{File: f.Source, Field: name,
			Msg: fmt.Sprintf("users have no such feature, they have %v", f.names())}
	}
	c := *named
	if len(borders) > 0 {
		if c, err = c.Bands(name, borders...); err != nil {
			return Column{}, err
		}
	}
	if c.Kind != Categorical {
		return Column{}, &Error{File: f.Source, Field: name,
			Msg: "the feature is a number, which has no classes without borders"}
	}
	every := make([]int32, len(c.Codes))
	for u, code := range c.Codes {
		if code < 0 {
			return Column{}, &Error{File: f.Source, Field: name, Msg: fmt.Sprintf("user %q has no value", f.UserIDs[u])}
		}
		every[u] = int32(u)
	}
	c = c.Gather(every)
	if len(c.Levels) < 2 {
		return Column{}, &Error{File: f.Source, Field: name,
			Msg: fmt.Sprintf("all users have the same value, one class of %v", c.Levels)}
	}
	return c, nil
}
