//go:build slow

package inference

import "testing"

// every lists the attackers that look at their input.
func every() (names []string) {
	for _, name := range attackers() {
		if name != Majority {
			names = append(names, name)
		}
	}
	return names
}

func TestPlantedLeakEveryAttacker(t *testing.T) { testLeak(t, false, every()...) }

func TestShuffledAttributeEveryAttacker(t *testing.T) { testLeak(t, true, every()...) }
