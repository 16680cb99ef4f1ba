package dipsgnn

import (
	"math"
	"slices"

	"privrec/internal/config"
	"privrec/internal/dataset/registry"
	"privrec/internal/experiment"
	"privrec/internal/model/userinput"
	"privrec/internal/protocol/nextitem"
	"privrec/internal/train"
)

// Config is one training run of DIPSGNN. Where the paper, its published program and sound
// accounting part, each choice is a field of its own. A profile is a named set of values for
// them.
type Config struct {
	// name of the set of choices, for reports: paper, code, repaired, or your own
	Profile string            `yaml:"profile" limit:"filled"`
	Data    nextitem.Data     `yaml:"data"`
	Model   ModelConfig       `yaml:"model"`
	Privacy PrivacyConfig     `yaml:"privacy"`
	Train   nextitem.Training `yaml:"train"`
	Eval    EvalConfig        `yaml:"eval"`
}

// ModelConfig sets the shape of the network.
type ModelConfig struct {
	Dim     int `yaml:"dim" limit:"1..4096"`      // d, width of the vectors of items
	UserDim int `yaml:"user_dim" limit:"1..4096"` // d', width of the vectors of users
	Steps   int `yaml:"steps" limit:"1..100"`     // T, the number of propagation steps
	// C, the norm of rescaled rows and the longest norm of clipped ones
	Norm float64 `yaml:"norm" limit:"[1e-6,1e6]"`
	// rescale (every row to norm C), clip (longer rows only) or none
	Normalise string `yaml:"normalise" limit:"rescale|clip|none"`
	// counts; or zero, an ablation in which only noise comes through the graph
	Adjacency string `yaml:"adjacency" limit:"counts|zero"`
	// what describes a user: features, or id (Figure 7's -U variants)
	UserInput string `yaml:"user_input" limit:"features|id"`
}

// PrivacyConfig sets both budgets of Table 2 and how the noise is really made.
type PrivacyConfig struct {
	Features    FeatureConfig    `yaml:"features"`
	Transitions TransitionConfig `yaml:"transitions"`
	// Parent names the file of a budget from which all runs on the same data spend; "": none.
	Parent string `yaml:"parent,omitempty"`
}

// FeatureConfig sets the local perturbation of user features. Source: section 4.2.
type FeatureConfig struct {
	Epsilon float64 `yaml:"epsilon" config:"inf"` // eps1, for a user's whole record; .inf: features without noise
	// Unselected says what happens to features that are not among a user's k. "zero" sets them to 0, as in the paper.
	// "raw", with one choice of features for all users, sends them unprotected, as the published program does.
	Unselected string `yaml:"unselected" limit:"zero|raw"`
}

// TransitionConfig sets the noise on the aggregated messages. Source: section 4.3.
type TransitionConfig struct {
	Epsilon float64 `yaml:"epsilon" config:"inf"` // eps2, as the theorem claims it; .inf: no noise
	Delta   float64 `yaml:"delta" limit:"(0,1)"`
	// NoiseOn says what gets noise: "messages" (DIPSGNN, which "" means too) or "edges" (EdgeRand).
	NoiseOn string `yaml:"noise_on,omitempty" limit:"|messages|edges"`
	// NoiseStd sets the standard deviation of the noise: "sigma", as the theorem calibrates it, or "sigma_squared",
	// as the published program adds it.
	NoiseStd string `yaml:"noise_std" limit:"sigma|sigma_squared"`
	// Count says what one epsilon covers. "": one release of one matrix, as in theorem 4.2. "edge": one transition,
	// over all releases of the run. "swap": two neighbouring items that change places, over all releases of the run.
	Count string `yaml:"count,omitempty" limit:"|edge|swap"`
	// StopGradient keeps the backward pass from going through the transitions.
	StopGradient bool `yaml:"stop_gradient,omitempty"`
	// Window cuts training sequences into separate windows of so many rows. Each is one sample, whose label is its
	// last row. 0: every prefix of a sequence is a sample.
	Window int `yaml:"window,omitempty"`
}

