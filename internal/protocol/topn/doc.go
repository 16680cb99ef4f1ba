// Package topn measures models under the protocol of RDP-GCF's section 4.1, which its baselines share: a model trains
// on the graph of the training rows, and ranks for every user with a test row all items, those without a training row
// too, but the user's training and validation items. Recall@K is over the user's number of test rows, the ideal of
// NDCG@K over at most K of them; means are over users.
//
// The package owns the graph, the draws of BPR's triples, what is ranked against what, the
// floors, the choice of an epoch, the forecast, metrics.json, the document that is shown and
// the answers of finished runs. A method says what it is ([Method]) and gives [Load] its
// model: one that BPR trains by epochs on inner products ([Model]), one with a loss and a score
// of its own, or one that is made at once ([Made]).
//
// What is ranked against what is decided in rank.go: rank gives every user of a part the ranks
// of their rows, and floors say what no model would give. With eval.candidates, sampled.go ranks
// every test row alone among sampled items too, as much of the literature does, and means are
// over rows. It stands beside the full ranking, under names of its own ("sampled Hit@5"), never
// in its place: sampled metrics need not order methods as the full ranking does (Krichene and
// Rendle, On Sampled Metrics for Item Recommendation, KDD 2020). Validation and early stopping
// rank all items.
package topn
