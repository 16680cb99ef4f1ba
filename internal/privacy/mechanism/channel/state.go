package channel

import (
	"errors"
	"fmt"

	"privrec/internal/privacy"
	"privrec/internal/privacy/mechanism"
)

// State holds what a checkpoint stores of a channel: the counts and sums of the noise so far, how much of the
// false-alarm probability the checks have spent, and the keys used in the current pass. As JSON it keeps every bit.
type State struct {
	Purpose   string          `json:"purpose"`        // which mechanism's channel it is
	Kind      string          `json:"kind,omitempty"` // of its event; none for Gaussian noise
	Sigma     mechanism.Exact `json:"sigma"`          // or scale
	Stream    [4]uint32       `json:"stream"`         // fingerprint of the stream; of older programs its identity
	Values    int64           `json:"values"`         // number of values that got noise
	Unchanged int64           `json:"unchanged"`
	Sum       mechanism.Exact `json:"sum"`     // of the noise, in units of sigma
	SumSq     mechanism.Exact `json:"sum_sq"`  // of its squares; of its absolute values for Laplace noise
	Checked   int64           `json:"checked"` // values at the last check
	Checks    int64           `json:"checks"`  // made so far
	Pass      uint64          `json:"pass"`
	Used      [][]uint64      `json:"used,omitempty"`
	Paid      int64           `json:"paid,omitempty"`   // releases to come that the last recorded event covers
	Open      int             `json:"open,omitempty"`   // releases not ended: then it cannot be restored
	Failed    string          `json:"failed,omitempty"` // why the channel ended: then it cannot be restored
}

func (c *Channel[T]) kind() string {
	if k := c.law.Event.Kind(); k != (privacy.Gaussian{}).Kind() {
		return k
	}
	return ""
}

// State returns the state of the channel between two releases.
func (c *Channel[T]) State() State {
	c.mu.Lock()
	defer c.mu.Unlock()
	st := State{
		Purpose: c.purpose, Kind: c.kind(), Sigma: mechanism.Exact(c.law.Scale), Stream: c.stream.Fingerprint(),
		Values: c.total.N, Unchanged: c.total.Zeros, Sum: mechanism.Exact(c.total.Sum),
		SumSq: mechanism.Exact(c.total.Sq), Checked: c.checked, Checks: c.spent.K, Pass: c.used.pass,
		Used: c.used.state(), Paid: c.paid, Open: c.open,
	}
	switch {
	case c.failed != nil:
		st.Failed = c.failed.Error()
	case c.secret:
		st.Failed = errSecret.Error()
	}
	return st
}

// errSecret says why a channel of secure noise has no state. After a resume the releases since the checkpoint would get
// other noise, but they were recorded, and paid for, only once.
var errSecret = errors.New("secure noise is never the same twice, so a run of it starts anew or not at all")

// Restore puts a new channel into the state of a checkpoint, so that it continues as if it had never stopped. It fails
// on a state of another channel, of a failed one, and on one taken in the middle of a release.
func (c *Channel[T]) Restore(st State) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.restore(st); err != nil {
		return fmt.Errorf("%s: restore: %w", c.purpose, err)
	}
	return nil
}

func (c *Channel[T]) restore(st State) error {
	switch {
	case c.failed != nil:
		return c.failed
	case c.secret:
		return errSecret
	case c.open != 0 || c.paid != 0 || c.total.N != 0 || c.spent.K != 0 || c.used.pass != 0 || len(c.used.blocks) != 0:
		return errors.New("the channel was used already")
	case st.Purpose != c.purpose || st.Kind != c.kind() || float64(st.Sigma) != c.law.Scale ||
		st.Stream != c.stream.Fingerprint() && st.Stream != c.stream.State().ID:
		return fmt.Errorf("the state is of %q with sigma %g, or of another seed or configuration", st.Purpose,
			float64(st.Sigma))
	case st.Failed != "":
		return fmt.Errorf("the state is of a channel that failed: %s", st.Failed)
	case st.Open != 0:
		return errors.New("the state was taken in the middle of a release")
	case st.Values < 0 || st.Unchanged < 0 || st.Unchanged > st.Values || st.Checked < 0 || st.Checked > st.Values ||
		st.Checks < 0,
		st.Paid < 0, st.Paid > 0 && st.Paid >= c.together,
		st.SumSq < 0, st.Values == 0 && (st.Sum != 0 || st.SumSq != 0), st.Checks == 0 && st.Checked != 0:
		return errors.New("the state contradicts itself")
	}
	if err := c.used.restore(st.Pass, st.Used); err != nil {
		return err
	}
	c.total = Tally{N: st.Values, Zeros: st.Unchanged, Sum: float64(st.Sum), Sq: float64(st.SumSq)}
	c.checked, c.spent.K, c.paid = st.Checked, st.Checks, st.Paid
	return nil
}
