package registry

import (
	"slices"

	"privrec/internal/dataset"
)

// attributes returns the names of the features of MovieLens' users that models take.
func attributes() []string { return []string{"gender", "age", "occupation"} }

// geraiRecipes returns the recipe of GERAI, and the same with a twentieth of the training rows held out for the choice
// of epochs and settings. raw holds for both. all counts the users and rows before the split, each user with a row on
// both sides, and train the training rows before any is held out; from says who counted. A train of 0 expects no count.
func geraiRecipes(raw []dataset.Want, all dataset.Rung, train int, from string, notes ...string) []dataset.Recipe {
	r := dataset.Recipe{
		Name: "gerai", About: "GERAI (Zhang et al., WWW 2021), section 5.1: every rating is an interaction; a random " +
			"80 % of a user's ratings train",
		Split:    dataset.Split{Kind: dataset.SplitRandom, Fraction: 0.8, Nearest: true},
		Ratings:  true, // for its statistics of a user, which must not use the test rows
		Features: attributes(), Wants: raw, Notes: notes,
	}
	v := r
	v.Name, v.Split.ValidShare = "gerai-valid", 0.05
	v.About = "recipe gerai with a random twentieth of the training rows held out for validation, to choose epochs " +
		"and settings"
	if train == 0 {
		return []dataset.Recipe{r, v}
	}
	test := dataset.Want{Rung: dataset.Rung{Name: dataset.RungTest, Users: all.Users, Rows: all.Rows - train},
		From: "a fifth of each user's rows, rounded"}
	r.Wants = append(slices.Clone(raw),
		dataset.Want{Rung: dataset.Rung{Name: dataset.RungTrain, Users: all.Users, Rows: train}, From: from}, test)
	v.Wants = append(slices.Clone(raw), test)
	return []dataset.Recipe{r, v}
}

// geraiStandIn returns the recipes of geraiRecipes for a stand-in that imitates no real set.
func geraiStandIn(raw []dataset.Want) []dataset.Recipe {
	both := geraiRecipes(raw, dataset.Rung{}, 0, "")
	both[0].About = "GERAI's steps on synthetic rows: every rating is an interaction; a random 80 % of a user's " +
		"ratings train"
	return both
}
