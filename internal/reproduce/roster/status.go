package roster

// Status says how far a run of a table is.
type Status string

// The statuses of a run.
const (
	ToDo      Status = "to do"
	Resumable Status = "resumable"
	Running   Status = "running"           // by this process
	Elsewhere Status = "running elsewhere" // by another one
	Done      Status = "done"
	Failed    Status = "failed"
	NoData    Status = "data missing"
	LeftOut   Status = "left out" // it cannot be about the run that it would be about
	Stale     Status = "stale"    // a later change moved the results that were recorded
)
