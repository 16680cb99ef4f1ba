// Package matrix measures attacks on models with and without defences: a table with a row for each trained model, a
// column for each attack, and in each cell what the attack finds beyond its best floor.
//
// A file says which runs those are (Matrix). A row is a training, and a cell an attack on that
// training. Both are runs of package reproduce: found again by the hash of their configuration, gone
// on with after a kill, shared by processes. Rows can also be finished runs of any folder (Rows).
//
// A cell that cannot be filled has the reason in words: these data have no attributes, this model
// keeps no vectors. Nothing here holds a result.
package matrix
