// Package bench measures this program's own parts on the machine it runs on.
package bench

import (
	"context"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"privrec/internal/stats"
)

// Result is one measured case.
type Result struct {
	Name    string  `json:"name"`     // what was run
	Shape   string  `json:"shape"`    // its sizes
	Threads int     `json:"threads"`  // workers it could use
	MedianS float64 `json:"median_s"` // seconds a call, median
	MinS    float64 `json:"min_s"`    // seconds a call, fastest
	GFLOPS  float64 `json:"gflops"`   // 1e9 operations a second in the fastest call; 0 where not counted
	RSSMB   float64 `json:"rss_mb"`   // resident memory after the case, MB; 0 where the system does not report it
}

// Options says what to measure and how long.
type Options struct {
	// Time to spend on a case; 0: ProductTime or StepTime, as the benchmark says.
	Time time.Duration
	// Only selects the cases whose name contains it; "": all.
	Only string
	// Sizes of graphs and models, where the benchmark has them; zero: Gowalla.
	Sizes Sizes
	// Graph is a file of pairs to measure in place of a graph of these sizes; "": none. Its users,
	// items and edges count.
	Graph string
	// Held is a file of pairs that Graph leaves out, by which Closed judges lists; "": none.
	Held string
}

// batchTime is the least length of one timed batch: short calls are timed several at a time.
const batchTime = 50 * time.Microsecond

// Measure calls f for about d, at least three times after two calls to warm up. It returns the
// median and the least seconds a call. It stops early with ctx's error when ctx ends.
func Measure(ctx context.Context, d time.Duration, f func()) (median, least float64, err error) {
	f()
	start := time.Now()
	f()
	calls := 1 + int(batchTime/max(time.Since(start), 1))
	var times []float64
	for begin := time.Now(); len(times) < 3 || time.Since(begin) < d; {
		if err := ctx.Err(); err != nil {
			return 0, 0, err
		}
		start := time.Now()
		for range calls {
			f()
		}
		times = append(times, time.Since(start).Seconds()/float64(calls))
	}
	return stats.Median(times), slices.Min(times), nil
}

// residentMB returns the resident memory of this process in MB, 0 if unknown.
func residentMB() float64 {
	data, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(data)) {
		if f := strings.Fields(line); len(f) == 3 && f[0] == "VmRSS:" {
			kb, err := strconv.ParseFloat(f[1], 64)
			if err != nil {
				return 0
			}
			return kb / 1024
		}
	}
	return 0
}
