package nextitem

import (
	"privrec/internal/config"
	"privrec/internal/dataset/registry"
	"privrec/internal/experiment"
	"privrec/internal/model/userinput"
	"privrec/internal/train"
)

// Name names the protocol in results and configurations.
const Name = "next-item"

// Setting is one method under the protocol.
type Setting struct {
	Method   string              // as its table calls it
	Standing experiment.Standing // of the configuration to the profile that it names
	From     Data
	Fit      Training
	Eval     Ranking
	Table    Table // what a paper prints

	// LastItem holds out a user's last item for testing and the one before it for validation, if the data are split so.
	// Otherwise every prefix of a sequence is a sample.
	LastItem bool
	// Masked leaves the items of a sample out of its ranking, except a label that occurs again.
	Masked bool

	// Window cuts training sequences into windows of so many rows that do not overlap. Each is one sample, whose label
	// is its last row. 0: every prefix of a sequence is a sample.
	Window int

	// ByPosition makes positions the nodes of session graphs, so that a graph does not reveal which positions have the
	// same item. A network then has no items to read.
	ByPosition bool

	Optimizer func() train.Optimizer // a new one; nil: Adam with Fit.L2
}

// Data names the data set and how it is cut.
type Data struct {
	Name   string `yaml:"name" limit:"filled"` // a registered data set, see `privrec list`
	Recipe string `yaml:"recipe"`              // recipe of filters and split

	registry.Public `yaml:",inline"`

	// Candidates says which items are ranked: "train", those that a model can have learned, or "ten-core", also those
	// that only the test part has, since DIPSGNN's published program counts the items before the split.
	Candidates string `yaml:"candidates" limit:"train|ten-core"`
	// Floor shows simple models, computed at once, beside the result: "computed" or "none". Left out: for own data
	// only.
	Floor string `yaml:"floor,omitempty" limit:"|computed|none"`
}

// Training sets how a model is optimised. Source: DIPSGNN, section 5.2, and its published
// program.
type Training struct {
	Epochs     int     `yaml:"epochs" limit:"1..100000"`
	Batch      int     `yaml:"batch" limit:"1..1000000"`
	Rate       float64 `yaml:"rate" limit:"[1e-12,100]"`      // learning rate of the first epoch
	DecayBy    float64 `yaml:"decay_by" limit:"(0,1]"`        // factor of every decay of the rate
	DecayEvery int     `yaml:"decay_every" limit:"1..100000"` // number of epochs between decays of the rate
	// count an epoch before it begins, as the published program does: the first decay comes an epoch early
	TickBefore bool `yaml:"tick_before"`
	// penalty on the squares of the parameters, added to the gradient before Adam
	L2 float64 `yaml:"l2" limit:"[0,1)"`
	// stop after so many epochs without a better metric; 0: never stop early
	Patience int `yaml:"patience" limit:"0..100000"`
	// PatienceTotal counts the epochs of patience over the whole run and never restarts, as in the published
	// programs.
	PatienceTotal bool `yaml:"patience_total"`
	// Select says which epoch's model is reported: "validation" (best Recall@20 there), "last" or "test". "test"
	// takes the best on the test set, metric by metric, as the published program does; no method can be compared by
	// it.
	Select     string  `yaml:"select"`
	Validation float64 `yaml:"validation"` // share of the training samples held out; 0: none
	// Refit trains once more, on all training samples, for the number of epochs that validation chose. Without it the
	// reported model never saw the held-out ones.
	Refit           bool   `yaml:"refit"`
	ValidationSplit string `yaml:"validation_split"` // what is held out: sample (the paper) or user
	// MisalignUsers gives every training sample the features of a random other user, as the
	// shuffle of the published program does.
	MisalignUsers bool `yaml:"misalign_users"`
	// Sample is the chance that a training sample is used. Each is drawn by itself, once, before any are held out. 0,
	// or left out: all are used.
	Sample float64 `yaml:"sample,omitempty"`
	// Stride cuts all of a user's items into windows, under protocol leave-one-out alone. Each window has so many
	// labels that no window before it has. A batch counts windows.
	Stride int `yaml:"stride,omitempty"`
}

