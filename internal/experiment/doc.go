// Package experiment is one run of one method, the parts that are the same for all of them:
// how a setting stands to the profile it names (Stand), training once or twice (Fit), the
// file of a model (Keep, Weights), a forecast from a rehearsal (Estimate), and the answers
// of a finished run (Recommendations, Evaluation).
//
// A protocol builds on it: it cuts the data, ranks, and measures. A model gives the network
// and its loss, a protection its mechanisms and their account. A paper puts the four
// together.
package experiment
