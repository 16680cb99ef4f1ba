// Package compare says whether finished runs differ by more than chance, from the scores that
// each run keeps of its users.
//
// Users are paired: the difference of two methods is taken for each user, so that users who are
// easy for both do not matter. Runs of one method with several seeds are first averaged for
// each user. The interval and the test are about other users of the same kind. They leave out
// what another seed would change; the spread over runs shows it.
package compare
