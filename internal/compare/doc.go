// Package compare says whether finished runs differ by more than chance, from the
// scores that each keeps of its users.
//
// Users are paired: the difference of two methods is taken user by user, so that what
// makes a user easy for both does not enter. Several runs of a method, seeds, are first
// averaged user by user. The interval and the test speak of other users of the same kind;
// what another seed would change is shown beside them as a spread, and is not in them.
package compare
