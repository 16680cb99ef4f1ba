package dpfactor

import (
	"privrec/internal/config"
	"privrec/internal/dataset/registry"
	"privrec/internal/privacy"
	"privrec/internal/protocol/topn"
)

// Config is one run of a factorisation with noise in its objective.
type Config struct {
	Profile string          `yaml:"profile" limit:"filled"`
	Data    topn.DataConfig `yaml:"data"`
	Model   ModelConfig     `yaml:"model"`
	Privacy PrivacyConfig   `yaml:"privacy"`
	Eval    topn.EvalConfig `yaml:"eval"`
}

// ModelConfig sets the factored matrix and the factorisation.
type ModelConfig struct {
	Dim int `yaml:"dim" limit:"1..2000"` // d, width of the vectors of users and items
	// Matrix says which cells are fitted, and to what. "ratings": the rated cells, to their ratings. "scaled": all
	// cells, to a rating over 5, or to 0. "adjacency": all cells, to 1 or 0.
	Matrix      string  `yaml:"matrix"`
	Lambda      float64 `yaml:"lambda" limit:"[1e-6,1e12]"`       // penalty on the squares of items' vectors
	LambdaUsers float64 `yaml:"lambda_users" limit:"[1e-6,1e12]"` // penalty on the squares of users' vectors
	// number of rounds; each fits items' vectors, then users'
	Rounds int `yaml:"rounds" limit:"1..10000"`
	// Common is the first number of every user's public vector, the same for all; the matching number of an item's
	// vector then learns how many users have the item. 0 if users' vectors are trained.
	Common float64 `yaml:"common" limit:"[0,1)"`
}

// PrivacyConfig sets the noise.
type PrivacyConfig struct {
	Epsilon float64 `yaml:"epsilon" limit:"[0.001,1e6]"` // pure epsilon of one cell
	// Users says where the users' vectors come from to which items' vectors are fitted: "trained" on the same cells,
	// as published, or "public", drawn without them.
	Users string `yaml:"users" limit:"trained|public"`
	// Parent names the file of a budget from which all runs on the same data spend; "": none.
	Parent string `yaml:"parent,omitempty"`
}

// Values of the choices above.
const (
	MatrixRatings   = "ratings"
	MatrixScaled    = "scaled"
	MatrixAdjacency = "adjacency"

	UsersTrained = "trained"
	UsersPublic  = "public"
)

// The range of ratings. It is public: data with other ratings are refused.
const (
	lowestRating  = 1
	highestRating = 5
)

// defaults returns the setting of a method on ML-100K under GERAI's split, at the sum of GERAI's own claims, 0.4 + 20.
func defaults(m ModelConfig) Config {
	return Config{Profile: "tuned", Data: topn.DataConfig{Name: "ml-100k", Recipe: "gerai"}, Model: m,
		Privacy: PrivacyConfig{Epsilon: 20.4, Users: UsersTrained},
		Eval:    topn.EvalConfig{K: []int{5, 10, 15, 20, 25, 30}, Candidates: 200}}
}

// DefaultDPMF returns the setting of DPMF.
func DefaultDPMF() Config {
	return defaults(ModelConfig{Dim: 60, Matrix: MatrixRatings, Lambda: 100, LambdaUsers: 0.5, Rounds: 20})
}

// DefaultDPNE returns the setting of DPNE.
func DefaultDPNE() Config {
	return defaults(ModelConfig{Dim: 60, Matrix: MatrixAdjacency, Lambda: 100, LambdaUsers: 1, Rounds: 20})
}

// Repaired returns the setting with public users' vectors, for a matrix over all cells.
func Repaired(matrix string) Config {
	c := defaults(ModelConfig{Dim: 120, Matrix: matrix, Lambda: 10, LambdaUsers: 4, Rounds: 1, Common: 0.3})
	c.Profile, c.Privacy.Users = "repaired", UsersPublic
	return c
}

// check reports every setting that cannot be run, for a method with these matrices.
func check(v *config.Checker, c Config, matrices ...string) {
	m, p := c.Model, c.Privacy
	v.OneOf("model.matrix", m.Matrix, matrices...)
	c.Eval.CheckAtOnce(v)
	if p.Users == UsersPublic {
		v.Check(m.Rounds == 1, "model.rounds",
			"must be 1 with privacy.users public: items' vectors are fitted once, got %d", m.Rounds)
		v.Check(m.Matrix != MatrixRatings, "model.matrix",
			"must be of all cells with privacy.users public: which cells have a rating would show without noise")
		v.Check(m.Common == 0 || m.Dim > 1, "model.common", "must be 0 with model.dim 1: there is no other number")
	} else {
		v.Check(m.Common == 0, "model.common",
			"must be 0 with privacy.users trained: only public vectors have a common number")
	}
}

// unit returns the unit and relation of one cell, whose change the noise hides.
func (c Config) unit() privacy.Subject {
	if c.Model.Matrix == MatrixRatings { // another value of a rating that is there
		return privacy.Subject{Unit: privacy.Interaction, Neighbouring: privacy.Replace}
	}
	return privacy.Subject{Unit: privacy.Edge, Neighbouring: privacy.AddRemove}
}

// distance returns D, the largest change of a cell with its unit.
func (c Config) distance() float64 {
	if c.Model.Matrix == MatrixRatings {
		return highestRating - lowestRating
	}
	return 1
}

// SpendsFrom implements run.Spender.
func (c Config) SpendsFrom() string { return c.Privacy.Parent }

// Suit implements run.Suited.
func (c *Config) Suit(doc *config.Document) error {
	c.Eval.SuitOwn(doc, c.Data.Name)
	return c.Data.Suit(doc, registry.Need{Ratings: c.Model.Matrix == MatrixRatings})
}
