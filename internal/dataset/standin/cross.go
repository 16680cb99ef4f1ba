package standin

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"privrec/internal/dataset"
	"privrec/internal/rng"
)

// CrossName names the synthetic pair of domains, left and right.
const CrossName = "standin-cross"

// The synthetic pair of domains is small enough for tests. A model can learn within a domain
// (an item's successors are of its cluster) and across domains (a user has the same cluster in
// both, three times in four).
const (
	crossGenerator = 1
	crossUsers     = 240
	crossClusters  = 6
)

var crossItems = [2]int{300, 200}

// CrossLogs makes both domains and returns a hash of generator and seed. Users alternate
// between 6 and 25 rows a domain.
func CrossLogs(seed rng.Seed) (logs []*dataset.Log, hash string) {
	logs = make([]*dataset.Log, len(crossItems))
	for d, items := range crossItems {
		var b dataset.Builder
		b.Times = []int64{}
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
				b.Add(b.Users.ID(fmt.Appendf(nil, "%d", u)), b.Items.ID(fmt.Appendf(nil, "%c%d", "LR"[d], item)))
				b.Times = append(b.Times, int64(t))
			}
		}
		logs[d] = b.Log("")
		logs[d].Name, logs[d].StandIn = CrossName, true
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "privrec %s %d seed %d", CrossName, crossGenerator, uint64(seed)))
	return logs, hex.EncodeToString(sum[:])
}
