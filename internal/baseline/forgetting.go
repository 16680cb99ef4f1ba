package baseline

import (
	"strings"

	"privrec/internal/graph"
	"privrec/internal/model/bpr"
	"privrec/internal/protocol/forgetting"
	"privrec/internal/rng"
	"privrec/internal/run"
)

// Forgetting returns the comparison of ways to forget users, by models that BPR trains. Their tables begin by the law
// xavier, and NGCF has no dropout, so that its loss is a function of its parameters.
func Forgetting() run.Task {
	init := InitConfig{Law: LawXavier}
	return forgetting.Task(func(m forgetting.ModelConfig, g *graph.Bipartite, seed rng.Seed) (bpr.Static, error) {
		switch m.Name {
		case strings.ToLower(LightGCN):
			return LightGCNShape{Dim: m.Dim, Layers: m.Layers, Norm: "sym", Init: init}.Vectors(g, seed)
		case strings.ToLower(NGCF):
			return NGCFShape{Dim: m.Dim, Layers: m.Layers, Init: init}.Vectors(g, seed)
		}
		return BPRMFShape{Dim: m.Dim, Init: init}.Vectors(g, seed)
	})
}
