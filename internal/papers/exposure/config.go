package exposure

import (
	"path/filepath"
	"slices"

	attack "privrec/internal/attack/exposure"
	"privrec/internal/dataset/slate"
	"privrec/internal/papers/exposure/protect"
	"privrec/internal/protocol/imported"
	"privrec/internal/protocol/slates"
)

// Config describes one attack: the pairs it learns from and is measured on, its network, its
// training, how its guesses are counted, and what is done to the slates before it sees
// them. Where the paper and its program differ, each choice is a field of its own, which
// the package comment lists; a profile is a named set of values.
type Config struct {
	// name of the set of choices, for reports: paper, code or your own
	Profile string     `yaml:"profile" limit:"filled"`
	Data    DataConfig `yaml:"data"`
	On      OnConfig   `yaml:"on"`
	// lists of a model that another program trained, to attack in place of a data set
	Files   imported.Source `yaml:"files,omitempty"`
	Attack  attack.Config   `yaml:"attack"`
	Train   TrainConfig     `yaml:"train"`
	Eval    slates.Eval     `yaml:"eval"`
	Protect ProtectConfig   `yaml:"protect"`
	Sweep   SweepConfig     `yaml:"sweep"`
}

// DataConfig sets where pairs of a slate and a behaviour come from and how they are cut.
type DataConfig struct {
	// a set of slates, or own-NAME for your own log; not read if on.run is set
	Name  string `yaml:"name"`
	Split string `yaml:"split" limit:"users|released"` // users: split by users; released: as in the authors' files
	Slate int    `yaml:"slate" limit:"1..1000"`        // T, number of items in a slate
	// L, number of clicks before the slate, which the attack guesses
	Behaviour int `yaml:"behaviour" limit:"1..100"`
	// Unknown says what happens to an evaluated pair with an item that no training pair has: oov counts such a click
	// as a miss, drop leaves the pair out.
	Unknown string `yaml:"unknown" limit:"oov|drop"`

	// order of clicks when pairs are made from logs: shown or clicked. This key and those below do not change
	// extracted tables, which are pairs already
	Clicks    string `yaml:"clicks" limit:"shown|clicked"`
	Stride    int    `yaml:"stride" limit:"1..1000"` // number of clicks between the starts of a user's windows
	FirstOnly bool   `yaml:"first_only"`             // keep only the first of a user's records of an item
	// a click before its item was shown: keep, drop or refuse. If more clicks are early than not, the data are
	// refused
	Early string `yaml:"early" limit:"keep|drop|refuse"`
	Logs  string `yaml:"logs" limit:"file|time"` // order of a user's logs of MIND: file or time
	// how slates and histories of MIND are paired: index, as the program does, or log
	Pairing string `yaml:"pairing" limit:"index|log"`
	// most pairs of a user of MIND; 0: 5 under pairing index, no limit under log
	Most int `yaml:"most" limit:"0..1000000"`
}

// options returns the options for loading the pairs.
func (d DataConfig) options() slate.Options {
	return slate.Options{Split: d.Split, T: d.Slate, L: d.Behaviour, Clicks: d.Clicks, Stride: d.Stride,
		FirstOnly: d.FirstOnly,
		Early:     d.Early, Logs: d.Logs, Pairing: d.Pairing, Most: d.Most, Unknown: d.Unknown}
}

// OnConfig attacks the recommendations of a finished run of this program instead of a
// data set.
type OnConfig struct {
	Run    string `yaml:"run"`              // directory of the attacked run; empty: attack a data set
	Beside bool   `yaml:"beside,omitempty"` // true: run is relative to the folder that holds this run's own directory
	// which release of the run to attack, where it kept several; empty: its first one
	Release string `yaml:"release"`
}

// in returns the directory of the run, for an attack in directory own. With Beside a folder of runs
// can be moved as a whole.
func (c OnConfig) in(own string) string {
	if c.Beside {
		return filepath.Join(filepath.Dir(own), c.Run)
	}
	return c.Run
}

