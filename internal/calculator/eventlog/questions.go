package eventlog

import (
	"fmt"

	"privrec/internal/privacy"
)

// questions lists the facts that a guarantee depends on and the file leaves out, in words for readers who did not train
// the model.
func (f *File) questions() (list []string) {
	ask := func(missing bool, format string, args ...any) {
		if missing {
			list = append(list, fmt.Sprintf(format, args...))
		}
	}
	n, t := or(f.Noise, Noise{}), or(f.Tuning, Tuning{})
	trained := false
	for i, e := range f.Events {
		if e.Mechanism != dpSGD {
			continue
		}
		trained = true
		l := e.log()
		name := e.title(i)
		ask(l.Loader == "" && len(l.BatchSizes) == 0 && or(e.SamplingRate, 0) != 1,
			"%s: how are batches drawn, by a coin for each record (Poisson) or by shuffling? The log does not say.",
			name)
		ask(l.Epochs == nil && l.Steps == nil,
			"%s: how many steps does the log of the training have? Only the accounted number is stated.", name)
		ask(l.ClipChosen == "", "%s: who chose the clipping norm, and from what?", name)
		ask(l.ClipPer == "" && f.Unit == privacy.User,
			"%s: is the gradient of a whole user clipped as one, or that of each of their rows?", name)
		ask(l.NormalisedBy == "", "%s: by which number is the noisy sum divided, the expected batch or the drawn one?",
			name)
		ask(l.Loss == "", "%s: does the loss of one record read others of its batch (negatives from the batch, batch "+
			"normalisation)?", name)
	}
	ask(n.Numbers == "", "Was the noise drawn on a grid, exactly, or in floating point, whose last digits can tell "+
		"the value?")
	ask(n.Seed == "", "Can the noise be made again from a seed, and who has it?")
	ask(trained && t.Rows == "" &&
		t.Runs != 1, "How many trainings were made before this one, and on which rows were they compared?")
	ask(trained && t.Epoch == "",
		"How was it decided when to stop: beforehand, or by rows held out of the private data?")
	ask(f.units() == 0, "How many %ss do the data have? Delta must be well below one over that.", f.Unit)
	ask(len(f.Released) == 0,
		"What exactly leaves the house: vectors, lists, logs, error messages, the answers of a service?")
	ask(f.End == nil, "Is that all, or are the same data trained on again or answered from? Each time adds to epsilon.")
	return list
}
