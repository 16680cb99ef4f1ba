package eventlog

import (
	"privrec/internal/config"
	"privrec/internal/privacy"
)

// Version is the version of the file format, the value of the key privrec_events.
const Version = 1

// File holds the content of a file of events. Its keys are those of the YAML form. In JSON Lines the first line has all
// of them, and each further line is an Event or an End.
type File struct {
	Version    int                  `yaml:"privrec_events"`
	Title      string               `yaml:"title"`
	Unit       privacy.Unit         `yaml:"unit"`       // whose guarantee is wanted
	Neighbours privacy.Neighbouring `yaml:"neighbours"` // add-remove where none is given
	Records    *int64               `yaml:"records"`    // how many of the unit the data have
	Delta      *float64             `yaml:"delta"`
	Claim      *Claim               `yaml:"claim"`
	Noise      *Noise               `yaml:"noise"`
	Tuning     *Tuning              `yaml:"tuning"`
	Holds      []Hold               `yaml:"holds"`
	Released   []string             `yaml:"released"` // what leaves, in words
	Open       []Open               `yaml:"open"`     // what leaves without noise
	Public     []Public             `yaml:"public"`   // what is taken as public
	End        *End                 `yaml:"end"`
	Events     []Event              `yaml:"events"`

	path   string
	places []place // of the events
	head   place
	ended  int // events before the closing line of JSON Lines; -1: there is none
}

// Claim holds the epsilon that those who trained the model state.
type Claim struct {
	Epsilon float64      `yaml:"epsilon"`
	Delta   float64      `yaml:"delta"`
	Unit    privacy.Unit `yaml:"unit"` // empty: that of the file
	By      string       `yaml:"by"`   // by whom, or with which program
}

// Noise says how the random numbers were made.
type Noise struct {
	Numbers string `yaml:"numbers"` // exact, float
	Seed    string `yaml:"seed"`    // none, secret, published
}

// Tuning says how settings and the epoch were chosen.
type Tuning struct {
	Runs    int64    `yaml:"runs"`    // trainings, the released one included
	Rows    string   `yaml:"rows"`    // what they were compared on: none, public, private
	Counted string   `yaml:"counted"` // nothing, as-events, random-runs
	Eta     *float64 `yaml:"eta"`     // of random-runs: law of the number of runs
	Mean    *float64 `yaml:"mean"`    // of random-runs: its mean
	Epoch   string   `yaml:"epoch"`   // how the end was chosen: last, public, private, counted
}

// Hold gives the largest number of units of one kind that one unit of another kind has.
type Hold struct {
	Unit privacy.Unit `yaml:"unit"`
	Of   privacy.Unit `yaml:"of"`
	Most int64        `yaml:"most"`
}

// Open names a release without noise.
type Open struct {
	What string       `yaml:"what"`
	Why  string       `yaml:"why"`
	Unit privacy.Unit `yaml:"unit"` // empty: about every unit
}

// Public names an assumption of the guarantee.
type Public struct {
	What string `yaml:"what"`
	Why  string `yaml:"why"`
}

// End holds the file's statement about its own end.
type End struct {
	Events *int64 `yaml:"events"` // how many there are
	At     string `yaml:"at"`     // date or time of the last release
}

// Event describes one mechanism and its number of uses. The required keys depend on the mechanism.
type Event struct {
	Name       string               `yaml:"name"`
	Mechanism  string               `yaml:"mechanism"`
	Unit       privacy.Unit         `yaml:"unit"`       // empty: that of the file
	Neighbours privacy.Neighbouring `yaml:"neighbours"` // empty: those of the file
	At         string               `yaml:"at"`         // date or time

	Releases *int64 `yaml:"releases"` // 1 where none is given
	Steps    *int64 `yaml:"steps"`    // of dp-sgd, and of the stream of correlated-gaussian
	PerUnit  *int64 `yaml:"per_unit"` // of the releases, those that one unit takes part in

	NoiseMultiplier *float64 `yaml:"noise_multiplier"` // standard deviation over clipping norm
	SamplingRate    *float64 `yaml:"sampling_rate"`
	Sampling        string   `yaml:"sampling"`

	// what enters a sample by a draw of its own; empty: that of the event
	SampledUnit privacy.Unit `yaml:"sampled_unit"`

	Sigma       *float64 `yaml:"sigma"`
	Scale       *float64 `yaml:"scale"`
	Sensitivity *float64 `yaml:"sensitivity"`
	Norm        *float64 `yaml:"norm"`
	Clip        *float64 `yaml:"clip"` // norm that the vectors of a sum were clipped to
	Epsilon     *float64 `yaml:"epsilon"`
	Categories  *int64   `yaml:"categories"`
	Keep        *float64 `yaml:"keep"` // probability of the true answer
	Dimension   *int64   `yaml:"dimension"`

	Strategy string    `yaml:"strategy"` // of correlated-gaussian, as those below
	Bands    *int64    `yaml:"bands"`
	Weights  []float64 `yaml:"weights"`
	Decays   []float64 `yaml:"decays"`
	Column   []float64 `yaml:"column"`
	Times    *int64    `yaml:"times"` // most steps that one unit is in; 1 where none is given
	Apart    *int64    `yaml:"apart"` // fewest steps from one of them to the next; 1 where none is given

	Fixed  bool    `yaml:"fixed"` // of parallel: a unit stays in its part
	Events []Event `yaml:"events"`
	Log    *Log    `yaml:"log"`
}

// Log holds what a training program recorded.
type Log struct {
	Records       *int64       `yaml:"records"` // that batches are drawn from
	Batch         *int64       `yaml:"batch"`   // records in a batch, the expected number where it is random
	Epochs        *float64     `yaml:"epochs"`
	Steps         *int64       `yaml:"steps"`
	StepsPerEpoch *int64       `yaml:"steps_per_epoch"`
	Loader        string       `yaml:"loader"`      // poisson, shuffled, in-order, fixed-size
	BatchSizes    []int64      `yaml:"batch_sizes"` // as they were
	Accumulated   *bool        `yaml:"accumulated"` // batch_sizes are of parts; several parts make a noisy step
	Workers       *int64       `yaml:"workers"`     // that share a batch; batch and batch_sizes are of one of them
	DropLast      *bool        `yaml:"drop_last"`
	Clip          *float64     `yaml:"clip"`
	ClipChosen    string       `yaml:"clip_chosen"`   // in-advance, from-public-data, from-data, counted
	ClipPer       privacy.Unit `yaml:"clip_per"`      // whose gradient is clipped as one
	NoiseStd      *float64     `yaml:"noise_std"`     // as it was added
	NoiseOn       string       `yaml:"noise_on"`      // sum, mean
	NormalisedBy  string       `yaml:"normalised_by"` // expected-batch, drawn-batch, constant
	Loss          string       `yaml:"loss"`          // each-record, batch
	Microbatch    *int64       `yaml:"microbatch"`    // records clipped as one
}

// place locates a part of a file.
type place struct {
	doc    *config.Document
	prefix string // of the keys
	above  int    // lines before the document
}

// line returns the line of a key; 0 if unknown.
func (p place) line(key string) int {
	if p.doc == nil {
		return 0
	}
	if l := p.doc.Errorf(p.prefix+key, "").Line; l > 0 {
		return l + p.above
	}
	return 0
}

// Path returns the name of the file.
func (f *File) Path() string { return f.path }

// ClaimLine returns the line of the claimed epsilon; 0 without a claim.
func (f *File) ClaimLine() int { return f.head.line("claim.epsilon") }

// Units returns how many of the file's unit the data have; 0 if the file does not say.
func (f *File) Units() int64 { return f.units() }
