package rdpgcf

// Config is one training run of RDP-GCF. Where the paper says nothing, or cannot
// mean what it says, each choice is a field of its own; a profile is nothing but a
// named set of values for them.
type Config struct {
	Profile string        `yaml:"profile"` // name of the set of choices, for reports: paper, code, repaired, or your own
	Data    DataConfig    `yaml:"data"`
	Model   ModelConfig   `yaml:"model"`
	Privacy Privacy       `yaml:"privacy"`
	Train   TrainConfig   `yaml:"train"`
	Release ReleaseConfig `yaml:"release"`
	Eval    EvalConfig    `yaml:"eval"`
}

// DataConfig names the data set and how it is cut (section 4.1).
type DataConfig struct {
	Name   string `yaml:"name"`   // a registered data set, see `privrec list`
	Recipe string `yaml:"recipe"` // filters and split
}

// ModelConfig is the network's shape (section 3).
type ModelConfig struct {
	Dim    int    `yaml:"dim"`    // d
	Layers int    `yaml:"layers"` // L; the weights are 1/(1+L), that of layer 0 included
	Norm   string `yaml:"norm"`   // of the propagation: sym, sym-clamp:K, right-clamp:K, sum
	// NormaliseRows gives the rows of every layer length 1 (eq. 9).
	NormaliseRows bool `yaml:"normalise_rows"`
	// Scale multiplies the scores in the loss: 1 is the literal reading, under which
	// unit rows bound every score and hardly anything is learned; 10 mends that.
	Scale float64    `yaml:"scale"`
	Init  InitConfig `yaml:"init"`
}

// InitConfig is how the tables begin.
type InitConfig struct {
	Law string  `yaml:"law"` // xavier (uniform) or normal
	Std float64 `yaml:"std"` // of normal
}

// TrainConfig is the optimisation: Adam on BPR triples (eq. 12, Algorithm 2).
type TrainConfig struct {
	Epochs int     `yaml:"epochs"` // the cap: early stopping may end before
	Batch  int     `yaml:"batch"`
	Rate   float64 `yaml:"rate"`
	L2     float64 `yaml:"l2"` // lambda; half the squares of the rows of the batch over the batch, as the released program of LightGCN has it
	// Decay times every parameter joins its gradient at every step, before Adam sees it
	// (torch.optim.Adam's weight_decay): rows that few steps touch shrink most. No
	// publication here uses it; it is for tuning.
	Decay float64 `yaml:"decay"`
	// RateBy multiplies the rate after every RateEvery epochs; every 0 and by 1 leave it.
	RateEvery int     `yaml:"rate_every"`
	RateBy    float64 `yaml:"rate_by"`
	// Sampler is how the positive pairs of a step come: "pass", a shuffled pass over
	// the edges, "user-uniform", a uniform user and one of their items each time, as
	// the released program of LightGCN does, or "poisson", every edge by itself.
	Sampler   string `yaml:"sampler"`
	Negatives string `yaml:"negatives"` // unseen: not among the user's training items; all
	// Each is how many negatives every positive has, their terms averaged. The
	// publications have 1; more are for tuning baselines.
	Each int `yaml:"negatives_each"`
	// Patience ends the run after so many epochs in a row in which neither Recall@20
	// nor NDCG@20 on validation got better; 0: never.
	Patience int    `yaml:"patience"`
	Select   string `yaml:"select"` // the model that is reported: validation (best Recall@20 there) or last
}

// ReleaseConfig is which vectors are ranked and given out after training, which
// the paper does not say.
type ReleaseConfig struct {
	// Kinds lists the releases, the first one that of validation: "noisy", one more
	// noisy propagation, "avg", the mean of Average noisy ones, each accounted for,
	// "clean", without noise, which protects nothing.
	Kinds   []string `yaml:"kinds"`
	Average int      `yaml:"average"` // R of avg
}

// EvalConfig is the ranking on the test rows.
type EvalConfig struct {
	K     []int `yaml:"k"`
	Every bool  `yaml:"every"` // rank the test rows after every epoch too, for the curve alone: it chooses nothing
	// Sigmoid ranks by 1/(1+exp(-score)) in 32 bits, as the released PyTorch program of
	// LightGCN does: scores of more than about 10 lose digits there and those above 17
	// are all 1, so that the best items of a user tie.
	Sigmoid bool `yaml:"sigmoid"`
}

// Values of the choices above.
const (
	LawXavier        = "xavier"
	LawNormal        = "normal"
	SelectValidation = "validation"
	SelectLast       = "last"
	ReleaseNoisy     = "noisy"
	ReleaseAvg       = "avg"
	ReleaseClean     = "clean"
)

// Default is the paper's setting (section 4.1) on Gowalla: its hyper-parameters, and
// for what it leaves open a shuffled pass, unseen negatives, one more noisy release
// and the literal scores.
func Default() Config {
	return Config{
		Profile: "paper",
		Data:    DataConfig{Name: "gowalla", Recipe: "rdpgcf"},
		Model: ModelConfig{Dim: 64, Layers: 3, Norm: "sym", NormaliseRows: true, Scale: 1,
			Init: InitConfig{Law: LawXavier}},
		Privacy: DefaultPrivacy(),
		Train: TrainConfig{Epochs: 300, Batch: 1024, Rate: 1e-3, L2: 1e-4, Sampler: "pass", Negatives: "unseen", Each: 1,
			RateBy: 1, Patience: 10, Select: SelectValidation},
		Release: ReleaseConfig{Kinds: []string{ReleaseNoisy, ReleaseAvg, ReleaseClean}, Average: 16},
		Eval:    EvalConfig{K: []int{20}},
	}
}

// Code is the setting with what the released program of LightGCN does wherever the
// paper says nothing: there is no released program of RDP-GCF.
func Code() Config {
	c := Default()
	c.Profile = "code"
	c.Model.Init = InitConfig{Law: LawNormal, Std: 0.1}
	c.Train.Sampler = "user-uniform"
	c.Eval.Sigmoid = true
	return c
}
