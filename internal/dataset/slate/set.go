package slate

import (
	"privrec/internal/dataset"
	"privrec/internal/rng"
)

// Set is pairs split into three parts, and what is known of their users.
type Set struct {
	Name    string
	Hash    string // hex SHA-256 over the source files, or over the generator's parameters
	StandIn bool   // generated: evidence of level D
	Vocab   int    // V: four specials and the items of the training pairs; every token is below it

	Users              []string // ids; the last may be UnknownUser
	Train, Valid, Test *Pairs   // never nil

	Logged    [][]int32 // per user: items shown, show order, repeats kept, unknown items left out; nil where not known, nil for all when no user's is
	Clicked   [][]int32 // per user: clicked items that occur in a slate of the user, ascending, each once; nil as in Logged
	Histories [][]int32 // per user: clicks in time order, OLDEST first; of training users only, nil for all others

	Level  dataset.Level  // of evidence
	Ladder dataset.Ladder // counts of every step; a rung of pairs has them as Rows
	Notes  []string       // sentences a reader of results must know
}

// UnknownUser stands for the user of all pairs whose user was not published and could
// not be found out.
const UnknownUser = "?"

// The splits.
const (
	SplitUsers    = "users"    // users shuffled by the seed, 80/10/10 % of them, none in two parts
	SplitReleased = "released" // first 80 %, next 10 %, next 10 % of the pairs in user order, as the authors' program
)

// Options says what to load and how pairs are made. The zero value is the default.
type Options struct {
	Dir   string   // folder with one folder a data set; "" takes $PRIVREC_DATA
	Split string   // SplitUsers or SplitReleased; "" is SplitUsers
	Seed  rng.Seed // of the shuffled users, and of a generated set
	T, L  int      // length of slates and of behaviours; 0 is 10 and 5
}
