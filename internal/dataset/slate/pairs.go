package slate

// The tokens with a special meaning; items follow.
const (
	Pad       int32 = 0 // fills rows of a batch
	OOV       int32 = 1 // an item that no training pair has; as a target always a miss
	Start     int32 = 2 // before the first step of a decoder; the published program also uses it as CLS
	End       int32 = 3 // after the last step
	FirstItem int32 = 4
)

// Pairs is a table of slates and the behaviours before them.
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

// Select copies the given rows, in the order given.
func (p *Pairs) Select(rows []int32) *Pairs {
	out := newPairs(p.T, p.L, len(rows))
	for _, r := range rows {
		out.add(p.Users[r], p.Slate(int(r)), p.Behaviour(int(r)), p.Complete[r])
	}
	return out
}

func newPairs(t, l, n int) *Pairs {
	return &Pairs{T: t, L: l, Slates: make([]int32, 0, n*t), Behaviours: make([]int32, 0, n*l), Users: make([]int32, 0, n), Complete: make([]bool, 0, n)}
}

// add appends a row of T and L tokens.
func (p *Pairs) add(user int32, slate, behaviour []int32, complete bool) {
	p.Users = append(p.Users, user)
	p.Slates = append(p.Slates, slate...)
	p.Behaviours = append(p.Behaviours, behaviour...)
	p.Complete = append(p.Complete, complete)
}