// EvalConfig sets how the test samples are ranked. Source: section 5.2.
type EvalConfig struct {
	K []int `yaml:"k" limit:"some cutoff in 1..100000"`
	// Noise lists the evaluations made from the same weights. "on" perturbs the test samples'
	// aggregations as in training. "off" does not, and protects no edge.
	Noise []string `yaml:"noise" limit:"some of on|off"`
	// Every also ranks the test samples after each epoch of the reported model, for the row "best on test". If no
	// sample is held out, patience watches it.
	Every bool `yaml:"every"`
}

// onEdges reports whether session graphs have the noise.
func (t TransitionConfig) onEdges() bool { return t.NoiseOn == NoiseOnEdges }

// Values of the choices above.
const (
	NormaliseRescale = "rescale"
	NormaliseClip    = "clip"
	NormaliseNone    = "none" // no bound: for noise on edges, or none
	AdjacencyCounts  = "counts"
	AdjacencyZero    = "zero"
	UnselectedZero   = "zero"
	UnselectedRaw    = "raw"
	StdSigma         = "sigma"
	StdSigmaSquared  = "sigma_squared"
	NoiseOnMessages  = "messages"
	NoiseOnEdges     = "edges"
	CountEdge        = "edge"
	CountSwap        = "swap"
)

// Default returns the paper's setting on ML-1M. Sources: section 5.2 of the paper for widths,
// epochs, eps1 and eps2; the published program for rate, decay, L2, batch, patience and delta;
// Figure 6's best point for C. T is stated nowhere for Table 2, and Figure 6 uses 1.
func Default() Config {
	return Config{
		Profile: "paper",
		Data:    nextitem.ML1M(),
		Model: ModelConfig{
			Dim: 100, UserDim: 50, Steps: 1, Norm: 0.2,
			Normalise: NormaliseRescale, Adjacency: AdjacencyCounts, UserInput: userinput.Features,
		},
		Privacy: PrivacyConfig{
			Features:    FeatureConfig{Epsilon: 20, Unselected: UnselectedZero},
			Transitions: TransitionConfig{Epsilon: 5, Delta: 2.5e-7, NoiseStd: StdSigma},
		},
		Train: nextitem.Training{
			Epochs: 10, Batch: 100, Rate: 0.01, DecayBy: 0.1, DecayEvery: 3, TickBefore: true,
			L2: 1e-5, Patience: 5, PatienceTotal: true,
			Select: nextitem.SelectValidation, Validation: 0.1, Refit: true, ValidationSplit: nextitem.SplitSample,
		},
		Eval: EvalConfig{K: []int{5, 10, 20}, Noise: []string{nextitem.NoiseOn, nextitem.NoiseOff}, Every: true},
	}
}

// check reports every setting that cannot be run.
func check(v *config.Checker, c Config) {
	c.Train.Check(v, nextitem.Ranking{K: c.Eval.K, Every: c.Eval.Every})
	c.Privacy.Features.Check(v)
	t := c.Privacy.Transitions
	checkEpsilon(v, "privacy.transitions.epsilon", t.Epsilon)
	v.Check(!t.onEdges() || t.NoiseStd == StdSigma, "privacy.transitions.noise_std", "must be %s for noise on %s",
		StdSigma, NoiseOnEdges)
	v.Check(!t.onEdges() || !math.IsInf(t.Epsilon, 1), "privacy.transitions.epsilon", "must be finite for noise on %s",
		NoiseOnEdges)
	c.checkCount(v)
	v.Check(c.Model.Normalise != NormaliseNone || t.onEdges() || math.IsInf(t.Epsilon, 1), "model.normalise",
		"must bound the rows that noise on %s is calibrated to", NoiseOnMessages)
	if v.OK() && !math.IsInf(t.Epsilon, 1) {
		_, std := c.deviations()
		v.Check(std > minStd && std < maxStd, "privacy.transitions.epsilon",
			"gives noise of standard deviation %v with model.norm and model.steps, which floating point does not hold",
			std)
	}
	v.Check(!slices.Contains(c.Eval.Noise, nextitem.NoiseOn) || !math.IsInf(t.Epsilon, 1), "eval.noise",
		"%q needs a finite privacy.transitions.epsilon", nextitem.NoiseOn)
}