// Ranking sets how the test samples are ranked.
type Ranking struct {
	K []int `yaml:"k" limit:"some cutoff in 1..100000"`
	// Every also ranks the test samples after each epoch of the reported model, for the row "best on test". If no
	// sample is held out, patience watches it.
	Every bool `yaml:"every"`
}

// Values of the choices above.
const (
	CandidatesTrain   = "train"
	CandidatesTenCore = "ten-core"
	SelectValidation  = "validation"
	SelectLast        = "last"
	SelectTest        = "test"
	SplitSample       = "sample"
	SplitUser         = "user"
	NoiseOn           = "on" // evaluations with the noise of training, and without
	NoiseOff          = "off"
)

// ML1M returns MovieLens 1M as DIPSGNN cuts it.
func ML1M() Data { return Data{Name: "ml-1m", Recipe: "dipsgnn", Candidates: CandidatesTrain} }

// SessionTraining returns the training of SR-GNN's published program: rate, decay, L2 and
// batch, patience 10, 30 epochs. The models that are compared with it follow it.
func SessionTraining() Training {
	return Training{
		Epochs: 30, Batch: 100, Rate: 0.001, DecayBy: 0.1, DecayEvery: 3, TickBefore: true,
		L2: 1e-5, Patience: 10, PatienceTotal: true,
		Select: SelectValidation, Validation: 0.1, Refit: true, ValidationSplit: SplitSample,
	}
}

// Check reports optimisation settings, and settings of the watched ranking, that cannot be used.
func (t Training) Check(v *config.Checker, r Ranking) {
	v.OneOf("train.select", t.Select, SelectValidation, SelectLast, SelectTest)
	v.Below("train.validation", t.Validation, 0, 1)
	v.Below("train.sample", t.Sample, 0, 1)
	v.Check(t.Select != SelectValidation || t.Validation > 0, "train.validation",
		"must be above 0 to select on validation")
	v.Check(!t.Refit || t.Select == SelectValidation, "train.refit", "needs train.select: %s", SelectValidation)
	v.Check(t.Select != SelectTest || r.Every, "eval.every", "must be true to select on test")
	v.Check(t.Patience == 0 || t.Validation > 0 || r.Every, "train.patience",
		"needs train.validation or eval.every to watch")
	v.OneOf("train.validation_split", t.ValidationSplit, SplitSample, SplitUser)
	v.Check(t.Stride == 0, "train.stride", "belongs to protocol leave-one-out, must be left out")
}

// CheckLastItem reports optimisation and ranking settings that cannot be used under leave-one-out. The learner checks
// its own stride.
func (t Training) CheckLastItem(v *config.Checker, r Ranking) {
	v.OneOf("train.select", t.Select, SelectValidation)
	v.OneOf("train.validation_split", t.ValidationSplit, SplitSample)
	for key, set := range map[string]bool{
		"train.validation": t.Validation != 0, "train.refit": t.Refit, "train.misalign_users": t.MisalignUsers,
		"train.sample":         t.Sample != 0,
		"train.patience_total": t.PatienceTotal, "eval.every": r.Every,
	} {
		v.Check(!set, key, "has no meaning under leave-one-out, must be 0 or false")
	}
}

// Length returns how long a training lasts.
func (t Training) Length() train.Length {
	return train.Length{Epochs: t.Epochs, Patience: t.Patience}
}

// Selected reports whether held-out samples decide anything about the model.
func (t Training) Selected() bool { return t.Select != SelectLast || t.Patience > 0 || t.Refit }

// Passes numbers the passes of a run.
func (t Training) Passes() Passes { return Passes{t.Epochs} }

// Suit sets the recipe to one that suits the data and the method's need, if the user named none. A need for any cut
// gets registry.Prefixes.
func (d *Data) Suit(doc *config.Document, n registry.Need) (err error) {
	if n.Cut == registry.AnyCut {
		n.Cut = registry.Prefixes
	}
	d.Recipe, err = registry.Suit(doc, d.Name, d.Recipe, n)
	return err
}

// SuitUsers returns the source of user vectors, if the user did not choose: features if the data have any, otherwise
// the user alone.
func (d Data) SuitUsers(doc *config.Document, input string) string {
	if doc.Given("model.user_input") || registry.HasFeatures(d.Name, d.Recipe) {
		return input
	}
	return userinput.ID
}
