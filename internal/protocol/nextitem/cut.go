package nextitem

import (
	"privrec/internal/experiment"
	"privrec/internal/metrics"
	"privrec/internal/report"
)

// cut divides sequences into samples, and decides what of a run depends on that.
type cut interface {
	// divide makes the parts of an experiment.
	divide(x *Experiment) error
	// measures returns the kinds of metrics, and the metric that selects the epoch.
	measures() ([]metrics.Kind, metrics.Metric)
	// watched returns those of the reported metrics that early stopping watches.
	watched(ms []metrics.Metric) []metrics.Metric
	// random returns the expected scores of a uniformly random order of the candidates.
	random(x *Experiment, ms []metrics.Metric) []metrics.Value
	// describe counts the data, and says what the candidates are.
	describe(x *Experiment, o *Outcome)
	// perUser writes the scores of every user.
	perUser(x *Experiment, mode string, ms []metrics.Metric, ranks []int32) error
	// document lays out the result of a run without its table.
	document(x *Experiment, o *Outcome) *report.Document

	// history returns what the model is given of a user.
	history(x *Experiment, u int) []int32
	// recommended returns the heading of recommendations, and notes on what they leave out.
	recommended(x *Experiment) (setting string, notes []string)
	// again returns a row of the run's results, measured once more.
	again(x *Experiment, was *experiment.Outcome[experiment.Data], mode string, values []metrics.Value) experiment.Scores
}
