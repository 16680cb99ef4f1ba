//go:build slow

package standin_test

import "testing"

// TestLargeStandIns generates those of hundreds of thousands of users: counts, curves and
// attributes within 1 % of their targets, assumed ones included.
func TestLargeStandIns(t *testing.T) {
	for name, least := range map[string]int{"gowalla": 20, "yelp2018": 20, "yelp": 60, "tmall": 30} {
		matchesWithin(t, name, least)
	}
}
