package train

import "fmt"

// Length says how long a training lasts at most, and how soon early stopping ends it.
type Length struct {
	Epochs   int // the cap; 0: not stated
	Patience int // epochs in a row without gain; 0: never stopped early
}

// Short returns in words how a training was shorter than the one that a paper states: a lower cap
// ended it, or a stop with less patience. Results of a shorter training cannot be compared with
// printed ones. Short returns "" for a training as long as stated, for one that validation ended with
// the stated patience, and where nothing is stated. own is the setting of the training that chose how
// long training lasts, ran how many epochs it ran, and stopped whether early stopping ended it.
func (stated Length) Short(own Length, ran int, stopped bool) string {
	switch {
	case ran >= stated.Epochs:
		return ""
	case !stopped:
		return fmt.Sprintf("trained for %d of the %d epochs stated, ended by the cap", ran, stated.Epochs)
	case stated.Patience == 0:
		return fmt.Sprintf("trained for %d of the %d epochs stated, stopped early where nothing stops them", ran, stated.Epochs)
	case own.Patience < stated.Patience:
		return fmt.Sprintf("trained for %d of the %d epochs stated, stopped after %d without gain in place of %d", ran, stated.Epochs, own.Patience, stated.Patience)
	}
	return ""
}
