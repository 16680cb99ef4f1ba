package exposure

import (
	"path/filepath"
	"slices"

	attack "privrec/internal/attack/exposure"
	"privrec/internal/dataset/slate"
	"privrec/internal/papers/exposure/protect"
	"privrec/internal/protocol/imported"
	"privrec/internal/protocol/slates"
	"privrec/internal/rng"
)

// Config describes one attack: the pairs it learns from and is measured on, its network, its
// training, how its guesses are counted, and what is done to the slates before it sees
// them. Where the paper and its program differ, each choice is a field of its own, which
// the package comment lists; a profile is a named set of values.
type Config struct {
	Profile string     `yaml:"profile"` // name of the set of choices, for reports: paper, code or your own
	Data    DataConfig `yaml:"data"`
	On      OnConfig   `yaml:"on"`
	// Files are those of a model that another program trained: its lists are attacked in the place of a data set.
	Files   imported.Source `yaml:"files,omitempty"`
	Attack  attack.Config   `yaml:"attack"` // encoder, decoder and how they guess
	Train   TrainConfig     `yaml:"train"`
	Eval    slates.Eval     `yaml:"eval"`
	Protect ProtectConfig   `yaml:"protect"`
	Sweep   SweepConfig     `yaml:"sweep"`
}

// DataConfig names the pairs.
type DataConfig struct {
	Name      string `yaml:"name"`      // a set of slates, own-NAME for a log of one's own; with on.run it is not read
	Split     string `yaml:"split"`     // users: by users, or released: as the authors' files have it
	Slate     int    `yaml:"slate"`     // T, items shown
	Behaviour int    `yaml:"behaviour"` // L, clicks before them
	// Unknown is what becomes of evaluated pairs with an item that no training pair has:
	// oov, where such a click is a miss, or drop.
	Unknown string `yaml:"unknown"`

	// How pairs are made of logs; the extracted tables are pairs already.
	Clicks    string `yaml:"clicks"`     // in the order they were shown, or clicked
	Stride    int    `yaml:"stride"`     // clicks from one window of a user to the next
	FirstOnly bool   `yaml:"first_only"` // of a user's records of one item only the first
	// a click before its item was shown: keep, drop or refuse; more such clicks than others are refused
	Early   string `yaml:"early"`
	Logs    string `yaml:"logs"`    // a user's logs of MIND: in the order of the file, or of time
	Pairing string `yaml:"pairing"` // of MIND: index, as the program lays histories beside slates, or log
	Most    int    `yaml:"most"`    // pairs of a user of MIND; 0: 5 by index, any number by log
}

// options returns the options for loading the pairs.
func (d DataConfig) options(seed rng.Seed) slate.Options {
	return slate.Options{Split: d.Split, Seed: seed, T: d.Slate, L: d.Behaviour, Clicks: d.Clicks, Stride: d.Stride,
		FirstOnly: d.FirstOnly,
		Early:     d.Early, Logs: d.Logs, Pairing: d.Pairing, Most: d.Most, Unknown: d.Unknown}
}

// OnConfig attacks the recommendations of a finished run of this program instead of a
// data set.
type OnConfig struct {
	Run     string `yaml:"run"`              // its directory; empty: none
	Beside  bool   `yaml:"beside,omitempty"` // the directory is relative to the folder that holds this run's own
	Release string `yaml:"release"`          // of a run that kept several; empty: its first one
}

// in returns the directory of the run, for an attack in directory own. With Beside a folder of runs
// can be moved as a whole.
func (c OnConfig) in(own string) string {
	if c.Beside {
		return filepath.Join(filepath.Dir(own), c.Run)
	}
	return c.Run
}

// TrainConfig describes the optimisation, stopped early on the validation loss. Adam, its rate
// and the pairs of a step are those of the attack itself.
type TrainConfig struct {
	attack.Training `yaml:",inline"`

	Epochs int `yaml:"epochs"` // the cap; 0: random weights, never trained
	// Batches are made anew in every epoch (each), or once, and then only their order changes.
	Batches string `yaml:"batches"`
	// Sample is the share of the training pairs that is trained on, drawn by the seed; 1:
	// all.
	Sample float64 `yaml:"sample"`
	// Patience ends the run after so many epochs in a row without a lower validation loss;
	// 0: never.
	Patience int    `yaml:"patience"`
	Select   string `yaml:"select"` // which epoch is reported: validation, the lowest loss there, or last
}

// dropsRepeated reports whether pairs with a repeated click leave the average.
func (c Config) dropsRepeated() bool { return c.Eval.Repeated == Drop && c.Attack.Decoder != "point" }

