package release

import (
	"context"

	"privrec/internal/config"
	"privrec/internal/dataset/registry"
	"privrec/internal/experiment"
	"privrec/internal/protocol/nextitem"
	"privrec/internal/protocol/static"
	"privrec/internal/protocol/topn"
	"privrec/internal/run"
)

// CheckProtocol reports settings that the protocol does not read. An empty word means that of package topn,
// nextitem.Name that of DIPSGNN.
func CheckProtocol(v *config.Checker, protocol string, e topn.EvalConfig) {
	v.Check(protocol == "" || e.Candidates == 0, "eval.candidates", "has no effect under protocol %s, must be 0",
		nextitem.Name)
}

// Suit sets the recipe to one that suits the data under a protocol, if the user named none. Published recipes of
// sequences count rows of many users; the account says so.
func Suit(doc *config.Document, protocol string, d *topn.DataConfig, n registry.Need) error {
	if protocol != nextitem.Name {
		n.Draws = true
		return d.Suit(doc, n)
	}
	next := nextitem.Data{Name: d.Name, Recipe: d.Recipe}
	err := next.Suit(doc, n)
	d.Recipe = next.Recipe
	return err
}

// Load loads data under a protocol, for a model that is computed at once from all training rows.
func Load(ctx context.Context, env *run.Env, protocol string, m topn.Method) (*static.Experiment, error) {
	return static.Load(ctx, env, protocol, m,
		nextitem.Setting{From: nextitem.Data{Candidates: nextitem.CandidatesTrain}})
}

// Of sets the account of a run. compose adds what the ledger comes to.
func (a *Account) Of(c *experiment.Core, compose func() error) {
	c.Account = func(*experiment.Fitted) (experiment.Privacy, error) { return a, compose() }
	c.Planned = func() (experiment.Privacy, error) { return a.Planned(), nil }
}
