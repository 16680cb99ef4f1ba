package experiment

import (
	"context"

	"privrec/internal/eval"
	"privrec/internal/tensor"
)

// Deployed is the model of a finished run as a service: its trained parameters with the graph and everything else that
// it computes from. Each answer is computed from the current inputs of all users. It is for one goroutine.
type Deployed struct {
	// Inputs has one row for each user. Callers may change it between answers.
	Inputs tensor.Matrix
	What   string // an input, as in "the user's row of the table"
	Noise  string // of an answer, such as "fresh in every answer"; empty: none
	// Answer computes the vectors of all users and items, and scores by them. Both are valid until
	// the next answer. Noise is keyed by the number of the answer, from 0, which is used once.
	Answer func(n int) (Vectors, eval.Scorer, error)
	close  func()
}

// NewDeployed returns a service; its Close calls close.
func NewDeployed(d Deployed, close func()) *Deployed {
	d.close = close
	return &d
}

// Close frees the memory.
func (d *Deployed) Close() {
	if d.close != nil {
		d.close()
	}
}

// Deploying is Answers of a run whose model can be deployed as a service.
type Deploying interface {
	Answers
	// Deploy rebuilds the model of a release; "" means the first. It fails with a run.UsageError if the run keeps
	// nothing that computes from users' inputs. What it returned before is not valid afterwards.
	Deploy(ctx context.Context, release string) (*Deployed, error)
}
