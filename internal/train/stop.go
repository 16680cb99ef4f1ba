package train

import (
	"fmt"
	"slices"
)

// Rule names how epochs without improvement are counted.
type Rule uint8

const (
	// StopNever runs all epochs.
	StopNever Rule = iota
	// StopReset stops after Patience epochs in a row without improvement, which is the usual rule.
	StopReset
	// StopTotal counts epochs without improvement over the whole run and never resets, as the released
	// programs of SR-GNN and DIPSGNN do.
	StopTotal
)

// Stop configures early stopping. An epoch improves if at least one watched score beats its own best so far. The first
// epoch always improves.
type Stop struct {
	Rule        Rule
	Patience    int      // epochs without improvement that end the run; at least 1 unless StopNever
	Metrics     []string // scores to watch; default: all that Validate returns
	TiesImprove bool     // a score equal to its best counts as an improvement (SR-GNN's >=); default: no
}

func (s Stop) check() error {
	switch {
	case s.Rule > StopTotal:
		return fmt.Errorf("train: Stop.Rule is %d, want StopNever, StopReset or StopTotal", s.Rule)
	case s.Rule != StopNever && s.Patience < 1:
		return fmt.Errorf("train: Stop.Patience is %d, want at least 1", s.Patience)
	}
	return nil
}

// stopState holds the state of early stopping between epochs.
type stopState struct {
	Bad  int     `json:"bad"`            // epochs without improvement that count
	Best []Score `json:"best,omitempty"` // best value so far of each watched score
}

// watch returns the scores that s watches, in the order of s.Metrics.
func (s Stop) watch(scores []Score) ([]Score, error) {
	if len(s.Metrics) == 0 {
		return scores, nil
	}
	watched := make([]Score, len(s.Metrics))
	for i, name := range s.Metrics {
		at := slices.IndexFunc(scores, func(c Score) bool { return c.Name == name })
		if at < 0 {
			return nil, fmt.Errorf("train: Stop.Metrics names %q, Validate returned %s", name, names(scores))
		}
		watched[i] = scores[at]
	}
	return watched, nil
}

// update enters an epoch's scores and reports whether training should stop.
func (st *stopState) update(s Stop, scores []Score) (stop bool, err error) {
	if s.Rule == StopNever {
		return false, nil
	}
	watched, err := s.watch(scores)
	if err != nil {
		return false, err
	}
	if st.Best == nil {
		st.Best = slices.Clone(watched)
		return false, nil
	}
	if len(watched) != len(st.Best) {
		return false, fmt.Errorf("train: Validate returned %s, earlier %s", names(watched), names(st.Best))
	}
	improved := false
	for i, w := range watched {
		best := &st.Best[i]
		if w.Name != best.Name {
			return false, fmt.Errorf("train: Validate returned %s, earlier %s", names(watched), names(st.Best))
		}
		switch {
		case w.better(best.Value):
			best.Value, improved = w.Value, true
		case s.TiesImprove && w.Value == best.Value:
			improved = true
		}
	}
	switch {
	case !improved:
		st.Bad++
	case s.Rule == StopReset:
		st.Bad = 0
	}
	return st.Bad >= s.Patience, nil
}

// names returns the names of scores for an error message.
func names(scores []Score) string {
	list := make([]string, len(scores))
	for i, s := range scores {
		list[i] = s.Name
	}
	return fmt.Sprintf("%q", list)
}

// Length states how long a training may last, and how soon early stopping ends it.
type Length struct {
	Epochs   int // the cap; 0: not stated
	Patience int // epochs in a row without gain; 0: never stopped early
}

// Short returns in words how a training was shorter than the one that a paper states: a lower cap ended it, or a stop
// with less patience. Results of a shorter training cannot be compared with printed ones. Short returns "" for a
// training as long as stated, for one that validation ended with the stated patience, and if nothing is stated. own is
// the length of the training that chose the number of epochs, ran the number of epochs it ran, and stopped whether
// early stopping ended it.
func (stated Length) Short(own Length, ran int, stopped bool) string {
	switch {
	case ran >= stated.Epochs:
		return ""
	case !stopped:
		return fmt.Sprintf("trained for %d of the %d epochs stated, ended by the cap", ran, stated.Epochs)
	case stated.Patience == 0:
		return fmt.Sprintf("trained for %d of the %d epochs stated, stopped early where nothing stops them", ran,
			stated.Epochs)
	case own.Patience < stated.Patience:
		return fmt.Sprintf("trained for %d of the %d epochs stated, stopped after %d without gain in place of %d", ran,
			stated.Epochs, own.Patience, stated.Patience)
	}
	return ""
}
