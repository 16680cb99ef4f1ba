package dipsgnn

import "privrec/internal/config"

// SRGNNConfig is one run of SR-GNN on the paper's data and protocol.
type SRGNNConfig struct {
	Profile string      `yaml:"profile"`
	Data    DataConfig  `yaml:"data"`
	Model   SRGNNModel  `yaml:"model"`
	Train   TrainConfig `yaml:"train"`
	Eval    RankConfig  `yaml:"eval"`
}

// SRGNNModel is SR-GNN's shape.
type SRGNNModel struct {
	Dim   int `yaml:"dim"`   // d
	Steps int `yaml:"steps"` // propagation steps
}

// APGNNConfig is one run of A-PGNN, without its history part, on the paper's
// data and protocol.
type APGNNConfig struct {
	Profile string      `yaml:"profile"`
	Data    DataConfig  `yaml:"data"`
	Model   APGNNModel  `yaml:"model"`
	Train   TrainConfig `yaml:"train"`
	Eval    RankConfig  `yaml:"eval"`
}

// APGNNModel is A-PGNN's shape.
type APGNNModel struct {
	Dim       int    `yaml:"dim"`        // d
	UserDim   int    `yaml:"user_dim"`   // d'
	Steps     int    `yaml:"steps"`      // propagation steps
	UserInput string `yaml:"user_input"` // features, as Hu & Fang compare it, or id, as A-PGNN was published
}

// RankConfig is the ranking on the test samples for models without noise.
type RankConfig struct {
	K     []int `yaml:"k"`
	Every bool  `yaml:"every"` // see EvalConfig
}

// DefaultSRGNN is SR-GNN's own setting: its released program's rate, decay, L2
// and batch, patience 10, 30 epochs.
func DefaultSRGNN() SRGNNConfig {
	return SRGNNConfig{
		Profile: "paper", Data: Default().Data,
		Model: SRGNNModel{Dim: 100, Steps: 1},
		Train: sessionTraining(),
		Eval:  RankConfig{K: []int{5, 10, 20}, Every: true},
	}
}

// DefaultAPGNN is A-PGNN at SR-GNN's training setting, which its own follows.
func DefaultAPGNN() APGNNConfig {
	return APGNNConfig{
		Profile: "paper", Data: Default().Data,
		Model: APGNNModel{Dim: 100, UserDim: 50, Steps: 1, UserInput: UserFeatures},
		Train: sessionTraining(),
		Eval:  RankConfig{K: []int{5, 10, 20}, Every: true},
	}
}

func sessionTraining() TrainConfig {
	t := Default().Train
	t.Epochs, t.Rate, t.Patience = 30, 0.001, 10
	return t
}

// ValidateSRGNN reports every setting that cannot be run, by line.
func ValidateSRGNN(c SRGNNConfig, doc *config.Document) error {
	v := config.NewChecker(doc)
	checkShared(v, c.shared())
	return v.Err()
}

// ValidateAPGNN reports every setting that cannot be run, by line.
func ValidateAPGNN(c APGNNConfig, doc *config.Document) error {
	v := config.NewChecker(doc)
	checkShared(v, c.shared())
	v.Between("model.user_dim", c.Model.UserDim, 1, maxDim)
	v.OneOf("model.user_input", c.Model.UserInput, UserFeatures, UserID)
	return v.Err()
}

// shared is what the pipeline needs to know of any of the three configs.
type shared struct {
	profile    string
	data       DataConfig
	dim, steps int
	userInput  string // empty: the model has no user vector
	train      TrainConfig
	k          []int
	every      bool
}

func (c Config) shared() shared {
	return shared{c.Profile, c.Data, c.Model.Dim, c.Model.Steps, c.Model.UserInput, c.Train, c.Eval.K, c.Eval.Every}
}

func (c SRGNNConfig) shared() shared {
	return shared{c.Profile, c.Data, c.Model.Dim, c.Model.Steps, "", c.Train, c.Eval.K, c.Eval.Every}
}

func (c APGNNConfig) shared() shared {
	return shared{c.Profile, c.Data, c.Model.Dim, c.Model.Steps, c.Model.UserInput, c.Train, c.Eval.K, c.Eval.Every}
}
