package nextitem

import (
	"privrec/internal/experiment"
	"privrec/internal/metrics"
	"privrec/internal/report"
)

// cut is how sequences are divided into samples, and what of a run goes with it.
type cut interface {
	// divide makes the parts of an experiment.
	divide(x *Experiment) error
	// measures are the kinds of metrics, and the one that selects the epoch.
	measures() ([]metrics.Kind, metrics.Metric)
	// watched are the metrics that early stopping watches, of those reported.
	watched(ms []metrics.Metric) []metrics.Metric
	// random is what a uniformly random order of the candidates gives, in expectation.
	random(x *Experiment, ms []metrics.Metric) []metrics.Value
	// describe counts the data, and says what the candidates are.
	describe(x *Experiment, o *Outcome)
	// perUser keeps the scores of users.
	perUser(x *Experiment, mode string, ms []metrics.Metric, ranks []int32) error
	// document is the result of a run without its table.
	document(x *Experiment, o *Outcome) *report.Document

	// history is what the model is given of a user.
	history(x *Experiment, u int) []int32
	// recommended heads answers, and says of recommendations what is left out.
	recommended(x *Experiment) (setting string, notes []string)
	// again is a row of the run's results, measured once more.
	again(x *Experiment, was *experiment.Outcome[experiment.Data], mode string, values []metrics.Value) experiment.Scores
}
