package baseline

import (
	"context"
	"strings"

	"privrec/internal/config"
	"privrec/internal/dataset/registry"
	"privrec/internal/experiment"
	"privrec/internal/graph"
	"privrec/internal/model/bpr"
	"privrec/internal/model/lightgcn"
	"privrec/internal/model/ngcf"
	"privrec/internal/protocol/nextitem"
	"privrec/internal/protocol/static"
	"privrec/internal/protocol/topn"
	"privrec/internal/run"
	"privrec/internal/train"
)

// Names of the models that BPR trains.
const (
	BPRMF    = "BPRMF"
	LightGCN = "LightGCN"
	NGCF     = "NGCF"
)

// BPRSetting configures one run of a model that BPR trains. M is the shape of the model.
type BPRSetting[M BPRShape] struct {
	Profile string `yaml:"profile" limit:"filled"`
	// Protocol says how the data are cut and which items are ranked: ProtocolTopN, which ""
	// means too, or ProtocolNextItem.
	Protocol string          `yaml:"protocol,omitempty" limit:"top-n|next-item?"`
	Data     StaticData      `yaml:"data"`
	Model    M               `yaml:"model"`
	Train    BPRTrain        `yaml:"train"`
	Eval     topn.EvalConfig `yaml:"eval"`
}

// StaticData names the data. Keys that may be left out apply to protocol next-item only.
type StaticData struct {
	topn.DataConfig `yaml:",inline"`
	Candidates      string `yaml:"candidates,omitempty"` // items that protocol next-item ranks: train or ten-core
}

// BPRTrain sets how a model is optimised. Keys that may be left out apply to protocol next-item only.
type BPRTrain struct {
	topn.TrainConfig `yaml:",inline"`
	Validation       float64 `yaml:"validation,omitempty"` // share of the training samples held out for validation
	Refit            bool    `yaml:"refit,omitempty"`      // train once more, on all training samples
}

// ProtocolTopN names the protocol that ranks all items for every user (package topn).
const ProtocolTopN = "top-n"

// BPRTasks returns the tasks of the models that BPR trains. t and next are results of others under ProtocolTopN and
// ProtocolNextItem, shown beside their own.
func BPRTasks(t topn.Tables, next nextitem.Table) []run.Task {
	return []run.Task{
		bprTask(BPRMF, "matrix factorisation by Bayesian personalised ranking (RDP-GCF's Table 2)", bpr.Cite, t, next,
			NextItemBPRMF, DefaultBPRMF),
		bprTask(LightGCN, "graph collaborative filtering by propagation alone (RDP-GCF's Table 2)", lightgcn.Cite, t,
			next, NextItemLightGCN, DefaultLightGCN, CodeLightGCN),
		bprTask(NGCF, "graph collaborative filtering with message networks (RDP-GCF's Table 2)", ngcf.Cite, t, next,
			NextItemNGCF, DefaultNGCF),
	}
}

// bprTask returns the task of a model. own is its profile under ProtocolNextItem, and profiles are those under
// ProtocolTopN, the default first.
func bprTask[M BPRShape](method, summary, cite string, t topn.Tables, next nextitem.Table, own func() BPRSetting[M],
	profiles ...func() BPRSetting[M]) run.Task {
	return run.Spec[BPRSetting[M]]{
		Verb: "train", Name: strings.ToLower(method), Summary: summary, Cite: cite, Answers: true,
		Default: profiles[0],
		Check:   func(v *config.Checker, s BPRSetting[M]) { s.check(v) },
		Open: func(ctx context.Context, env *run.Env, s BPRSetting[M]) (run.Work, error) {
			standing, err := s.standing(own, profiles...)
			if err != nil {
				return nil, err
			}
			setting := s.Data.next(next)
			setting.Fit.Validation, setting.Fit.Refit = s.Train.Validation, s.Train.Refit
			x, err := static.Load(ctx, env, s.Protocol, topn.Method{Name: method, Standing: standing, Tables: t,
				Data: s.Data.DataConfig, Train: s.Train.TrainConfig, Eval: s.Eval, Shape: s.Model.shape()}, setting)
			if err != nil {
				return nil, err
			}
			return x.Train(func(g *graph.Bipartite) (bpr.Static, error) { return s.Model.Vectors(g, env.Seed) })
		},
	}.Task()
}

