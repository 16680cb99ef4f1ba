package tensor

import (
	"errors"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// TestParallelCovers demands every chunk exactly once, with the stated bounds,
// for any number of workers.
func TestParallelCovers(t *testing.T) {
	for _, workers := range []int{1, 2, 3, 16} {
		withWorkers(workers, func() {
			for _, c := range [][2]int{{0, 4}, {1, 4}, {4, 4}, {5, 4}, {1000, 7}, {3, 0}, {70000, 1}} {
				n, grain := c[0], max(c[1], 1)
				seen := make([]atomic.Int32, (n+grain-1)/grain)
				Parallel(n, c[1], func(k, lo, hi int) {
					seen[k].Add(1)
					if lo != k*grain || hi != min(n, lo+grain) {
						t.Errorf("chunk %d of %d by %d: %d..%d", k, n, grain, lo, hi)
					}
				})
				for k := range seen {
					if got := seen[k].Load(); got != 1 {
						t.Fatalf("%d workers: chunk %d of %d by %d ran %d times", workers, k, n, grain, got)
					}
				}
			}
		})
	}
}

// TestParallelMany runs many short sections, with pauses long enough to park.
func TestParallelMany(t *testing.T) {
	withWorkers(3, func() {
		var count atomic.Int64
		for i := range 5000 {
			Parallel(8, 1, func(_, _, _ int) { count.Add(1) })
			if i%1000 == 999 {
				time.Sleep(5 * time.Millisecond)
			}
		}
		if got := count.Load(); got != 40000 {
			t.Fatalf("%d chunks ran, want 40000", got)
		}
	})
}

// TestParallelNested and concurrent callers must finish with every chunk done.
func TestParallelNested(t *testing.T) {
	withWorkers(4, func() {
		var count atomic.Int64
		var callers sync.WaitGroup
		for range 4 {
			callers.Go(func() {
				for range 50 {
					Parallel(10, 1, func(_, _, _ int) {
						Parallel(10, 3, func(_, lo, hi int) { count.Add(int64(hi - lo)) })
					})
				}
			})
		}
		callers.Wait()
		if got := count.Load(); got != 4*50*100 {
			t.Fatalf("%d elements, want %d", got, 4*50*100)
		}
	})
}

// TestParallelPanic demands the very value of the lowest failing chunk, and a
// pool that works afterwards.
func TestParallelPanic(t *testing.T) {
	errs := []error{errors.New("first"), errors.New("second")}
	for _, workers := range []int{1, 2, 8} {
		withWorkers(workers, func() {
			for range 50 {
				func() {
					defer func() {
						if got := recover(); got != errs[0] {
							t.Fatalf("%d workers: recovered %v, want %v", workers, got, errs[0])
						}
					}()
					// Chunk 7 fails only once chunk 3 has begun, so both fail on the pool.
					begun := make(chan struct{})
					Parallel(20, 1, func(k, _, _ int) {
						switch k {
						case 3:
							close(begun)
							panic(errs[0])
						case 7:
							<-begun
							panic(errs[1])
						}
					})
				}()
			}
			sum := make([]int, 100)
			Parallel(100, 3, func(_, lo, hi int) {
				for i := lo; i < hi; i++ {
					sum[i] = i
				}
			})
			if i := slices.IndexFunc(sum, func(v int) bool { return v < 0 }); i >= 0 || sum[99] != 99 {
				t.Fatalf("after a panic: %v", sum)
			}
		})
	}
}

// TestWorkersEnd demands that no goroutine outlives SetWorkers(1).
func TestWorkersEnd(t *testing.T) {
	old := Workers()
	defer SetWorkers(old)
	SetWorkers(1)
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	for _, pause := range []time.Duration{0, 5 * time.Millisecond} { // polling, parked
		SetWorkers(6)
		Parallel(100, 1, func(_, _, _ int) {})
		time.Sleep(pause)
		SetWorkers(3)
		Parallel(100, 1, func(_, _, _ int) {})
		SetWorkers(0)
		if Workers() != 1 {
			t.Fatalf("%d workers, want 1", Workers())
		}
	}
}

// TestParallelHelps shows that chunks really run on other goroutines: two chunks
// that wait for each other can only finish together.
func TestParallelHelps(t *testing.T) {
	if runtime.GOMAXPROCS(0) < 2 {
		t.Skip("one processor")
	}
	withWorkers(2, func() {
		meet := make(chan int)
		Parallel(2, 1, func(k, _, _ int) {
			if k == 0 {
				meet <- 1
			} else {
				<-meet
			}
		})
	})
}

// TestParallelAllocs allows one object a section, the closure handed over.
func TestParallelAllocs(t *testing.T) {
	withWorkers(2, func() {
		x := make([]Float, 1000)
		got := testing.AllocsPerRun(100, func() {
			Parallel(len(x), 10, func(_, lo, hi int) {
				for i := lo; i < hi; i++ {
					x[i]++
				}
			})
		})
		if got > 1 {
			t.Errorf("%g allocations a section", got)
		}
	})
}

func BenchmarkParallel(b *testing.B) {
	withWorkers(2, func() {
		for b.Loop() {
			Parallel(2, 1, func(_, _, _ int) {})
		}
	})
}

// TestPoolSurvivesGoexit ends goroutines inside bodies, the caller's and workers', and
// goes on using the pool.
func TestPoolSurvivesGoexit(t *testing.T) {
	withWorkers(4, func() {
		for round := range 50 {
			ended := make(chan any)
			go func() {
				defer func() { ended <- recover() }()
				Parallel(64, 1, func(chunk, _, _ int) {
					if chunk%8 == round%8 {
						runtime.Goexit()
					}
				})
				ended <- "returned"
			}()
			if v := <-ended; v == "returned" {
				t.Fatal("a body that never ended went unnoticed")
			}
			var sum atomic.Int64
			Parallel(100, 1, func(chunk, _, _ int) { sum.Add(int64(chunk)) })
			if sum.Load() != 4950 {
				t.Fatalf("round %d: the next job did %d", round, sum.Load())
			}
		}
	})
}

// TestPanicKeepsStack looks for this function in what reaches the caller.
func TestPanicKeepsStack(t *testing.T) {
	withWorkers(4, func() {
		defer func() {
			err, ok := recover().(error)
			var own runtime.Error
			if !ok || !errors.As(err, &own) || !strings.Contains(err.Error(), "TestPanicKeepsStack") {
				t.Errorf("%v", err)
			}
		}()
		var none []int
		Parallel(64, 1, func(chunk, _, _ int) { none[chunk] = 1 })
	})
}
