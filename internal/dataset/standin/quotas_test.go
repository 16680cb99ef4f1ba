package standin

import (
	"math"
	"testing"

	"privrec/internal/rng"
)

// TestQuotasDraw compares draws with what is left of each quota, before and after
// spending, and never meets a spent item. Each frequency may be 6.2 standard
// deviations off, which fails by chance with probability below 1e-9.
func TestQuotasDraw(t *testing.T) {
	plan := []int{5, 0, 3, 9, 1, 0, 0, 2, 40, 7}
	cluster := []int32{0, 0, 0, 0, 0, 1, 0, 0, 0, 1}
	q := newQuotas(plan, cluster, 2, 0)
	s := rng.Seed(9).Stream("quotas")
	check := func() {
		t.Helper()
		const draws = 20000
		for c := range int32(2) {
			got := make([]float64, len(plan))
			for range draws {
				got[q.pick(int(c), &s)]++
			}
			for i := range plan {
				p := 0.0
				if cluster[i] == c {
					p = float64(max(0, q.rest[i])) / float64(q.inCluster[c])
				}
				if math.Abs(got[i]-draws*p) > 6.2*math.Sqrt(draws*p*(1-p)) {
					t.Errorf("cluster %d: item %d drawn %g times, want %g", c, i, got[i], draws*p)
				}
			}
		}
	}
	check()
	if q.left != 67 || q.pace(8) != 1 {
		t.Errorf("%d left, pace %g", q.left, q.pace(8))
	}
	for range 30 {
		q.spend(8)
	}
	q.spend(4)
	q.spend(4) // overspent
	check()
	if q.left != 36 || q.inCluster[0] != 29 || q.rest[4] != -1 || q.pace(4) != 0 {
		t.Errorf("%d left, %d in cluster 0, %d of item 4", q.left, q.inCluster[0], q.rest[4])
	}
	if got, want := q.pace(8), 10.0/40*67/36; math.Abs(got-want) > 1e-12 {
		t.Errorf("pace %g, want %g", got, want)
	}
}
