package experiment

import "context"

// Embedding is the vectors of a release, with the ids of their rows in the data.
type Embedding struct {
	Vectors
	UserIDs, ItemIDs []string
	Scores           string // how the model ranks by them, such as InnerProduct
}

// InnerProduct is what Embedding.Scores says of a model that ranks items by the inner products of their rows with a user's.
const InnerProduct = "inner product"

// Embedded is Answers of a model that has a vector for each user and each item.
type Embedded interface {
	Answers
	// Embedding returns the vectors of a release; "": of the first one. They are valid until Close. It fails with a
	// run.UsageError where the model has none.
	Embedding(ctx context.Context, release string) (*Embedding, error)
}

// Peopled is Answers that list the users whom they can answer for. Without it those are the users of Histories.
type Peopled interface {
	Answers
	// People lists users by their ids in the data.
	People() []string
}
