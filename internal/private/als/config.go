package als

import (
	"privrec/internal/config"
	"privrec/internal/dataset/registry"
	"privrec/internal/private/release"
	"privrec/internal/protocol/topn"
)

// Config is a run of DP-ALS.
type Config struct {
	Profile  string          `yaml:"profile"`
	Protocol string          `yaml:"protocol,omitempty"` // next-item, or "" for top-n
	Data     topn.DataConfig `yaml:"data"`
	Model    ModelConfig     `yaml:"model"`
	Privacy  release.Privacy `yaml:"privacy"`
	Eval     topn.EvalConfig `yaml:"eval"`
}

// ModelConfig sets the objective and the rounds.
type ModelConfig struct {
	Items  int `yaml:"items"`  // m, the most items with vectors: those of the largest released counts
	Dim    int `yaml:"dim"`    // d
	Rounds int `yaml:"rounds"` // T
	// Cells says which cells the objective has: "all" takes a pair that is not there as 0;
	// "observed" has a term for each pair that is there, and one of weight Unobserved for all.
	Cells string `yaml:"cells"`
	// Values are those of observed pairs: "ones", or "ratings", less the middle of their range.
	// Ratings need the cells "observed".
	Values string `yaml:"values"`
	// ItemWeight is how much more a rare item weighs within a user's row: its released count to
	// the power -ItemWeight.
	ItemWeight float64 `yaml:"item_weight"`
	// Clip is G, the longest that a user's vector may be; in the first round of "all", where
	// vectors are random projections, it is sqrt(d/m) if that is less.
	Clip   float64 `yaml:"clip"`
	Growth float64 `yaml:"growth"` // each round gets so many times the share of mu² of the one before

	// Of the cells "all", applied to what was released:
	Average bool    `yaml:"average,omitempty"` // use the sums of all rounds but the first, and not the last ones alone
	Shrink  float64 `yaml:"shrink,omitempty"`  // how many times the noise's singular value a direction must exceed

	// Lambda is of users' vectors: in units of the largest released eigenvalue for the cells "all",
	// where it changes the ranking alone.
	Lambda float64 `yaml:"lambda"`

	// Of the cells "observed":
	Unobserved float64 `yaml:"unobserved,omitempty"` // w0, the weight of all cells
	// of items' vectors, in deviations of the noise of their matrices times sqrt(d), and at least 1e-3
	LambdaItem float64 `yaml:"lambda_item,omitempty"`
	Matrices   float64 `yaml:"matrices,omitempty"` // share of a round that the items' matrices take
	// share of a round that the matrix of all users takes; with Unobserved alone
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
	v.NotEmpty("profile", c.Profile)
	c.Data.Check(v)
	c.Privacy.Check(v)
	v.Check(!c.Privacy.Secure, "privacy.secure",
		"must be false: noise of several rounds cannot be drawn a second time when a run goes on")
	c.Eval.CheckAtOnce(v)
	release.CheckProtocol(v, c.Protocol, c.Eval)
	v.Check(c.Protocol == "" || c.Model.Values == ValuesOnes, "model.values",
		"must be %s under protocol %s, which knows no ratings", ValuesOnes, c.Protocol)
	m := c.Model
	v.Between("model.items", m.Items, 2, 1_000_000)
	v.Between("model.dim", m.Dim, 1, 512)
	v.Check(m.Dim < m.Items, "model.dim", "must be below model.items, %d, got %d", m.Items, m.Dim)
	v.Between("model.rounds", m.Rounds, 1, 1000)
	v.OneOf("model.cells", m.Cells, CellsAll, CellsObserved)
	v.OneOf("model.values", m.Values, ValuesOnes, ValuesRatings)
	v.Below("model.item_weight", m.ItemWeight, 0, 4)
	v.Within("model.clip", m.Clip, 1e-6, 1e6)
	v.Within("model.growth", m.Growth, 0.01, 100)
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
