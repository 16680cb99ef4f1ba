// Package roster lists the runs behind the rows of a grid, says how far each is, and reads the results of finished
// ones.
//
// The name of a run's directory holds the hash of its configuration. So a finished run is found again and never
// repeated, and one that stopped goes on from its checkpoint. The lock of the directory says that another process is at
// work on a run.
package roster
