package dataset

import (
	"fmt"

	"privrec/internal/rng"
)

// The synthetic pair of domains: small enough for tests, and with something to be
// learned within a domain (an item's successors are of its cluster) and across (a
// user's cluster is the same in both, three times in four).
const (
	crossGenerator = 1
	crossUsers     = 240
	crossClusters  = 6
)

var crossItems = [2]int{300, 200}

// crossStandIn makes both domains. Users alternate between 6 and 25 rows a domain.
func crossStandIn(seed rng.Seed) []*Log {
	logs := make([]*Log, len(crossItems))
	for d, items := range crossItems {
		var b logBuilder
		b.times = []int64{}
		for u := range crossUsers {
			s := seed.Stream("standin.cross", uint64(d), uint64(u))
			own := seed.Stream("standin.cross.cluster", uint64(u))
			cluster := own.IntN(crossClusters)
			if s.IntN(4) == 0 {
				cluster = s.IntN(crossClusters)
			}
			had := map[int]bool{}
			for t := range 6 + s.IntN(20) {
				item := 0
				for try := 0; ; try++ {
					c := cluster
					if s.IntN(5) == 0 || try > 20 {
						c = s.IntN(crossClusters)
					}
					// Low numbers of a cluster are popular.
					per := items / crossClusters
					item = c + crossClusters*(s.IntN(per)*(1+s.IntN(per))/per)
					if !had[item] {
						break
					}
				}
				had[item] = true
				b.add(b.users.id(fmt.Appendf(nil, "%d", u)), b.items.id(fmt.Appendf(nil, "%c%d", "LR"[d], item)))
				b.times = append(b.times, int64(t))
			}
		}
		logs[d] = b.log("")
		logs[d].Name, logs[d].StandIn = CrossStandIn, true
	}
	return logs
}
