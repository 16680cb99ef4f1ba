// Package forgetting measures ways to forget users: whether a model that unlearned them still shows that it was trained
// on them, what it lost for everybody else, and what that cost beside training from the start.
//
// Users are drawn twice, alike: those to be forgotten, whom the first model is trained on, and strangers, whom no model
// is trained on. A way turns the first model into one without the forgotten:
//
//	way             what is done                                                   source
//	retrain         training from the start on the rows of all others              the yardstick
//	ascent          steps up the loss of the forgotten rows, then repair epochs    Thudi et al. 2022; benchmark ERASE
//	influence       one Newton step by conjugate gradients                         Li et al. 2023 (SCIF); Zhang et al.
//	                                                                               2024 (IFRU)
//	shards          users in shards with a model each; the shards of the           Bourtoule et al. 2021 (SISA); Chen
//	                forgotten are trained again                                    et al. 2022 (RecEraser)
//
// The vectors of the forgotten themselves are deleted in every way: what is measured is what stays in the vectors of
// items, in weights and in the vectors of others. An attacker who has the histories of forgotten users and of strangers
// fits a vector to each history, the items' vectors fixed, and tells the two by how well it fits ([signals]). Both are
// computed alike, so that a model that never had the forgotten shows nothing, and the AUC is one half but for chance.
//
// Departures: SCIF changes the vectors of the forgotten users alone, which are deleted here in any case; the step here
// is over all other parameters, and has IFRU's account of the rows that leave the graph. SISA's slices within a shard
// are left out: they save time and change no result. A shard shows every user a list by a vector that is fitted to
// their rows, since the shard of another user has no vector for them.
package forgetting
