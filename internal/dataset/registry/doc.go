// Package registry knows the data sets by name: where to get them, what may be done with
// them, which files they consist of, how each file is read, and which recipes make of them
// what a paper trained on.
//
// # Words
//
// A Set is one data set. A Layout is one form in which its files may lie in its folder,
// such as MovieLens' own files or RecBole's. A recipe is the steps from rows to sequences
// with the counts that must come out (dataset.Recipe). A CrossSet is two or more domains
// with the same users. A set whose name begins with OwnPrefix is not listed: it is whatever
// lies in the folder of that name, so that own data need no code.
//
// # Loading
//
// Load, LoadInteractions and LoadCross find a set, its files and its recipe by name:
//
//	folder --Layout.Read--> log --Recipe.Filter--> rows --Recipe.Finish--> sequences
//	                                                |
//	                                              cache
//
// The rows after the filters are cached under a key of everything that they depend on: the
// bytes of the files, the layout, the steps. What the cache did is said in Source.Cache and
// never changes a result; an entry that is damaged, or of other files, is rebuilt. Files
// that change while they are read are an error.
//
// What a set is worth as evidence follows from its rows: from the counts, and for a
// published split from the digest of rows and parts. A receipt, which says where files came
// from, adds a remark and never raises the level.
//
// # How to add a set
//
// A function in sets.go, sets_logs.go, sets_seq.go or sets_cross.go names title, address,
// licence, layouts and recipes; a line in All lists it; an entry in data/sources.yaml says
// how to fetch it, and a test keeps the two equal. A file of a form of its own gets a reader
// in a file of its own, as yelp.go is, with one bad file for every way to be wrong in
// testdata/bad and a fuzz test.
//
// # Where things are
//
//   - registry.go, own.go, sets*.go: the sets.
//   - amazon.go, mind.go, movielens.go, tmall.go, yelp.go, zhihurec.go: readers of what
//     their owners publish.
//   - load.go, cross.go, cache.go, cachecode.go, receipt.go: from a name to data.
package registry
