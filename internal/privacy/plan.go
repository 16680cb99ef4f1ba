package privacy

// Plan lists the most that a run will release, stated before its first release.
type Plan struct {
	Budget           // what all releases cost together, by the run's own account
	Subject          // the unit and relation of that cost
	Releases []Entry // every release that the run may make: purpose, event and count
	Held     []Holding
	// Whole keeps the full price of the plan spent after the run has ended. It is set where pricing the ledger's
	// releases would give less than the plan, as for a neighbour that changes fewer of the answers.
	Whole bool
}
