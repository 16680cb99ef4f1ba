package tensor

import (
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"
)

// The pool runs one job at a time: units 0..n-1 of a function, claimed one by one by the caller and the workers. Waking
// a parked goroutine can cost 100 us, more than most sections last, so an idle worker polls for a while before it
// parks. benefit keeps this from doing harm when other programs need the processors.

// unitFunc executes one unit of a job. worker numbers the goroutines of the job (0 is
// the caller); it may choose scratch memory, and must not change results.
type unitFunc func(unit, worker int)

type pool struct {
	caller sync.Mutex // held by the goroutine whose job is running

	// claim packs the number of units (high half) and the next unit to hand out
	// (low half). Whoever moves it from (n, i) to (n, i+1) owns unit i of the
	// current job, and the job cannot end, nor its fields change, until that unit is done.
	claim atomic.Uint64
	_     [56]byte     // what changes with every unit shares no line with what is read
	done  atomic.Int64 // units finished
	_     [56]byte
	job   job
	fault atomic.Pointer[fault]

	benefit  benefit      // guarded by caller
	closed   atomic.Bool  // workers leave the running job to the caller
	at       atomic.Int64 // the caller's processor and 1, written while the pool is strained
	strained atomic.Bool  // other programs need the processors: idle workers nap soon

	config  sync.Mutex // guards what follows
	size    int        // workers, the caller included
	workers []*worker
}

// job holds the function of a job's units: fn, or if fn is nil, body over chunks of grain of 0..n. With both, Parallel
// needs no closure of its own.
type job struct {
	fn       unitFunc
	body     func(chunk, lo, hi int)
	n, grain int
}

func (j *job) do(unit, worker int) {
	if j.fn != nil {
		j.fn(unit, worker)
		return
	}
	j.body(unit, unit*j.grain, min(j.n, (unit+1)*j.grain))
}

// fault is a panic caught in a unit.
type fault struct {
	unit  int
	value any
}

type worker struct {
	id     int
	parked atomic.Bool
	wake   chan struct{}
	quit   atomic.Bool
	polite bool // more workers than processors: let others run while polling
	ended  chan struct{}

	rival rival         // on this worker's processor
	since time.Duration // when it last napped, by clock
}

// shared is the process's pool: workers are a property of the machine.
var shared = pool{size: runtime.GOMAXPROCS(0)}

// maxUnits bounds the units of one job, so that a count fits half of claim.
const maxUnits = 1 << 31

// SetWorkers sets how many goroutines, including the caller, share parallel sections; a number below 1 counts as 1. It
// waits for a running section to end and stops surplus workers before it returns, so after SetWorkers(1) none is left.
// The default is GOMAXPROCS at start. Results do not depend on the number. Do not call it from inside a parallel body.
func SetWorkers(n int) {
	p := &shared
	p.caller.Lock()
	defer p.caller.Unlock()
	p.config.Lock()
	defer p.config.Unlock()
	p.size = max(n, 1)
	p.benefit = benefit{}
	p.strained.Store(false)
	for len(p.workers) > p.size-1 {
		last := len(p.workers) - 1
		w := p.workers[last]
		p.workers = p.workers[:last]
		w.quit.Store(true)
		w.unpark()
		<-w.ended
	}
}

// Workers returns the number set by SetWorkers.
func Workers() int {
	p := &shared
	p.config.Lock()
	defer p.config.Unlock()
	return p.size
}

// Parallel cuts 0..n into chunks of grain and calls body once for each: chunk k covers k*grain to min(n, (k+1)*grain).
// Chunks run on several goroutines in any order, so bodies must write to different memory. A call from inside a body,
// or while another goroutine's section runs, handles its chunks in order on the calling goroutine, with the same
// result.
//
// A panic in a body reaches the caller once all claimed chunks are done; of several panics it is the one in the lowest
// chunk. An error that is not the runtime's arrives unchanged, any other value as a *Panic with the stack. A body must
// not call runtime.Goexit, and therefore not testing.T.Fatal: on another goroutine than the caller's that is a panic
// too.
func Parallel(n, grain int, body func(chunk, lo, hi int)) {
	if n <= 0 {
		return
	}
	grain = max(grain, 1)
	chunks := (n + grain - 1) / grain
	if chunks == 1 {
		body(0, 0, n)
		return
	}
	if chunks >= maxUnits || !shared.enter() {
		for k := range chunks {
			body(k, k*grain, min(n, (k+1)*grain))
		}
		return
	}
	defer shared.leave()
	shared.run(chunks, job{body: body, n: n, grain: grain})
}

// enter reports whether the caller now owns the pool; if so it must leave.
func (p *pool) enter() bool {
	if !p.caller.TryLock() {
		return false
	}
	if p.size == 1 { // written only under caller
		p.caller.Unlock()
		return false
	}
	p.start()
	return true
}

func (p *pool) leave() { p.caller.Unlock() }

// start starts the workers that SetWorkers or the default asks for.
func (p *pool) start() {
	if len(p.workers) >= p.size-1 { // written only under caller
		return
	}
	calibrate()
	p.config.Lock()
	defer p.config.Unlock()
	for len(p.workers) < p.size-1 {
		id := len(p.workers) + 1
		w := &worker{id: id, wake: make(chan struct{}, 1), ended: make(chan struct{}),
			polite: id >= runtime.GOMAXPROCS(0)}
		p.workers = append(p.workers, w)
		go w.loop(p)
	}
}

