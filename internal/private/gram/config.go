package gram

import (
	"privrec/internal/config"
	"privrec/internal/dataset/registry"
	"privrec/internal/private/release"
	"privrec/internal/protocol/topn"
)

// Config is a run of DP-EASE or DP-ItemKNN.
type Config struct {
	Profile  string          `yaml:"profile" limit:"filled"`
	Protocol string          `yaml:"protocol,omitempty" limit:"|next-item"` // next-item, or "" for top-n
	Data     topn.DataConfig `yaml:"data"`
	Public   PublicConfig    `yaml:"public,omitempty"`
	Model    MatrixConfig    `yaml:"model"`
	Privacy  release.Privacy `yaml:"privacy"`
	Stream   StreamConfig    `yaml:"stream,omitempty"`
	Eval     topn.EvalConfig `yaml:"eval"`
}

// PopularityConfig is a run of DP popularity. Its counts use the whole budget.
type PopularityConfig struct {
	Profile  string          `yaml:"profile" limit:"filled"`
	Protocol string          `yaml:"protocol,omitempty" limit:"|next-item"` // next-item, or "" for top-n
	Data     topn.DataConfig `yaml:"data"`
	Public   PublicConfig    `yaml:"public,omitempty"`
	Privacy  release.Privacy `yaml:"privacy"`
	Stream   StreamConfig    `yaml:"stream,omitempty"`
	Eval     topn.EvalConfig `yaml:"eval"`
}

// MatrixConfig sets the matrix, the removal of noise, and the scores computed from it. Every key but items, floor,
// item_weight and user_weight changes only what is computed from the release.
type MatrixConfig struct {
	Items int `yaml:"items"` // m, the most items in the matrix: those of the largest released counts
	// Floor leaves out items that the matrix's noise would hide. The item with the j-th largest released count stays
	// while its count is at least floor · n · sigma · sqrt(j): n is the most items that a user contributes to the
	// counts, sigma the deviation of the matrix's noise. 0: no item is left out.
	Floor float64 `yaml:"floor" limit:"[0,1e6)"`
	// an item has the weight count^(-item_weight/2) in the terms of users
	ItemWeight float64 `yaml:"item_weight" limit:"[0,4)"`
	UserWeight float64 `yaml:"user_weight"` // a: the terms of a user with N items have the norm N^(1-a)
	// Threshold sets entries off the diagonal to 0 that are below it, in deviations of the noise.
	Threshold float64 `yaml:"threshold" limit:"[0,100)"`
	// how eigenvalues are shrunk: none, positive, cut, frobenius or operator
	Shrink string `yaml:"shrink" limit:"none|positive|cut|frobenius|operator"`
	// shrunk like all other entries, or kept as released
	Diagonal string `yaml:"diagonal" limit:"shrunk|kept"`
	// Lambda regularises, in units of the mean of the released diagonal: the penalty of EASE, and for neighbours the
	// number added to the denominator of the cosine.
	Lambda     float64 `yaml:"lambda"`
	Neighbours int     `yaml:"neighbours,omitempty"` // number of neighbours of an item, for ItemKNN
	// score that the largest released count adds to its item; others add in proportion to theirs. Items outside the
	// matrix have no other score
	Popularity float64 `yaml:"popularity" limit:"[0,1e6)"`
	// Public "prior" adds the matrix of public.data to the released one, the more the larger the noise is. Left out:
	// public rows have no part in the model.
	Public string `yaml:"public,omitempty" limit:"|prior"`
}

// Default returns the setting of DP-EASE on MovieLens 1M, chosen on validation rows of MovieLens 100K.
func Default() Config {
	c := Config{Profile: "private", Data: topn.DataConfig{Name: "ml-1m", Recipe: "gerai"}, Privacy: release.Default(),
		Eval: topn.DefaultEval()}
	c.Privacy.Items, c.Privacy.CountItems = 150, 20
	c.Model = MatrixConfig{Items: 1000, Floor: 0.1, ItemWeight: 0.4, UserWeight: 1, Shrink: ShrinkOperator,
		Diagonal: DiagonalKept, Lambda: 1, Popularity: 0.03}
	return c
}

// DefaultKNN returns the setting of DP-ItemKNN.
func DefaultKNN() Config {
	c := Default()
	c.Model.Neighbours, c.Model.Lambda, c.Model.Shrink, c.Model.Diagonal = 100, 2, ShrinkFrobenius, DiagonalShrunk
	return c
}

// DefaultPopularity returns the setting of DP popularity.
func DefaultPopularity() PopularityConfig {
	c := Default()
	return PopularityConfig{Profile: c.Profile, Data: c.Data, Privacy: release.Privacy{Epsilon: c.Privacy.Epsilon,
		Delta: c.Privacy.Delta, Items: c.Privacy.CountItems, Counts: 1}, Eval: c.Eval}
}

// check reports every setting that cannot be run.
func check(v *config.Checker, c Config, knn bool) {
	c.Privacy.Check(v)
	c.Stream.check(v)
	c.Eval.CheckAtOnce(v)
	release.CheckProtocol(v, c.Protocol, c.Eval)
	c.Public.check(v, c.Data)
	m := c.Model
	v.Check(m.Public == "" || c.Public.Data.Name != "", "model.public", "needs public.data.name")
	v.Check(m.Public == "" || c.Stream == StreamConfig{}, "model.public",
		"must be left out with a stream: the prior's weight is for releases of the run's own")
	v.Between("model.items", m.Items, 2, mostRows)
	v.Check(m.UserWeight >= 0 && m.UserWeight <= 1, "model.user_weight", "must lie in 0 to 1, got %v", m.UserWeight)
	if knn {
		v.Between("model.neighbours", m.Neighbours, 1, 1_000_000)
		v.Below("model.lambda", m.Lambda, 0, 1e6)
		return
	}
	v.Within("model.lambda", m.Lambda, 1e-6, 1e6)
	v.Check(m.Neighbours == 0, "model.neighbours", "must be left out: only neighbours have a number")
}

// mostRows bounds the width m of the matrix: its eigenvalues take 10 m³ operations.
const mostRows = 5000

// checkPopularity reports every setting of DP popularity that cannot be run.
func checkPopularity(v *config.Checker, c PopularityConfig) {
	c.Privacy.CheckCountsAlone(v)
	c.Stream.check(v)
	v.Check(c.Stream.Days == 0, "stream.days", "must be left out: the matrix of a simulated stream has no use here")
	c.Public.check(v, c.Data)
	c.Eval.CheckAtOnce(v)
	release.CheckProtocol(v, c.Protocol, c.Eval)
}

// Secretly implements run.Secret.
func (c Config) Secretly() bool { return c.Privacy.Secure }

// Secretly implements run.Secret.
func (c PopularityConfig) Secretly() bool { return c.Privacy.Secure }

// SpendsFrom implements run.Spender.
func (c Config) SpendsFrom() string { return c.Privacy.Parent }

// SpendsFrom implements run.Spender.
func (c PopularityConfig) SpendsFrom() string { return c.Privacy.Parent }

// Suit implements run.Suited.
func (c *Config) Suit(doc *config.Document) error {
	c.Public.suit()
	return release.Suit(doc, c.Protocol, &c.Data, registry.Need{})
}

// Suit implements run.Suited.
func (c *PopularityConfig) Suit(doc *config.Document) error {
	c.Public.suit()
	return release.Suit(doc, c.Protocol, &c.Data, registry.Need{})
}
