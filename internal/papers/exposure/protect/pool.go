package protect

import (
	"fmt"

	"privrec/internal/dataset/slate"
)

// Pool holds the items shown to users of a set, and how often; replacements are drawn from it. It is read-only and
// serves any number of goroutines.
type Pool struct {
	From  string // "logs": all that was shown; "slates": that of the pairs, where the rest is not known
	Items int    // distinct items
	Shown int64  // items shown, repeats counted

	vocab   int
	even    evenly
	popular *alias
	logs    [][]int32 // by user
}

// NewPool returns the pool of a set's logs or, if it has none, of the slates of all its pairs: overlapping slates then
// count as often as they occur. A user or an item outside the set is an error.
func NewPool(set *slate.Set) (*Pool, error) {
	p := &Pool{From: "logs", vocab: set.Vocab, logs: set.Logged}
	if set.Logged == nil {
		p.From, p.logs = "slates", make([][]int32, len(set.Users))
		for k, part := range []*slate.Pairs{set.Train, set.Valid, set.Test} {
			for i, u := range part.Users {
				if u < 0 || int(u) >= len(p.logs) {
					return nil, fmt.Errorf("%s pair %d is of user %d, want one of the %d of the set",
						[]string{"training", "validation", "test"}[k], i, u, len(p.logs))
				}
				p.logs[u] = append(p.logs[u], known(part.Slate(i))...)
			}
		}
	}
	if len(p.logs) > len(set.Users) {
		return nil, fmt.Errorf("logs of %d users in a set of %d", len(p.logs), len(set.Users))
	}
	counts := make([]uint64, set.Vocab)
	for u, log := range p.logs {
		for _, item := range log {
			if item < slate.FirstItem || int(item) >= set.Vocab {
				return nil, fmt.Errorf("log of user %s holds token %d, want an item below %d", set.Users[u], item,
					set.Vocab)
			}
			counts[item]++
		}
		p.Shown += int64(len(log))
	}
	for item, c := range counts {
		if c > 0 {
			p.even = append(p.even, int32(item))
		}
	}
	p.Items = len(p.even)
	var err error
	if p.Items == 0 {
		return nil, fmt.Errorf("no user of the set was shown an item: there is nothing to draw from")
	}
	p.popular, err = newAlias(counts)
	return p, err
}

// known returns the tokens that are items.
func known(tokens []int32) []int32 {
	for i, t := range tokens {
		if t < slate.FirstItem {
			list := append([]int32(nil), tokens[:i]...)
			for _, t := range tokens[i:] {
				if t >= slate.FirstItem {
					list = append(list, t)
				}
			}
			return list
		}
	}
	return tokens
}

// batch holds the items shown to the users of some pairs, each user once, and where the rows of each are.
type batch struct {
	items []int32
	at    map[int32][2]int
}

func (p *Pool) batch(users []int32) *batch {
	b := &batch{at: make(map[int32][2]int, len(users))}
	for _, u := range users {
		if _, ok := b.at[u]; ok {
			continue
		}
		from := len(b.items)
		b.items = append(b.items, p.logs[u]...)
		b.at[u] = [2]int{from, len(b.items)}
	}
	return b
}

// urn returns the source of replacements for a user's slate.
func (b *batch) urn(user int32, own bool) others {
	if own {
		return others{items: b.items}
	}
	return others{b.items, b.at[user]}
}

// deal divides n slates as evenly as possible into batches of at least size, or one of fewer if there are no more.
// Batch k lies between bounds k and k+1.
func deal(n, size int) (bounds []int) {
	count := max(n/size, 1)
	for k := range count + 1 {
		bounds = append(bounds, k*n/count)
	}
	return bounds
}
