package system

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// Together calls do for 0 to n-1, as many at once as there are processors, and returns the error of the lowest number
// that failed.
func Together(n int, do func(i int) error) error {
	bad := make([]error, n)
	var next atomic.Int64
	var all sync.WaitGroup
	for range min(n, runtime.GOMAXPROCS(0)) {
		all.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				bad[i] = do(i)
			}
		})
	}
	all.Wait()
	for _, err := range bad {
		if err != nil {
			return err
		}
	}
	return nil
}
