package exposure

import (
	attack "privrec/internal/attack/exposure"
	"privrec/internal/dataset/slate"
	"privrec/internal/papers/exposure/protect"
	"privrec/internal/protocol/slates"
)

// Default returns the attack of the paper's text on Zhihu, with a mean encoder and the point-wise
// decoder, the strongest of the twelve when each is trained to its best epoch. All items are
// candidates, so that the protocol hands nothing to the attacker.
func Default() Config {
	return Config{
		Profile: "paper",
		Data: DataConfig{
			Name: "exposure-zhihu", Split: slate.SplitUsers, Slate: 10, Behaviour: 5, Unknown: slate.UnknownOOV,
			Clicks: slate.OrderShown, Stride: 1, Early: slate.EarlyKeep, Logs: slate.LogsFile, Pairing: slate.PairIndex,
		},
		Attack: attack.Paper("mean", "point"),
		Train: TrainConfig{
			Training: attack.PaperTraining(), Epochs: 200, Batches: batchesEach, Sample: 1, Patience: 10, Select: selectValidation,
		},
		Eval: slates.Eval{
			K: []int{5, 10, 20}, Vocabulary: []string{attack.VocabularyFull}, Budget: []string{attack.BudgetKL, attack.BudgetK},
			Repeated: Keep, Early: Keep, Confidence: 0.95, Resamples: 1000,
		},
		Protect: ProtectConfig{Select: protect.SelectNone, Tau: protect.DefaultTau, Reference: protect.ReferencePast, Batch: protect.DefaultBatch, Attacker: AttackerClean},
		Sweep:   SweepConfig{Select: []string{}, Replace: []string{}, Ratios: []float64{}, Epsilons: []float64{}, Attackers: []string{AttackerClean}, Slates: []int{}},
	}
}

// Code returns the attack as the released program has it. It undoes the departures that have
// a field, by their numbers in the package comment; T stays as the setting has it.
func Code(encoder, decoder string) Config {
	c := Default()
	c.Profile = "code"
	c.Data.Split, c.Data.Unknown = slate.SplitReleased, slate.UnknownDrop // B5, B3
	c.Attack = attack.Code(encoder, decoder)                              // B7, B8, B9, B13
	c.Train.Training = attack.CodeTraining()                              // B6
	c.Train.Batches, c.Train.Patience = batchesOnce, 0                    // B15
	c.Eval.Vocabulary = []string{attack.VocabularyLogged}                 // B1
	c.Eval.Budget = []string{attack.BudgetList}                           // B2
	c.Eval.Repeated, c.Eval.Early = Drop, Drop                            // B4
	c.Protect.Reference, c.Protect.OwnRows = protect.ReferenceSlate, true // B10
	return c
}
