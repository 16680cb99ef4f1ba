// Package exposure measures how much of a user's earlier clicks an attacker can guess from the items that a
// recommender shows: Xin et al., "On the User Behavior Leakage from Recommender System Exposure", ACM TOIS 2023,
// arXiv 2210.08435.
//
//	paper                                here
//	section 3.1, the task                slate.Pairs: a slate, and the clicks before it
//	equations 2-7, encoders              attack/exposure, encoder.go
//	equations 8-10, point-wise decoder   attack/exposure, Model without steps
//	equations 11-14, sequence-wise       attack/exposure, decoder.go; Rank feeds its own guesses
//	section 5.1, pairs and splits        dataset/slate
//	section 5.2, Recall, NDCG, MRR       attack/exposure, Evaluate
//	section 4.1, 4.2, protection         protect.Slates; of files protect.File
//	equation 18, accuracy                protect.Accuracy
//	tables 3-6                           configs/tables/exposure-table3.yaml and on
//	figures 6-13                         section sweep of the configuration
//
// The main departure: the released program ranks, for each user, only the items of that user's own log, and the log
// holds the answers. The paper does not say so, and its tables follow from it. Here all items are candidates; the
// logged set is a protocol with a name. No result stands without random order, popularity and co-occurrence counts
// under the same protocol, and a leak is the gain of an attack over them with as many guesses. What counts gain over
// the floors that read no slate is a leak too: the headline is the most that was found.
//
// Departures, each a field of the configuration that the profile code sets back:
//
//	B1   candidates are all items, not the user's log              eval.vocabulary
//	B2   a single list may have k L guesses, as the text says      eval.budget
//	B3   pairs with an item new to the attacker stay, as misses    data.unknown
//	B4   so do pairs with a repeated click, and those whose        eval.repeated, eval.early,
//	     decoder would have ended early                            attack.stop_at_end
//	B5   parts are cut between users                               data.split
//	B6   the learning rate is the text's, 600 times the program's  train.rate, train.warm_up, ...
//	B7   two heads; one item table                                 attack.heads, attack.tie
//	B8   decoders are fed the context that they were trained with  attack.context_decode
//	B9   pooling is over the items alone                           attack.pool_start
//	B10  similarity is to past behaviour, in a stated direction    protect.reference, protect.select
//	B12  T is a number, not 10                                     data.slate
//	B13  specials are never guessed                                attack.specials
//	B15  batches are made anew in every epoch                      train.batches
//
// and without one: the attack on protected slates is measured as that on others (B11); vectors go to items by their ids
// (B14); the stated environment cannot run the program (B16); table 6 prints "0780" for 0.0780, and the text .9809
// where table 4 has .9837 (B17); decoders always have a causal mask (B18).
//
// Beyond the paper: an attacker who trains on protected slates, a replacement with a guarantee (randomized response),
// and attacks on the recommendations of any finished run of this program.
package exposure
