// Package nextitem measures models that predict the next item of a sequence under one protocol.
//
// Its first cut is that of Hu and Fang, arXiv 2309.11515, section 5.1: every prefix of a
// sequence that has a next item is a sample, and the next item its label. All items are
// ranked for every test sample, those that the sequence holds included. A share of the
// training samples is held out for validation, where it is asked for; a second training
// then takes all of them, for as many epochs as validation chose.
//
// Its second cut is leave-one-out (Setting.LastItem): a user's last item is the only test
// sample, the one before it that of validation. Items of the history can be left out of the
// ranking, and held-out items that training does not know are misses.
//
// A method gives a Setting and a Learner: Load cuts the data, the method declares what it
// releases or leaves open, sets New and Account, and has in the Experiment a run, its
// forecast and the answers of its finished runs. Sessions makes a Learner of any network
// over the graph or the order of a session, NewStatic one of any model with a vector a user
// and an item.
package nextitem
