package run

// Progress shows a person how a run goes. Implementations belong to the command
// line; a library only reports. Calls come from one goroutine.
type Progress interface {
	// Phase says in one line what happens now.
	Phase(text string)
	// Begin opens a counted stretch, such as the steps of one epoch. One that begins within
	// another takes its place until it ends, such as the ranking of validation rows.
	Begin(what string, total int)
	// Add reports n more of the stretch done.
	Add(n int)
	// End closes the stretch with its one-line summary.
	End(summary string)
}

// Silent is a Progress that shows nothing.
type Silent struct{}

func (Silent) Phase(string)      {}
func (Silent) Begin(string, int) {}
func (Silent) Add(int)           {}
func (Silent) End(string)        {}
