package slate

import (
	"privrec/internal/dataset"
	"privrec/internal/rng"
)

// Set holds pairs, split into three parts, and the known facts about their users.
type Set struct {
	Name    string
	Hash    string // hex SHA-256 over the source files, or over the generator's parameters
	StandIn bool   // generated: evidence of level D
	Vocab   int    // V: four specials and the items of the training pairs; every token is below it

	Items              []string // (V) id of each token; the four specials have names in brackets
	Users              []string // ids; the last may be UnknownUser
	Train, Valid, Test *Pairs   // never nil

	// per user: items shown, in the order shown, repeats kept, unknown items left out; nil where not known, nil for all
	// if known for no user
	Logged [][]int32
	// per user: clicked items that occur in a slate of the user, ascending, each once; nil as in Logged
	Clicked   [][]int32
	Histories [][]int32 // per user: clicks in time order, OLDEST first; nil for users who do not train

	Level  dataset.Level  // of evidence
	Ladder dataset.Ladder // counts of every step; a rung of pairs has them as Rows
	Notes  []string       // sentences a reader of results must know
	Doubts []string       // those of them that stand in metrics.json too, with the data
}

// UnknownUser stands for the user of all pairs whose user was not published and could not be
// found.
const UnknownUser = "?"

// The splits.
const (
	SplitUsers    = "users"    // users drawn by their ids, 80/10/10 % of them, none in two parts
	SplitReleased = "released" // first 80 %, next 10 %, next 10 % of the pairs in user order, as the authors' program
)

// Values of the options with the same name; the first of each is the default.
const (
	OrderShown   = "shown"   // Options.Clicks
	OrderClicked = "clicked" // Options.Clicks
	EarlyKeep    = "keep"    // Options.Early
	EarlyDrop    = "drop"    // Options.Early
	EarlyRefuse  = "refuse"  // Options.Early
	LogsFile     = "file"    // Options.Logs
	LogsTime     = "time"    // Options.Logs
	PairIndex    = "index"   // Options.Pairing
	PairLog      = "log"     // Options.Pairing
	UnknownOOV   = "oov"     // Options.Unknown
	UnknownDrop  = "drop"    // Options.Unknown
)

// Options says what to load and how pairs are made. The zero value is the default. The fields after L matter only if
// pairs are built from logs; their defaults make the pairs that the paper counts.
type Options struct {
	Dir   string   // folder with one folder a data set; "" takes $PRIVREC_DATA
	Split string   // SplitUsers or SplitReleased; "" is SplitUsers
	Seed  rng.Seed // seed of the draws about users, and of a generated set; Load takes it from its view
	T, L  int      // length of slates and of behaviours; 0 is 10 and 5

	gone func(ids []string) []bool // which users are forgotten; nil: none; Load takes it from its view

	// Clicks is the order of clicks in logs with times: OrderShown, by the time their item was
	// shown, as in the published program, or OrderClicked, by the time of the click, as in the
	// paper's text.
	Clicks string
	Stride int // clicks between the windows of a user; 0 is 1, so that windows overlap

	// FirstOnly keeps only the first shown record, with its click, of a user's records of one item. Neither text nor
	// program removes repeats.
	FirstOnly bool

	// Early says what to do with a click before its item was shown. EarlyKeep uses it, as the published program does,
	// though not in the slates, see [Build]. EarlyDrop counts the item as shown and not clicked. EarlyRefuse makes it
	// an error. The ladder counts these clicks; more than half of all clicks are an error in any case.
	Early string

	// Logs is the order of a user's logs of MIND: LogsFile, as the published program
	// joins them, or LogsTime.
	Logs string

	// Pairing says how pairs of MIND are formed. PairIndex pairs clicks i..i+L-1 of the history, latest first, with
	// items i..i+T-1 of all shown items, as the published program does; so i moves back in the history while it moves
	// forward in the shown items. PairLog pairs the last L clicks of a log's own history with the first T items of its
	// own slate, as in the paper's text.
	Pairing string
	Most    int // pairs of a user of MIND; 0 is 5 with PairIndex and any number with PairLog

	// Unknown says what to do with validation and test pairs that contain an item without a training pair. UnknownOOV
	// keeps them, and a target among these items is a miss. UnknownDrop drops the pairs as the published program does.
	Unknown string
}

// Tokens with a special meaning; items follow.
const (
	Pad       int32 = 0 // fills rows of a batch
	OOV       int32 = 1 // an item that no training pair has; as a target always a miss
	Start     int32 = 2 // before the first step of a decoder; the published program also uses it as CLS
	End       int32 = 3 // after the last step
	FirstItem int32 = 4
)

// Pairs holds a table of slates and the behaviours before them.
type Pairs struct {
	T, L       int
	Slates     []int32 // (n, T) tokens in show order, row-major
	Behaviours []int32 // (n, L) tokens, latest click first, row-major
	Users      []int32 // (n) index into Set.Users
	Complete   []bool  // (n) all T+L tokens are known items: the only rows the authors' programs use
}

// Len returns the number of pairs.
func (p *Pairs) Len() int { return len(p.Users) }

// Slate returns the T tokens of pair i; it shares memory with p.
func (p *Pairs) Slate(i int) []int32 { return p.Slates[i*p.T : (i+1)*p.T : (i+1)*p.T] }

// Behaviour returns the L tokens of pair i, latest click first; it shares memory with p.
func (p *Pairs) Behaviour(i int) []int32 { return p.Behaviours[i*p.L : (i+1)*p.L : (i+1)*p.L] }

// Select returns a copy of the given rows, in the given order.
func (p *Pairs) Select(rows []int32) *Pairs {
	out := newPairs(p.T, p.L, len(rows))
	for _, r := range rows {
		out.add(p.Users[r], p.Slate(int(r)), p.Behaviour(int(r)), p.Complete[r])
	}
	return out
}

func newPairs(t, l, n int) *Pairs {
	return &Pairs{T: t, L: l, Slates: make([]int32, 0, n*t), Behaviours: make([]int32, 0, n*l),
		Users: make([]int32, 0, n), Complete: make([]bool, 0, n)}
}

// add appends a row of T and L tokens.
func (p *Pairs) add(user int32, slate, behaviour []int32, complete bool) {
	p.Users = append(p.Users, user)
	p.Slates = append(p.Slates, slate...)
	p.Behaviours = append(p.Behaviours, behaviour...)
	p.Complete = append(p.Complete, complete)
}
