// Package topn is the protocol of RDP-GCF's section 4.1, which its baselines share: a model
// trains on the graph of the training rows, and for every user with a test row all items are
// ranked, those without a training row too, but the user's training and validation items.
// Recall@K is over the user's number of test rows, the ideal of NDCG@K over at most K of
// them; means are over users.
//
// The package owns the graph, the draws of BPR's triples, what is ranked against what, the
// floors, the choice of an epoch, the forecast, metrics.json, the document that is shown and
// the answers of finished runs. A method says what it is ([Method]) and gives [Load] its
// model: one that BPR trains by epochs on inner products ([Model]), one with a loss and a score
// of its own ([Own]), or one that is made at once ([Made]).
//
// What is ranked against what is decided in one file, rank.go: rank gives every user of a
// part the ranks of their rows, and floors say what no model would give. A ranking among
// sampled candidates is another pair of such functions, over a part that lists a user once
// for every test row where means are over rows; training and results take ranks as they come.
package topn
