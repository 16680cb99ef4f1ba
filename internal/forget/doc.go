// Package forget makes, from a finished run, the run that the same configuration trains without some users, and says
// what else still holds their rows.
//
// Forgetting is exact. Package registry takes the users' rows out of the data before any filter, count or draw, and all
// draws about a user or a row are keyed by ids, so what is drawn for the others does not move. The new run has the
// bytes of a training on files that never had the users; only the recorded hash of the files and the list of forgotten
// users differ. A run whose prepared rows stay the same, because a filter had dropped the users already, begins with
// the last checkpoint of the old one.
//
// A forgotten user is written down as half of the SHA-256 of the id (dataset.ForgottenID).
package forget
