package train

import "fmt"

// Length is how long a training lasts at most, and how soon early stopping ends it.
type Length struct {
	Epochs   int // the cap; 0: not stated
	Patience int // epochs in a row without gain; 0: never stopped early
}

// Short says in words that a training was shorter than the one that a paper states: a lower cap
// ended it, or an impatient stop. Its results are then those of another training, and are not set
// against printed ones. It is empty for a training as long as stated, for one that validation
// ended as patiently as stated, and where nothing is stated. ran and stopped are of the training
// that chose how long training lasts, own is its setting.
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