// TrainConfig sets the training, which stops early on the validation loss. Adam, its rate and the pairs in a step are
// those of the attack itself.
type TrainConfig struct {
	attack.Training `yaml:",inline"`

	Epochs int `yaml:"epochs" limit:"0..100000"` // most epochs; 0: the initial random weights, untrained
	// Batches says when pairs are dealt to batches: anew in each epoch, or once, after which only the order of
	// batches changes.
	Batches string `yaml:"batches" limit:"each|once"`
	// Sample is the share of the training pairs to train on, drawn by the seed; 1: all.
	Sample float64 `yaml:"sample" limit:"(0,1]"`
	// Patience stops the run after so many epochs in a row without a lower validation loss; 0: never.
	Patience int `yaml:"patience" limit:"0..100000"`
	// which epoch's model is reported: validation (lowest loss there) or last
	Select string `yaml:"select" limit:"validation|last"`
}

// dropsRepeated reports whether pairs with a repeated click leave the average.
func (c Config) dropsRepeated() bool { return c.Eval.Repeated == Drop && c.Attack.Decoder != "point" }

// ProtectConfig sets how slates are protected before they are shown (section 4 of the paper).
type ProtectConfig struct {
	Select string `yaml:"select"` // which positions are replaced: none, random, similar or dissimilar
	// replacement items: uniform, popularity or in-batch; rr randomises every position, without select; empty: no
	// replacement
	Replace string  `yaml:"replace" limit:"uniform|popularity|in-batch|rr?"`
	Ratio   float64 `yaml:"ratio"`   // share of the positions to replace, in [0, 1)
	Epsilon float64 `yaml:"epsilon"` // epsilon of replacement rr, for one position
	// true: draw positions with weights by similarity; false: take the first ones by it
	Weighted bool    `yaml:"weighted"`
	Tau      float64 `yaml:"tau" limit:"[1e-9,1e9]"` // temperature of the draw if weighted
	// Reference says what items are compared with for similarity: past (the user's behaviour) or slate (the mean of
	// the slate itself).
	Reference string `yaml:"reference" limit:"past|slate"`
	// vectors for similarity: the directory of a finished run of train sasrec on the same set, or here: trained in
	// this run
	Vectors string `yaml:"vectors"`
	// VectorsEpochs is the most epochs of training for vectors: here; 0: the default of train sasrec.
	VectorsEpochs int `yaml:"vectors_epochs,omitempty"`
	Batch         int `yaml:"batch" limit:"2..1000000"` // number of slates over which in-batch popularity is counted
	// OwnRows lets replacement in-batch also draw from what the victim was shown.
	OwnRows bool `yaml:"own_rows"`
	// Attacker says on which slates the attack is trained: clean (unprotected) or adaptive (protected) ones.
	Attacker string `yaml:"attacker" limit:"clean|adaptive"`
}

// On reports whether slates are changed at all.
func (c ProtectConfig) On() bool { return c.Replace != "" }

// SweepConfig says which points of figures 6 to 13 are measured after the attack itself, under the main protocol.
// Empty lists: none.
type SweepConfig struct {
	// random, similar, dissimilar; each is measured with every replacement at every ratio
	Select []string `yaml:"select" limit:"any of random|similar|dissimilar"`
	// replacement items: uniform, popularity, in-batch
	Replace []string `yaml:"replace" limit:"any of uniform|popularity|in-batch"`
	// shares of positions to replace, above 0
	Ratios []float64 `yaml:"ratios"`
	// values of epsilon for replacement rr, for one position
	Epsilons []float64 `yaml:"epsilons"`
	// Attackers lists the attackers of every setting: clean (the attack of this run) and adaptive (trained again for
	// each setting).
	Attackers []string `yaml:"attackers" limit:"some of clean|adaptive"`
	// lengths of slates for figures 6 and 7, up to data.slate; an attack is trained for each
	Slates []int `yaml:"slates"`
	// Evaluations also lists the swept results among the run's evaluations, for grids of figures, under names such as
	// "random, uniform, ratio 0.2, clean attacker".
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
