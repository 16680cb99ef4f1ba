package report

// ShortTraining returns a fact for a result whose training was shorter than the one that a paper
// states, in the words of train.Length.Short, and none for another result.
func ShortTraining(short string) []Fact {
	if short == "" {
		return nil
	}
	return []Fact{{Label: "against the paper", Value: "not compared", Note: short}}
}
