// Package evaluation measures lists of recommendations that another program made, against the truth, beside two floors
// that need no model. It reads the files (package lists), asks a definition for the metrics (package
// metrics/definition), and counts what users should know about the files: users on one side only, short lists, items
// that match nothing.
//
// Floors give every user who has a list as many items as that list has, of all known items but those of the user's own
// training rows: the most popular ones, and random ones. They are measured by the same definition.
package evaluation
