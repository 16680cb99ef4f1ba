package baseline

import (
	"context"

	"privrec/internal/config"
	"privrec/internal/experiment"
	"privrec/internal/graph"
	"privrec/internal/model/bpr"
	"privrec/internal/protocol/nextitem"
	"privrec/internal/protocol/topn"
	"privrec/internal/run"
	"privrec/internal/train"
)

// NextItemBPRMF returns the setting of BPRMF on DIPSGNN's ML-1M.
func NextItemBPRMF() BPRSetting[BPRMFShape] {
	return nextItem(BPRMFShape{Dim: 64, Init: InitConfig{Law: LawNormal, Std: 0.1}}, 300)
}

// NextItemLightGCN returns the setting of LightGCN on DIPSGNN's ML-1M.
func NextItemLightGCN() BPRSetting[LightGCNShape] {
	return nextItem(LightGCNShape{Dim: 64, Layers: 3, Norm: "sym", Init: InitConfig{Law: LawNormal, Std: 0.1}}, 1000)
}

// NextItemNGCF returns the setting of NGCF on DIPSGNN's ML-1M, with the rate and the penalty
// of NGCF's published program.
func NextItemNGCF() BPRSetting[NGCFShape] {
	s := nextItem(DefaultNGCF().Model, 400)
	s.Train.Rate, s.Train.L2 = 1e-4, 1e-5
	return s
}

// nextItem returns a model's setting with the training of LightGCN's published program. It
// stops early on held-out samples, and trains once more on all samples.
func nextItem[M BPRShape](m M, epochs int) BPRSetting[M] {
	s := common(m)
	s.Profile, s.Protocol, s.Data = ProtocolNextItem, ProtocolNextItem, nextItemData()
	s.Train.Epochs, s.Train.Batch = epochs, 2048
	s.Train.Validation, s.Train.Refit = 0.1, true
	s.Eval.K, s.Eval.Every = []int{5, 10, 20}, true
	return s
}

// nextItemData returns DIPSGNN's ML-1M.
func nextItemData() StaticData {
	d := nextitem.ML1M()
	return StaticData{DataConfig: topn.DataConfig{Name: d.Name, Recipe: d.Recipe}, Candidates: d.Candidates}
}

// nextItem returns the data as package nextitem takes them.
func (d StaticData) nextItem() nextitem.Data {
	return nextitem.Data{Name: d.Name, Recipe: d.Recipe, Candidates: d.Candidates}
}

func (d StaticData) checkNextItem(v *config.Checker) {
	v.OneOf("data.candidates", d.Candidates, nextitem.CandidatesTrain, nextitem.CandidatesTenCore)
}

// nextItem opens the setting under package nextitem's protocol. own is its profile there.
func (s BPRSetting[M]) nextItem(ctx context.Context, env *run.Env, method string, table nextitem.Table, own BPRSetting[M]) (run.Work, error) {
	length := func(s BPRSetting[M]) train.Length { return s.Train.Length() }
	standing, err := experiment.Stand(s, s.Profile, map[string]BPRSetting[M]{own.Profile: own}, length, "data.")
	if err != nil {
		return nil, err
	}
	t := s.Train
	x, err := nextitem.Load(ctx, env, nextitem.Setting{
		Method: method, Standing: standing, Table: table,
		From: s.Data.nextItem(),
		Fit: nextitem.Training{
			Epochs: t.Epochs, Batch: t.Batch, Rate: t.Rate, DecayBy: t.RateBy, DecayEvery: t.RateEvery, L2: t.Decay,
			Patience: t.Patience, Select: t.Select, Validation: t.Validation, ValidationSplit: nextitem.SplitSample, Refit: t.Refit,
		},
		Eval: nextitem.Ranking{K: s.Eval.K, Every: s.Eval.Every},
	})
	if err != nil {
		return nil, err
	}
	x.New = func(q *nextitem.Part) (nextitem.Learner, error) {
		o := bpr.SamplerOptions{Positives: t.Sampler, Negatives: t.Negatives, Each: t.Each, Batch: t.Batch, Seed: env.Seed}
		return nextitem.NewStatic(x, q, o, t.L2, func(g *graph.Bipartite) (nextitem.Vectors, error) { return s.Model.Vectors(g, env.Seed) })
	}
	return x, x.Unprotect()
}

// checkNextItem reports what cannot be run under package nextitem's protocol.
func (s BPRSetting[M]) checkNextItem(v *config.Checker) {
	s.Data.checkNextItem(v)
	t := s.Train
	v.Below("train.validation", t.Validation, 0, 1)
	v.Check(t.Select != nextitem.SelectValidation || t.Validation > 0, "train.validation", "must be above 0 to select on validation")
	v.Check(!t.Refit || t.Select == nextitem.SelectValidation, "train.refit", "needs train.select: %s", nextitem.SelectValidation)
	v.Check(t.Patience == 0 || t.Validation > 0 || s.Eval.Every, "train.patience", "needs train.validation or eval.every to watch")
	v.Check(s.Eval.Candidates == 0, "eval.candidates", "has no effect under protocol %s, must be 0", ProtocolNextItem)
	v.Check(t.Optimizer == "", "train.optimizer", "has no effect under protocol %s, which takes Adam, must be left out", ProtocolNextItem)
	v.Check(!s.Eval.Sigmoid, "eval.sigmoid", "has no effect under protocol %s, must be false", ProtocolNextItem)
}
