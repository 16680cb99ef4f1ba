package slate

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"strconv"

	"privrec/internal/dataset"
	"privrec/internal/rng"
)

// Sizes of the generated set. standInRelated sets how much a slate reveals about the clicks before it: the recommender
// shows neighbours of recent clicks, which an attack can learn.
const (
	standInUsers     = 300
	standInItems     = 400
	standInClusters  = 20
	standInVisits    = 14  // slates shown to a user
	standInShown     = 10  // items of a slate
	standInRelated   = 0.5 // share of a slate that is a neighbour of one of the last five clicks
	standInNeighbour = 3   // neighbours of an item, all of its cluster
	standInSkew      = 0.8 // exponent of the popularity of items
	standInLoyal     = 0.7 // chance that a click must stay in the user's two clusters when the slate has such an item
)

// loadStandIn generates the log and returns pairs built from it like those of real logs.
func loadStandIn(ctx context.Context, name string, o Options) (*Set, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	l := simulate(o.Seed)
	l.Name = name
	s, err := Build(l, o)
	if err != nil {
		return nil, err
	}
	s.StandIn, s.Level = true, dataset.LevelD
	s.Notes = append(s.Notes, "generated: no evidence about a real recommender or user")
	return s, nil
}

// simulate returns the log of users who see slates of a recommender that follows their clicks.
func simulate(seed rng.Seed) *Log {
	l := &Log{Hash: standInHash(seed)}
	for u := range standInUsers {
		l.UserIDs = append(l.UserIDs, "u"+strconv.Itoa(u))
	}
	for i := range standInItems {
		l.ItemIDs = append(l.ItemIDs, "i"+strconv.Itoa(i))
	}
	popular := make([]float64, standInItems) // cumulative
	sum := 0.0
	for i := range popular {
		sum += math.Pow(float64(i+1), -standInSkew)
		popular[i] = sum
	}
	for u := range standInUsers {
		s := seed.Stream("slate/standin", uint64(u))
		visit(l, int32(u), popular, &s)
	}
	return l
}

// cluster returns the cluster of an item. Items of neighbouring popularity have different
// clusters.
func cluster(item int32) int { return int(item) % standInClusters }

// neighbour returns the k-th item that the recommender shows to users who clicked item.
func neighbour(item int32, k int) int32 {
	of := standInItems / standInClusters
	rank := int(item)/standInClusters + 1 + k*k // 1, 2 and 5 places on inside the cluster
	return int32(rank%of*standInClusters + cluster(item))
}

// visit appends the records of one user.
func visit(l *Log, user int32, popular []float64, s *rng.Stream) {
	likes := [2]int{s.IntN(standInClusters), s.IntN(standInClusters)}
	var recent []int32 // clicks, oldest first
	had := map[int32]bool{}
	at := int64(1_600_000_000 + s.IntN(1_000_000))
	for range standInVisits {
		first := len(l.Items)
		var good, all []int
		for range standInShown {
			item := draw(popular, s)
			if len(recent) > 0 && s.Float64() < standInRelated {
				item = neighbour(recent[s.IntN(len(recent))], s.IntN(standInNeighbour))
			}
			if had[item] { // rarely shown again
				item = draw(popular, s)
			}
			if c := cluster(item); c == likes[0] || c == likes[1] {
				good = append(good, len(l.Items))
			}
			all = append(all, len(l.Items))
			at++
			l.Users, l.Items = append(l.Users, user), append(l.Items, item)
			l.Shown, l.Clicked = append(l.Shown, at), append(l.Clicked, 0)
		}
		for range 1 + s.IntN(3) {
			from := all
			if len(good) > 0 && s.Float64() < standInLoyal {
				from = good
			}
			l.Clicked[from[s.IntN(len(from))]] = at + 1
		}
		for row := first; row < len(l.Items); row++ {
			if l.Clicked[row] > 0 {
				recent, had[l.Items[row]] = append(recent, l.Items[row]), true
			}
		}
		recent = recent[max(0, len(recent)-5):]
		at += 60
	}
}

// draw returns an item drawn in proportion to its popularity.
func draw(cumulative []float64, s *rng.Stream) int32 {
	x := s.Float64() * cumulative[len(cumulative)-1]
	lo, hi := 0, len(cumulative)-1
	for lo < hi {
		if mid := (lo + hi) / 2; cumulative[mid] > x {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	return int32(lo)
}

// standInHash returns a hash for a generated set, in place of that of files.
func standInHash(seed rng.Seed) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "standin-slates 1 %d %d %d %d %d %g %d %g %g %d", standInUsers, standInItems,
		standInClusters, standInVisits,
		standInShown, standInRelated, standInNeighbour, standInSkew, standInLoyal, seed))
	return hex.EncodeToString(sum[:])
}
