// Package perturb makes a protected copy of a file of histories or slates of users, or of rows of their features. It
// knows no paper and no mechanism.
//
//	Settings    what every such command is told: files, catalogue, seed, workers
//	Job         one file to perturb: the functions that a paper gives
//	Run         carries a job out
//	Records     a file read and written record by record: [privrec/internal/perturb/histories],
//	            [privrec/internal/perturb/slates], [privrec/internal/perturb/features]
//	Block       some consecutive records, for one worker
//	Catalogue   the items that records can have
//	Sorter      orders records by id, outside memory
//	Facts       what every report says
//	Shard       a part of a job, made by a process of its own
//	Merge       joins the parts
//	Stage       a set of files that appears whole or not at all
//
// A paper says how its records are read, which event it releases and for which unit, how the cells
// of a block change, and what its report says. The engine keeps the order. The event is in the
// ledger before noise is drawn. What a block becomes depends only on the file, the settings and the
// seed. The ledger is closed before the report quotes it. The files get their names last.
package perturb
