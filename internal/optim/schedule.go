package optim

// StepDecay multiplies the learning rate by Factor once in every Every ticks. A tick follows each
// epoch. With TickBefore it comes before the epoch, so that the first rate lasts one epoch less, as in
// the released SR-GNN code and its descendants, among them DIPSGNN.
type StepDecay struct {
	Factor     float64
	Every      int // epochs; 0 or less means never
	TickBefore bool
}

// LR returns the learning rate of an epoch, counted from 0, from the base rate of the first one.
func (s StepDecay) LR(base float64, epoch int) float64 {
	ticks := epoch
	if s.TickBefore {
		ticks++
	}
	for n := s.Every; s.Every > 0 && n <= ticks; n += s.Every {
		base *= s.Factor
	}
	return base
}
