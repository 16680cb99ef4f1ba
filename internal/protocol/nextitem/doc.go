// Package nextitem is the protocol that predicts the next item of a sequence: Hu and Fang,
// arXiv 2309.11515, section 5.1.
//
// Every prefix of a sequence that has a next item is a sample, and the next item its label.
// All items are ranked for every test sample, those that the sequence holds included. A
// share of the training samples is held out for validation, where it is asked for; a second
// training then takes all of them, for as many epochs as validation chose (Refit).
//
// A method gives a Setting and a Learner: Load cuts the data, the method declares what it
// releases or leaves open, sets New and Account, and has in the Experiment a run, its
// forecast and the answers of its finished runs. Sessions makes a Learner of any network
// over the graph or the order of a session.
package nextitem
