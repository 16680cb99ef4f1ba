// Package registry knows the data sets by name: where to get them, what may be done with
// them, which files they consist of, how each file is read, and which recipes make of them
// what a paper trained on.
//
// # Words
//
// A Set is one data set. A Layout is one form of the files in its folder, such as MovieLens'
// own files or RecBole's. A recipe is the steps from rows to sequences with the counts that
// they must give (dataset.Recipe). A CrossSet is two or more domains with the same users. A set
// whose name begins with OwnPrefix is not listed: its data are in the folder of that name, so
// that own data need no code.
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
// bytes of the files, the layout, the steps. Source.Cache says what the cache did, which never
// changes a result. An entry that is damaged, or of other files, is made again. Files that
// change while they are read are an error.
//
// The rows of a set decide its level of evidence: their counts, and for a published split the
// digest of rows and parts. A receipt, which says where files came from, can add a remark but
// never raises the level.
//
// # How to add a set
//
// A function in sets.go, sets_logs.go, sets_seq.go or sets_cross.go names title, address,
// licence, layouts and recipes. A line in All lists it. An entry in data/sources.yaml says how
// to fetch it. A set with a form of file of its own gets a reader
// in a new file, as yelp.go is, one bad file in testdata/bad for every way to be wrong, and a
// fuzz test.
//
// # Where things are
//
//   - registry.go, own.go, sets*.go: the sets.
//   - amazon.go, mind.go, movielens.go, tmall.go, yelp.go, zhihurec.go: readers of what
//     their owners publish.
//   - load.go, cross.go, cache.go, cachecode.go, receipt.go: from a name to data.
package registry