// ProtectConfig says what is done to slates before they are shown (section 4 of the
// paper).
type ProtectConfig struct {
	Select string `yaml:"select"` // which positions are replaced: none, random, similar or dissimilar
	// by what: uniform, popularity or in-batch; rr answers every position and selects none; empty: nothing
	Replace  string  `yaml:"replace"`
	Ratio    float64 `yaml:"ratio"`    // of the positions, in [0, 1)
	Epsilon  float64 `yaml:"epsilon"`  // of rr, one position
	Weighted bool    `yaml:"weighted"` // positions are drawn by similarity, not the first by it
	Tau      float64 `yaml:"tau"`      // temperature of that draw
	// Reference is what similarity is to: past, the user's behaviour, or slate, the mean of
	// the slate itself.
	Reference string `yaml:"reference"`
	// of similarity: a finished run of train sasrec on the same set, or here, trained in this run
	Vectors string `yaml:"vectors"`
	// VectorsEpochs is the most epochs of vectors that are trained here; 0: as many as train
	// sasrec takes.
	VectorsEpochs int `yaml:"vectors_epochs,omitempty"`
	Batch         int `yaml:"batch"` // slates that in-batch popularity is taken over
	// OwnRows leaves what the victim was shown among what in-batch draws from.
	OwnRows bool `yaml:"own_rows"`
	// Attacker is clean, trained on slates as they were, or adaptive, trained on
	// protected ones.
	Attacker string `yaml:"attacker"`
}

// On reports whether slates are changed at all.
func (c ProtectConfig) On() bool { return c.Replace != "" }

// SweepConfig says what of figures 6 to 13 is measured after the attack itself; empty lists sweep
// nothing. Every value is of the main protocol.
type SweepConfig struct {
	Select   []string  `yaml:"select"`   // with every replacement at every ratio: random, similar, dissimilar
	Replace  []string  `yaml:"replace"`  // uniform, popularity, in-batch
	Ratios   []float64 `yaml:"ratios"`   // above 0
	Epsilons []float64 `yaml:"epsilons"` // of rr, one position
	// Attackers meet every setting: clean, the attack of this run; adaptive is trained once
	// more for each.
	Attackers []string `yaml:"attackers"`
	Slates    []int    `yaml:"slates"` // figures 6 and 7: lengths up to data.slate, an attack trained for each
	// Evaluations lists what was swept among the run's evaluations too, where grids of figures
	// find it by names such as "random, uniform, ratio 0.2, clean attacker".
	Evaluations bool `yaml:"evaluations,omitempty"`
}

// settings returns the protections to sweep.
func (c SweepConfig) settings() []protect.Setting {
	return protect.Grid(c.Select, c.Replace, c.Ratios, c.Epsilons)
}

// similarity reports whether any protection of the sweep needs vectors.
func (c SweepConfig) similarity() bool {
	return len(c.Ratios) > 0 && len(c.Replace) > 0 && (slices.Contains(c.Select, protect.SelectSimilar) ||
		slices.Contains(c.Select, protect.SelectDissimilar))
}

// AttackerClean and AttackerAdaptive name the attackers on protected slates: trained on clean slates, and on protected
// ones.
const (
	AttackerClean    = "clean"    // trained on slates as they were, as in the paper
	AttackerAdaptive = "adaptive" // trained on protected slates
)

// Values of the choices above.
const (
	SplitUsers    = slate.SplitUsers
	SplitReleased = slate.SplitReleased

	Keep = "keep"
	Drop = "drop"

	batchesEach      = "each"
	batchesOnce      = "once"
	selectValidation = "validation"
	selectLast       = "last"
)

// Default returns the attack of the paper's text on Zhihu, with a mean encoder and the point-wise decoder, the
// strongest of the twelve when each is trained to its best epoch. All items are candidates, so the protocol gives the
// attacker nothing.
func Default() Config {
	return Config{
		Profile: "paper",
		Data: DataConfig{
			Name: "exposure-zhihu", Split: slate.SplitUsers, Slate: 10, Behaviour: 5, Unknown: slate.UnknownOOV,
			Clicks: slate.OrderShown, Stride: 1, Early: slate.EarlyKeep, Logs: slate.LogsFile, Pairing: slate.PairIndex,
		},
		Attack: attack.Paper("mean", "point"),
		Train: TrainConfig{
			Training: attack.PaperTraining(), Epochs: 200, Batches: batchesEach, Sample: 1, Patience: 3,
			Select: selectValidation,
		},
		Eval: slates.Eval{
			K: []int{5, 10, 20}, Vocabulary: []string{attack.VocabularyFull},
			Budget:   []string{attack.BudgetKL, attack.BudgetK},
			Repeated: Keep, Early: Keep, Confidence: 0.95, Resamples: 1000,
		},
		Protect: ProtectConfig{Select: protect.SelectNone, Tau: protect.DefaultTau, Reference: protect.ReferencePast,
			Batch: protect.DefaultBatch, Attacker: AttackerClean},
		Sweep: SweepConfig{Select: []string{}, Replace: []string{}, Ratios: []float64{}, Epsilons: []float64{},
			Attackers: []string{AttackerClean}, Slates: []int{}},
	}
}

// Code returns the attack of the released program. It undoes the departures that have a field, listed by number in the
// package comment; T stays as the setting has it.
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
