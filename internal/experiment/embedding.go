package experiment

import "context"

// Embedding holds the vectors of a release, with the ids of their rows in the data.
type Embedding struct {
	Vectors
	UserIDs, ItemIDs []string
	Scores           string // how the model ranks by them, such as InnerProduct
}

// InnerProduct is the value of Embedding.Scores for a model that ranks items by inner products with the user's vector.
const InnerProduct = "inner product"

// Embedded is Answers of a model with a vector for each user and each item.
type Embedded interface {
	Answers
	// Embedding returns the vectors of a release; "" means the first. They are valid until Close. It fails with a
	// run.UsageError if the model has none.
	Embedding(ctx context.Context, release string) (*Embedding, error)
}

// Peopled is Answers that list the users they can answer for. Other Answers can answer for the users of Histories.
type Peopled interface {
	Answers
	// People returns the ids of the users in the data.
	People() []string
}
