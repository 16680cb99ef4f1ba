// Package experiment has the core of the runs of all methods: it compares a setting with the profile it names (Stand),
// makes a model and keeps it in a file (Maker, Weights), trains once or twice (Fit), forecasts from a rehearsal
// (Fit.Forecast), takes the steps of a run to its account and its result (Steps, Core), and answers for a finished run
// (Ranking, Evaluation).
//
// A protocol builds on it: it cuts the data, ranks, and measures. A model gives the network
// and its loss, a protection its mechanisms and their account. A paper puts the four
// together.
package experiment
