// Package experiment has the parts that a run of any method needs: it compares a setting with the profile it names
// (Stand), trains once or twice (Fit), writes and reads the file of a model (Keep, Weights), forecasts from a
// rehearsal (Estimate), and answers for a finished run (Recommendations, Evaluation).
//
// A protocol builds on it: it cuts the data, ranks, and measures. A model gives the network
// and its loss, a protection its mechanisms and their account. A paper puts the four
// together.
package experiment
