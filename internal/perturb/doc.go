// Package perturb makes protected files of files: the histories or the slates of users, or
// rows of their features. It knows no paper and no mechanism.
//
//	Settings    what every such command is told: files, catalogue, seed, workers
//	Job         one file to perturb: the functions that a paper gives
//	Run         carries a job out
//	Records     a file read and written record by record: [privrec/internal/perturb/histories],
//	            [privrec/internal/perturb/slates]
//	Block       some records in a row, for one worker
//	Catalogue   the items that records can have
//	Facts       what every report says
//	Stage       a set of files that appears whole or not at all
//
// A paper says how its records are read, which event it releases and for which unit, what
// changes the cells of a block, and what its report says. The engine keeps the order: the
// event is in the ledger before noise is drawn, what a block becomes depends on the file, the
// settings and the seed alone, the ledger is closed before the report quotes it, and the
// files get their names last.
package perturb
