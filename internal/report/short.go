package report

// ShortTraining says beside a result that its training was shorter than the one a paper states, in
// the words of train.Length; nothing where it was not.
func ShortTraining(short string) []Fact {
	if short == "" {
		return nil
	}
	return []Fact{{Label: "against the paper", Value: "not compared", Note: short}}
}
