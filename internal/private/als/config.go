package als

import (
	"privrec/internal/config"
	"privrec/internal/dataset/registry"
	"privrec/internal/private/release"
	"privrec/internal/protocol/topn"
)

// Config is a run of DP-ALS.
type Config struct {
	Profile  string          `yaml:"profile" limit:"filled"`
	Protocol string          `yaml:"protocol,omitempty" limit:"|next-item"` // next-item, or "" for top-n
	Data     topn.DataConfig `yaml:"data"`
	Model    ModelConfig     `yaml:"model"`
	Privacy  release.Privacy `yaml:"privacy"`
	Eval     topn.EvalConfig `yaml:"eval"`
}

// ModelConfig sets the objective and the rounds.
type ModelConfig struct {
	Items  int `yaml:"items" limit:"2..1000000"` // m, the most items with vectors: those of the largest released counts
	Dim    int `yaml:"dim" limit:"1..512"`       // d, width of the vectors of users and items
	Rounds int `yaml:"rounds" limit:"1..1000"`   // T, number of rounds
	// Cells says what the objective sums over: "all" cells, where a pair that is not there counts as 0, or "observed"
	// pairs, plus all cells with the weight unobserved.
	Cells string `yaml:"cells" limit:"all|observed"`
	// Values sets the targets of observed pairs: "ones", or "ratings", less the middle of their range. Ratings need
	// cells "observed".
	Values string `yaml:"values" limit:"ones|ratings"`
	// ItemWeight favours rare items within a user's row: an item's weight is its released count to the power
	// -item_weight. 0: all alike.
	ItemWeight float64 `yaml:"item_weight" limit:"[0,4)"`
	// Clip is G, the length to which a user's vector is clipped. In the first round of "all", where vectors are
	// random projections, it is sqrt(d/m) if that is less.
	Clip float64 `yaml:"clip" limit:"[1e-6,1e6]"`
	// factor by which a round's share of mu² exceeds that of the round before
	Growth float64 `yaml:"growth" limit:"[0.01,100]"`

	// for cells: all. Use the sums of all rounds but the first, and not the last ones alone; costs no budget
	Average bool `yaml:"average,omitempty"`
	// for cells: all. A direction is kept if it exceeds the noise's singular value by this factor; costs no budget
	Shrink float64 `yaml:"shrink,omitempty"`

	// Lambda is the penalty on the squares of users' vectors. With cells "all" its unit is the largest released
	// eigenvalue, and it changes the ranking alone.
	Lambda float64 `yaml:"lambda"`

	Unobserved float64 `yaml:"unobserved,omitempty"` // for cells: observed. w0, the weight of all cells
	// penalty on items' vectors, in deviations of the noise of their matrices times sqrt(d); at least 1e-3
	LambdaItem float64 `yaml:"lambda_item,omitempty"`
	Matrices   float64 `yaml:"matrices,omitempty"` // share of a round's budget for the items' matrices
	// share of a round's budget for the sum of all users' matrices; only if unobserved is above 0
	Common float64 `yaml:"common,omitempty"`
}

// Values of the choices above.
const (
	CellsAll      = "all"
	CellsObserved = "observed"

	ValuesOnes    = "ones"
	ValuesRatings = "ratings"
)

// The range of ratings. It is public: data with other ratings are refused.
const (
	lowestRating  = 1
	highestRating = 5
	middle        = (lowestRating + highestRating) / 2.
	mostValue     = (highestRating - lowestRating) / 2. // G_r
)

// Default returns the setting on MovieLens 1M. It was chosen on the validation rows of
// MovieLens 100K, at noise that is as large against the number of users.
func Default() Config {
	c := Config{Profile: "private", Data: topn.DataConfig{Name: "ml-1m", Recipe: "gerai"}, Privacy: release.Default(),
		Eval: topn.DefaultEval()}
	c.Privacy.Items = 100
	c.Model = ModelConfig{Items: 500, Dim: 16, Rounds: 4, Cells: CellsAll, Values: ValuesOnes, ItemWeight: 0.25,
		Clip: 0.2, Growth: 1.4, Average: true, Shrink: 1, Lambda: 0.1}
	return c
}

// check reports every setting that cannot be run.
func check(v *config.Checker, c Config) {
	c.Privacy.Check(v)
	v.Check(!c.Privacy.Secure, "privacy.secure",
		"must be false: noise of several rounds cannot be drawn a second time when a run goes on")
	c.Eval.CheckAtOnce(v)
	release.CheckProtocol(v, c.Protocol, c.Eval)
	v.Check(c.Protocol == "" || c.Model.Values == ValuesOnes, "model.values",
		"must be %s under protocol %s, which knows no ratings", ValuesOnes, c.Protocol)
	m := c.Model
	v.Check(m.Dim < m.Items, "model.dim", "must be below model.items, %d, got %d", m.Items, m.Dim)
	if m.Cells == CellsAll {
		v.Check(m.Values == ValuesOnes, "model.values",
			"must be ones with model.cells all: a pair that is not there counts as 0")
		v.Check(m.Clip <= 1, "model.clip", "must be at most 1 with model.cells all, where no vector is longer, got %v",
			m.Clip)
		v.Below("model.shrink", m.Shrink, 0, 1e6)
		v.Below("model.lambda", m.Lambda, 0, 1e6)
		for _, x := range []struct {
			key   string
			value float64
		}{{"unobserved", m.Unobserved}, {"lambda_item", m.LambdaItem}, {"matrices", m.Matrices}, {"common", m.Common}} {
			v.Check(x.value == 0, "model."+x.key, "has no effect with model.cells all, must be 0, got %v", x.value)
		}
		return
	}
	v.Check(!m.Average && m.Shrink == 0, "model.average",
		"must be false, and model.shrink 0, with model.cells observed")
	v.Below("model.unobserved", m.Unobserved, 0, 1e6)
	v.Within("model.lambda", m.Lambda, 1e-6, 1e6)
	v.Below("model.lambda_item", m.LambdaItem, 0, 1e6)
	v.Within("model.matrices", m.Matrices, 1e-6, 1-1e-6)
	if m.Unobserved > 0 {
		v.Within("model.common", m.Common, 1e-6, 1-1e-6)
		v.Check(m.Matrices+m.Common < 1, "model.common", "must leave something with model.matrices, got %v and %v",
			m.Common, m.Matrices)
	} else {
		v.Check(m.Common == 0, "model.common", "has no effect with model.unobserved 0, must be 0, got %v", m.Common)
	}
}

// most returns G_r, the largest absolute value of a pair.
func (m ModelConfig) most() float64 {
	if m.Values == ValuesRatings {
		return mostValue
	}
	return 1
}

// SpendsFrom implements run.Spender.
func (c Config) SpendsFrom() string { return c.Privacy.Parent }

// Suit implements run.Suited.
func (c *Config) Suit(doc *config.Document) error {
	return release.Suit(doc, c.Protocol, &c.Data, registry.Need{Ratings: c.Model.Values == ValuesRatings})
}
