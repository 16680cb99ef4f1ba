package run

import "context"

// History is what a model was given of one user before it recommends: the items, oldest
// first, as the data call them.
type History struct {
	User  string
	Items []string
}

// Historian is a Server that also says what came before its recommendations.
type Historian interface {
	Server
	// Histories lists the users that the model was given items of. order says, as a
	// sentence for a reader of results, what the order of the items rests on.
	Histories(ctx context.Context) (list []History, order string, err error)
}
