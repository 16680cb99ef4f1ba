// Package eventlog reads the noisy releases of a program that is not this one, from a file that was written by hand or
// exported, such as the training of a model with DP-SGD. It says what the releases are as events of package privacy,
// and in what the file contradicts itself.
//
// An event has two sides. Its top level holds the input of an accountant: a noise multiplier, a sampling rate, a number
// of steps. The key log holds what the training program did: how its batches were drawn, how many steps it made, where
// its clipping norm came from. A Fault is a place where the two do not fit, or where what was done is not what the
// theorem needs.
//
// Every fault has a name, a place in the file and an effect. Some change the account: then there are two, as the file
// states and as its log shows. Some leave something open, which no noise covers. What a file does not say is no fault;
// it is a Question to those who trained the model.
//
// The form of the file is in docs/account-events.md.
package eventlog
