// Package nextitemtest holds what tests of several methods of protocol next-item share.
package nextitemtest

// Refused lists settings that no method of the protocol can run, each with what the error
// says; an empty message is one that a decoder writes.
func Refused() []Refusal {
	return []Refusal{
		{"profile=", "must not be empty"},
		{"data.name=", "must not be empty"},
		{"data.candidates=all", `must be one of train, ten-core, got "all"`},
		{"model.dim=0", "must lie in 1..4096, got 0"},
		{"model.dim=4097", "must lie in 1..4096, got 4097"},
		{"model.dim=1.5", ""},
		{"model.steps=0", "must lie in 1..100, got 0"},
		{"model.steps=101", "must lie in 1..100, got 101"},
		{"train.epochs=0", "must lie in 1..100000, got 0"},
		{"train.batch=0", "must lie in 1..1000000, got 0"},
		{"train.rate=0", "must lie in [1e-12,100], got 0"},
		{"train.rate=-1", "must lie in [1e-12,100], got -1"},
		{"train.rate=.inf", ""},
		{"train.decay_by=0", "must lie in (0,1], got 0"},
		{"train.decay_by=1.5", "must lie in (0,1], got 1.5"},
		{"train.decay_every=0", "must lie in 1..100000, got 0"},
		{"train.l2=-1", "must lie in [0,1), got -1"},
		{"train.l2=1", "must lie in [0,1), got 1"},
		{"train.patience=-1", "must lie in 0..100000, got -1"},
		{"train.select=best", `must be one of validation, last, test, got "best"`},
		{"train.validation=1", "must lie in [0,1), got 1"},
		{"train.validation=-0.1", "must lie in [0,1), got -0.1"},
		{"train.validation=0", "must be above 0 to select on validation"},
		{"train.validation_split=time", `must be one of sample, user, got "time"`},
		{"train.unknown=1", ""},
		{"eval.k=[]", "must name at least one cutoff"},
		{"eval.k=[0]", "must lie in 1..100000, got 0"},
		{"eval.k=[10,20,10]", "names 10 twice"},
	}
}

// Refusal holds an override "key=value" and the expected error about the key.
type Refusal = struct{ Set, Message string }
