package exposure

import (
	"context"
	"fmt"

	"privrec/internal/dataset/slate"
)

// Ranker answers slates with ranked lists of guessed clicks: what [Evaluate] scores. An attack model is
// one, and so are the floors that it has to beat.
type Ranker interface {
	// Lists is J, the number of lists that a pair is answered with: 1 (point-wise, or a floor), or one for
	// each click to infer (sequence-wise, or a floor that is dealt out).
	Lists() int
	// Rank answers the given rows of p (nil: all of them, in order): J lists a row, each of at most depth
	// items, best first, without specials and without repeats within a list. A list is shorter than depth
	// where its items run out. Where candidates is nil every item of the vocabulary may be named; otherwise
	// only the items of candidates(row), which must be distinct, and which is called from one or several
	// goroutines.
	//
	// visit is called for every row, in the order of rows, from one goroutine. Its lists are valid during
	// the call only, and may share memory with each other; they must not be changed. An error of visit ends
	// Rank and is returned as it is.
	Rank(ctx context.Context, p *slate.Pairs, rows []int32, depth int, candidates func(row int32) []int32, visit func(row int32, lists [][]int32) error) error
}

// checkRank says what is wrong with the arguments of a Rank: rows are from 0 to p.Len()-1, depth at least 1.
func checkRank(p *slate.Pairs, rows []int32, depth int) error {
	if depth < 1 {
		return fmt.Errorf("ranking slates: a list of depth %d, at least 1 is needed", depth)
	}
	for at, row := range rows {
		if row < 0 || int(row) >= p.Len() {
			return fmt.Errorf("ranking slates: row %d (number %d) is outside the %d pairs", row, at, p.Len())
		}
	}
	return nil
}
