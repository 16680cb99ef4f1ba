// Package topn is the protocol of RDP-GCF's section 4.1, which its baselines share: a model
// trains on the graph of the training rows, and for every user with a test row all items are
// ranked, those without a training row too, but the user's training and validation items.
// Recall@K is over the user's number of test rows, the ideal of NDCG@K over at most K of
// them; means are over users.
//
// The package owns the graph, the draws of BPR's triples, what is ranked against what, the
// floors, the choice of an epoch, the forecast, metrics.json, the document that is shown and
// the answers of finished runs. A method says what it is ([Method]) and gives [Load] its
// model: one that trains by epochs ([Model]), or one that is made at once ([Made]).
//
// What is ranked against what is decided in one place, Experiment.rank: it gives every user
// of a part the ranks of their rows. A ranking among sampled candidates is another such
// function; nothing else knows how ranks came about.
package topn
