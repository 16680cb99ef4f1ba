package run

// Progress shows the user how a run is going. The command line implements it; a library only
// reports. Calls come from one goroutine.
type Progress interface {
	// Phase shows in one line what the run does now.
	Phase(text string)
	// Begin opens a counted stretch, such as the steps of one epoch. A stretch that begins
	// within another, such as the ranking of validation rows, replaces it until it ends.
	Begin(what string, total int)
	// Add counts n more of the stretch as done.
	Add(n int)
	// End closes the stretch and shows its summary of one line.
	End(summary string)
}

// Silent is a Progress that shows nothing.
type Silent struct{}

// Phase shows nothing.
func (Silent) Phase(string) {}

// Begin shows nothing.
func (Silent) Begin(string, int) {}

// Add shows nothing.
func (Silent) Add(int) {}

// End shows nothing.
func (Silent) End(string) {}