// leastWindow is the shortest window: two items that can change places, the last item before the label, and the label.
const leastWindow = 4

// checkCount reports a run whose releases are unknown before it begins, if epsilon is for all of them.
func (c Config) checkCount(v *config.Checker) {
	t := c.Privacy.Transitions
	if t.Window != 0 {
		v.Between("privacy.transitions.window", t.Window, leastWindow, 1_000_000)
		v.Check(c.Train.Validation == 0 && !c.Train.MisalignUsers && !t.onEdges(), "privacy.transitions.window",
			"needs train.validation=0, train.misalign_users=false and noise on %s", NoiseOnMessages)
	}
	if t.Count == "" {
		return
	}
	v.Check(!c.Train.Selected(), "privacy.transitions.count",
		"is for a known number of releases: needs train.select=%s, train.patience=0 and train.refit=false",
		nextitem.SelectLast)
	v.Check(!t.onEdges() && !math.IsInf(t.Epsilon, 1) && t.NoiseStd == StdSigma, "privacy.transitions.count",
		"needs noise on %s, a finite epsilon and noise_std=%s", NoiseOnMessages, StdSigma)
	v.Check(c.Model.Adjacency == AdjacencyCounts, "privacy.transitions.count", "needs model.adjacency=%s",
		AdjacencyCounts)
	v.Check(t.Count != CountSwap || t.Window > 0, "privacy.transitions.count",
		"%s needs privacy.transitions.window: the labels of all prefixes of a sequence show its order", CountSwap)
}

// Check reports settings of the perturbation of user features that cannot be used.
func (c FeatureConfig) Check(v *config.Checker) {
	checkEpsilon(v, "privacy.features.epsilon", c.Epsilon)
}

// Limits of the noise. Beyond them float32 loses the noise, or the noise swamps everything else.
const (
	minStd = 1e-20
	maxStd = 1e20
)

// Limits beyond any sensible value: a value outside is a mistake.
const (
	minEpsilon = 1e-6
	maxEpsilon = 1000
)

// checkEpsilon accepts .inf, which switches a mechanism off.
func checkEpsilon(v *config.Checker, key string, x float64) {
	v.Check(x >= minEpsilon && (x <= maxEpsilon || math.IsInf(x, 1)), key, "must lie in [%g,%d] or be .inf, got %v",
		minEpsilon, maxEpsilon, x)
}

// Code returns the published program's setting on ML-1M, including its mistakes: noise of standard deviation sigma
// squared, features of random other users in training, unselected features in the clear, the test set choosing the
// epoch metric by metric, candidates counted before the split, and no noise in evaluation.
func Code() Config {
	c := Default()
	c.Profile = "code"
	c.Data.Candidates = nextitem.CandidatesTenCore
	c.Privacy.Features.Unselected = UnselectedRaw
	c.Privacy.Transitions.NoiseStd = StdSigmaSquared
	c.Train.Select, c.Train.Validation, c.Train.Refit = nextitem.SelectTest, 0, false
	c.Train.MisalignUsers = true
	c.Eval.Noise = []string{nextitem.NoiseOff}
	return c
}

// setting returns a configuration in the form of the protocol.
func (c Config) setting() (nextitem.Setting, error) {
	length := func(c Config) train.Length { return c.Train.Length() }
	s, err := experiment.Stand(c, c.Profile, map[string]Config{"paper": Default(), "code": Code(),
		"edgerand": EdgeRand()}, length)
	method := "DIPSGNN"
	if c.Privacy.Transitions.onEdges() {
		method = "EdgeRand"
	}
	return nextitem.Setting{
		Method: method, Standing: s, From: c.Data, Fit: c.Train,
		Eval: nextitem.Ranking{K: c.Eval.K, Every: c.Eval.Every}, Table: Tables(),
		Window: c.Privacy.Transitions.Window,
	}, err
}

// SpendsFrom implements run.Spender.
func (c Config) SpendsFrom() string { return c.Privacy.Parent }

// Suit implements run.Suited.
func (c *Config) Suit(doc *config.Document) error {
	err := c.Data.Suit(doc, registry.Need{})
	c.Model.UserInput = c.Data.SuitUsers(doc, c.Model.UserInput)
	return err
}