// run executes units 0..n-1 of j, n < maxUnits, and re-raises their first panic. The caller owns the pool.
func (p *pool) run(n int, j job) {
	exiting := true // until shown otherwise: a body may call runtime.Goexit here
	defer func() {
		if exiting {
			p.cancel()
		}
		if p.done.Load() != int64(n) {
			p.await(int64(n))
		}
		if !exiting {
			now := p.benefit.last
			if p.benefit.own < n {
				now = clock()
			}
			p.benefit.end(now, runDelay)
			if s := p.benefit.strained(); s != p.strained.Load() {
				p.strained.Store(s)
			}
		}
		p.job = job{} // keep nothing alive
		if f := p.fault.Load(); f != nil && !exiting {
			panic(f.value)
		}
	}()
	p.job = j
	p.done.Store(0)
	p.fault.Store(nil)
	if p.strained.Load() {
		p.at.Store(int64(processor()) + 1)
	}
	now := clock()
	helped := p.benefit.helped(now)
	p.closed.Store(!helped)
	p.claim.Store(uint64(n) << 32)
	if helped {
		p.call(n - 1)
	}
	p.benefit.begin(n, now)
	for p.step(0) {
		p.benefit.unit(clock())
		if !helped && p.benefit.last-p.benefit.section > aloneLong {
			helped = true
			p.closed.Store(false)
			p.call(n - 1)
		}
	}
	exiting = false
}

// call wakes up to n workers.
func (p *pool) call(n int) {
	for _, w := range p.workers[:min(len(p.workers), n)] {
		w.unpark()
	}
}

// cancel removes the units that no goroutine has claimed from the job.
func (p *pool) cancel() {
	for {
		s := p.claim.Load()
		n, next := s>>32, s&(1<<32-1)
		if next >= n {
			return
		}
		if p.claim.CompareAndSwap(s, n<<32|n) {
			p.done.Add(int64(n - next))
			return
		}
	}
}

// await waits for units that workers have claimed.
func (p *pool) await(n int64) {
	start, patience := time.Now(), p.benefit.patience()
	for i := 0; ; i++ {
		if p.done.Load() == n {
			return
		}
		if i&15 != 15 {
			pause()
			continue
		}
		switch waited := time.Since(start); {
		case waited > patience:
			sleep(nap) // the system can move the owner of the last unit to this processor
		case waited > spinWait:
			runtime.Gosched() // the owner of the last unit may need this one's place in the runtime
		}
	}
}

// step claims one unit and executes it; it reports false when none is left.
func (p *pool) step(worker int) bool {
	for {
		s := p.claim.Load()
		n, next := s>>32, s&(1<<32-1)
		if next >= n || worker > 0 && p.closed.Load() {
			return false
		}
		if p.claim.CompareAndSwap(s, s+1) {
			p.unit(int(next), worker)
			return true
		}
	}
}

// unit executes one claimed unit and keeps its panic for the caller.
func (p *pool) unit(i, worker int) {
	finished := false
	defer func() {
		if v := recover(); v != nil {
			p.blame(&fault{unit: i, value: withStack(v)})
		} else if !finished {
			p.blame(&fault{unit: i, value: errGoexit})
		}
		p.done.Add(1)
	}()
	p.job.do(i, worker)
	finished = true
}

var errGoexit = errors.New("tensor: a parallel body called runtime.Goexit (testing.T.Fatal does)")

// Panic holds a panic of a parallel body with the stack of its goroutine, which is often not the caller's.
type Panic struct {
	Value any
	Stack []byte
}

// Error returns the value and the stack.
func (p *Panic) Error() string { return fmt.Sprintf("%v\n\nin a parallel body:\n%s", p.Value, p.Stack) }

// Unwrap returns the value where it is an error.
func (p *Panic) Unwrap() error {
	err, _ := p.Value.(error)
	return err
}

// withStack adds the stack to a panic value that does not carry its origin.
func withStack(v any) any {
	if err, ok := v.(error); ok {
		if _, own := err.(runtime.Error); !own {
			return v
		}
	}
	return &Panic{v, debug.Stack()}
}

// blame records f unless a lower unit has failed too.
func (p *pool) blame(f *fault) {
	for {
		old := p.fault.Load()
		if old != nil && old.unit < f.unit || p.fault.CompareAndSwap(old, f) {
			return
		}
	}
}

// loop runs a worker: it takes units while there are any, polls, and parks.
func (w *worker) loop(p *pool) {
	defer func() {
		if w.quit.Load() {
			close(w.ended)
		} else {
			go w.loop(p) // a body ended this goroutine by runtime.Goexit
		}
	}()
	for !w.quit.Load() {
		if p.step(w.id) {
			w.yield(p)
			continue
		}
		if w.poll(p) {
			continue
		}
		w.parked.Store(true)
		// A job published since the last look may not have seen parked.
		if (p.pending() || w.quit.Load()) && w.parked.CompareAndSwap(true, false) {
			continue
		}
		<-w.wake
	}
}

// poll looks for work for a while and reports whether there is some.
func (w *worker) poll(p *pool) bool {
	start, naps := clock(), p.strained.Load() || w.rival.here
	for i := 0; ; i++ {
		if p.pending() || w.quit.Load() {
			return true
		}
		if i&63 == 63 {
			switch polled := clock() - start; {
			case polled > spinFor:
				return false
			case naps && polled > spinStrained:
				w.nap()
				i--
				continue
			}
		}
		if i&63 == 31 && w.polite {
			runtime.Gosched()
		}
		pause()
	}
}

// pending reports whether there is a unit for a worker to claim.
func (p *pool) pending() bool {
	s := p.claim.Load()
	return s&(1<<32-1) < s>>32 && !p.closed.Load()
}

// unpark wakes w if it sleeps.
func (w *worker) unpark() {
	if w.parked.Load() && w.parked.CompareAndSwap(true, false) {
		w.wake <- struct{}{}
	}
}
