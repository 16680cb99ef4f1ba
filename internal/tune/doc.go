// Package tune searches for settings: it gives every method of a study the same number of trials,
// and takes the setting that is best on validation rows.
//
// Test rows cannot be opened. The view of a trial's data withholds them (run.Options.Withhold): package registry puts
// validation rows in their place before the task sees a row, and refuses data for which it cannot. Tasks take no other
// view than that of their run. A trial whose metrics.json is about other rows ends the search.
//
// A setting is drawn at random from the space of its task, keyed by the seed, the task, the trial
// and the key, so that neither the order of the work nor the number of workers changes it. The first
// trial is the configuration as it stands. Successive halving (Jamieson and Talwalkar, "Non-stochastic
// Best Arm Identification and Hyperparameter Optimization", AISTATS 2016) gives many settings few
// epochs and the best of them more; a setting that goes on is trained from its beginning, and all of
// that counts.
//
// The log has a line a trial, in the order of the trials' numbers and without times. A line is
// written when its trial and all before it have ended, so a search that was killed and resumed
// writes the same bytes. A file beside the log has the times.
//
// Where the validation rows are private, so is the choice: see Selection.
package tune
