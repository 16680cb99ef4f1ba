// Package blurme is BlurMe: Weinsberg, Bhagat, Ioannidis, Taft, "BlurMe: Inferring and
// Obfuscating User Gender Based on Ratings", RecSys 2012. Users add items to their rows that
// are typical of another class than theirs, before a recommender sees the rows. The recommender
// is BPRMF (package baseline), so that a difference to its results is that of the added items.
// No noise with a guarantee is drawn, so that nothing is claimed or accounted for.
//
// A logistic regression of a class on users' rating rows has a weight for every item. With
// folds, each fit leaves out the users of one fold, and an item's score is the mean of its ranks
// among the weights of the fits:
//
//	score_c(i) = 1/F sum over f of rank of item i in w_f, the lowest weight first    (1) [typical]
//	L_c        = the items with the highest score_c                                  (2) [typical]
//	A_u        = the first of an order of L_c that u does not have, ceil(p n_u)      (3) [add]
//
// n_u counts the training rows of user u and c is another class than that of u. The order in
// (3) is that of L_c (greedy), a uniform one (random), or one by draws without replacement in
// proportion to the weight |L_c| - r + 1 of the item at place r (ranked). An added rating is the
// item's mean in training.
//
// Departures. The paper knows two classes. With more, every class is fitted against the rest,
// and a user's other class is drawn once, uniformly. Of L_c it says that it holds all items of
// that side; a public program (STrucks/BlurMore) takes 10. blur.list sets the length, half of
// the rated items where it is 0. That program draws in proportion to the number that an item
// has in the file, which is a fault: here it is the place in the list. It rounds p n_u up, as
// here. Lists are learned from all users: who would have to disclose their class in earnest is
// not modelled, and classes enter without noise.
//
// The paper's attacker learns from rows as they were, which the additions mislead. One that
// learns from blurred rows learns the additions too, and those of equal users are alike: greedy
// ones give a class away that the rows without them hardly tell.
//
// An added item may be one that the user has in test or validation, since users cannot know
// these. Leaving such items out of the additions would tell training which rows are held out.
// So they are added, and the pairs are taken out of the held-out rows: the recommender has
// seen them. The result counts them.
package blurme

// Cite is the publication.
const Cite = "Weinsberg et al., BlurMe: Inferring and Obfuscating User Gender Based on Ratings, RecSys 2012"
