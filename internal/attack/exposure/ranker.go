package exposure

import (
	"context"
	"fmt"

	"privrec/internal/dataset/slate"
)

// Ranker answers slates with ranked lists of guessed clicks, which [Evaluate] scores. An attack model is a
// Ranker, and so are the floors that it has to beat.
type Ranker interface {
	// Lists returns J, the number of lists that answer a pair: 1 (point-wise, or a floor), or one for each
	// click to infer (sequence-wise, or a floor that is dealt out).
	Lists() int
	// Rank answers the given rows of p (nil: all of them, in order): J lists a row, each of at most depth
	// items, best first, without specials and without repeats within a list. A list is shorter than depth
	// where its items run out. Where candidates is nil, a list may name every item of the vocabulary.
	// Otherwise it names only items of candidates(row), which must be distinct; Rank may call candidates from
	// several goroutines.
	//
	// Rank calls visit for every row, in the order of rows, from one goroutine. The lists are valid only
	// during the call, may share memory with each other, and must not be changed. An error of visit ends
	// Rank, which returns it as it is.
	Rank(ctx context.Context, p *slate.Pairs, rows []int32, depth int, candidates func(row int32) []int32, visit func(row int32, lists [][]int32) error) error
}

// checkRank fails on arguments of Rank out of their range: rows are 0 to p.Len()-1, depth is at least 1.
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