// standing compares the setting with the profile that it names: own under ProtocolNextItem, otherwise one of profiles.
func (s BPRSetting[M]) standing(own func() BPRSetting[M],
	profiles ...func() BPRSetting[M]) (experiment.Standing, error) {
	free := topn.Free()
	if s.Protocol == ProtocolNextItem {
		profiles, free = []func() BPRSetting[M]{own}, []string{"data."}
	}
	named := map[string]BPRSetting[M]{}
	for _, p := range profiles {
		named[p().Profile] = p()
	}
	length := func(s BPRSetting[M]) train.Length { return s.Train.Length() }
	return experiment.Stand(s, s.Profile, named, length, free...)
}

// check reports every setting that cannot be run.
func (s BPRSetting[M]) check(v *config.Checker) {
	s.Eval.Check(v)
	s.Train.Check(v)
	if s.Protocol == ProtocolNextItem {
		s.checkNextItem(v)
	} else {
		s.Data.checkTopN(v)
		v.Check(s.Train.Validation == 0, "train.validation",
			"has no effect under protocol %s, whose recipes hold rows out, must be 0, got %v", ProtocolTopN,
			s.Train.Validation)
		v.Check(!s.Train.Refit, "train.refit", "has no effect under protocol %s, which trains once, must be false",
			ProtocolTopN)
	}
	s.Model.Check(v)
}

func (d StaticData) checkTopN(v *config.Checker) {
	v.Check(d.Candidates == "", "data.candidates",
		"has no effect under protocol %s, which ranks all items, must be empty, got %q", ProtocolTopN, d.Candidates)
}

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

// nextItem returns the data in the form of package nextitem.
func (d StaticData) nextItem() nextitem.Data {
	return nextitem.Data{Name: d.Name, Recipe: d.Recipe, Public: d.Public, Candidates: d.Candidates, Floor: d.Floor}
}

// next returns the data as a setting of package nextitem, with the printed table.
func (d StaticData) next(table nextitem.Table) nextitem.Setting {
	return nextitem.Setting{Table: table, From: d.nextItem()}
}

func (d StaticData) checkNextItem(v *config.Checker) {
	v.OneOf("data.candidates", d.Candidates, nextitem.CandidatesTrain, nextitem.CandidatesTenCore)
}

// checkNextItem reports settings that cannot be run under package nextitem's protocol.
func (s BPRSetting[M]) checkNextItem(v *config.Checker) {
	s.Data.checkNextItem(v)
	t := s.Train
	v.Below("train.validation", t.Validation, 0, 1)
	v.Check(t.Select != nextitem.SelectValidation || t.Validation > 0, "train.validation",
		"must be above 0 to select on validation")
	v.Check(!t.Refit || t.Select == nextitem.SelectValidation, "train.refit", "needs train.select: %s",
		nextitem.SelectValidation)
	v.Check(t.Patience == 0 || t.Validation > 0 || s.Eval.Every, "train.patience",
		"needs train.validation or eval.every to watch")
	v.Check(s.Eval.Candidates == 0, "eval.candidates", "has no effect under protocol %s, must be 0", ProtocolNextItem)
	v.Check(t.Optimizer == "", "train.optimizer", "has no effect under protocol %s, which takes Adam, must be left out",
		ProtocolNextItem)
	v.Check(t.Schedule == "", "train.schedule", "has no effect under protocol %s, must be left out", ProtocolNextItem)
	v.Check(t.WarmUp == 0, "train.warm_up", "has no effect under protocol %s, must be left out", ProtocolNextItem)
	v.Check(!s.Eval.Sigmoid, "eval.sigmoid", "has no effect under protocol %s, must be false", ProtocolNextItem)
}

// Suit implements run.Suited.
func (s *BPRSetting[M]) Suit(doc *config.Document) error {
	return s.Data.suit(doc, s.Protocol == ProtocolNextItem, s.Train.Selected())
}

// suit sets the recipe to one that suits the data under a protocol, if the user named none, and the candidates to the
// items of training rows.
func (d *StaticData) suit(doc *config.Document, next, valid bool) error {
	if !next {
		return d.DataConfig.Suit(doc, registry.Need{Valid: valid})
	}
	data := d.nextItem()
	err := data.Suit(doc, registry.Need{})
	d.Recipe = data.Recipe
	if d.Candidates == "" && !doc.Given("data.candidates") {
		d.Candidates = nextitem.CandidatesTrain
	}
	return err
}
