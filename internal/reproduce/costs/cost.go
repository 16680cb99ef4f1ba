package costs

// Cost is what a whole run takes.
type Cost struct {
	Seconds float64
	Memory  int64 // bytes resident at most
	Disk    int64 // bytes of its directory
	How     Basis
	Workers int // that a finished run had

	alike bool // a finished run was made on a processor and on workers like the present ones
}

// Basis says how a cost is known, the best first.
type Basis int

const (
	MeasuredNow Basis = iota // steps of the run, on this machine, now
	Recorded                 // the same steps, on another machine, scaled by its speed
	Alike                    // the mean of recorded runs of the same task on the same data
	Guessed                  // the mean of recorded runs of the same task, or of all
)
