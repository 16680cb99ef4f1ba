package experiment

import (
	"context"

	"privrec/internal/eval"
	"privrec/internal/tensor"
)

// Deployed is the model of a finished run as a service has it: its parameters, with the graph and
// whatever else it computes from. Each answer is computed from the inputs of all users as they
// then are, by the parameters that training left behind. One goroutine may use it.
type Deployed struct {
	// Inputs has a row for each user, which may be changed between answers.
	Inputs tensor.Matrix
	What   string // an input, as in "the user's row of the table"
	Noise  string // of an answer, such as "fresh in every answer"; empty: none
	// Answer computes the vectors of all users and items, and scores by them. Both are valid until
	// the next answer. Noise is keyed by the number of the answer, from 0, which is used once.
	Answer func(n int) (Vectors, eval.Scorer, error)
	close  func()
}

// NewDeployed makes a service that close ends.
func NewDeployed(d Deployed, close func()) *Deployed {
	d.close = close
	return &d
}

// Close gives the memory back.
func (d *Deployed) Close() {
	if d.close != nil {
		d.close()
	}
}

// Deploying is Answers of a run whose model can be put up as a service.
type Deploying interface {
	Answers
	// Deploy makes the model of a release again; "": of the first one. It fails with a
	// run.UsageError where the run keeps nothing that computes from the inputs of users.
	Deploy(ctx context.Context, release string) (*Deployed, error)
}
