// Package membership measures membership inference under one protocol: an attacker says of interactions, or of users,
// whether a recommender was trained on them.
//
// Members and others differ in nothing but the draw that held the others out (run.hold_out), so
// that whatever tells them apart is in what the model shows. Floors that see no model, the length
// of the history and the popularity of the items, stand beside every attack all the same, since
// they say so where it is not true: attacks of the literature took other users, or later rows, for
// non-members. What is left of an attack beyond the best floor is the measure, with an interval
// over users.
//
//	source                                                        here
//	Zhang et al., CCS 2021, section 3: difference of centres,     zhang.go
//	  shadow model, classifier
//	the same: users whom the model does not know get popular      attack.strangers: popular
//	  items
//	Carlini et al., S&P 2022: likelihood ratio, online, offline   attack.go, package attack/membership
//	Zarifzadeh et al., ICML 2024: RMIA, online, offline           attack.statistics: rmia, package attack/membership
//	thresholds on score, place, likeness                          attack.go
//
// A model of sequences is asked for one row of each user, the last of training, after the rows before
// it: what it was trained on as a label, or not. Of a user who was held out it is the same row. Attacks
// on lists take the place in the list then, and no centres. Models that keep no weights are computed
// from the rows that they are asked with, and are refused.
//
// Departures from Zhang et al.: item vectors are factors of the rows of all users, by iALS, where
// the paper has factors of ratings of another data set; the network of package attack/attribute
// is the classifier. A shadow model is trained with the target's own configuration on users who
// are not attacked.
package membership
