package protect

import (
	"fmt"

	"privrec/internal/dataset/slate"
)

// Pool is what replacements are drawn from: the items that users of a set were shown,
// and how often. It is read-only and serves any number of goroutines.
type Pool struct {
	From  string // "logs": all that was shown; "slates": that of the pairs, where the rest is not known
	Items int    // distinct items
	Shown int64  // items shown, repeats counted

	vocab   int
	even    evenly
	popular *alias
	logs    [][]int32 // by user
}

// NewPool takes the logs of a set, or the slates of all its pairs where there are none:
// there overlapping slates count as often as they occur. A user or an item that the set
// does not have is an error.
func NewPool(set *slate.Set) (*Pool, error) {
	p := &Pool{From: "logs", vocab: set.Vocab, logs: set.Logged}
	if set.Logged == nil {
		p.From, p.logs = "slates", make([][]int32, len(set.Users))
		for k, part := range []*slate.Pairs{set.Train, set.Valid, set.Test} {
			for i, u := range part.Users {
				if u < 0 || int(u) >= len(p.logs) {
					return nil, fmt.Errorf("%s pair %d is of user %d, want one of the %d of the set", []string{"training", "validation", "test"}[k], i, u, len(p.logs))
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
				return nil, fmt.Errorf("log of user %s holds token %d, want an item below %d", set.Users[u], item, set.Vocab)
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

// known leaves out the tokens that are no items.
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

// batch is what the users of some pairs were shown, each user once, and where the rows
// of each are.
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

// urn returns what replacements of a user's slate are drawn from.
func (b *batch) urn(user int32, own bool) others {
	if own {
		return others{items: b.items}
	}
	return others{b.items, b.at[user]}
}

// deal cuts n slates into batches of at least size, but for one of fewer where there are
// no more, as evenly as can be: the bounds of batch k are the k-th and the next.
func deal(n, size int) (bounds []int) {
	count := max(n/size, 1)
	for k := range count + 1 {
		bounds = append(bounds, k*n/count)
	}
	return bounds
}
