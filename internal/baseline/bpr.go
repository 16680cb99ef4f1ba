package baseline

import (
	"context"
	"strings"

	"privrec/internal/config"
	"privrec/internal/experiment"
	"privrec/internal/model/bpr"
	"privrec/internal/model/lightgcn"
	"privrec/internal/model/ngcf"
	"privrec/internal/protocol/nextitem"
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

// BPRSetting is one run of a model that BPR trains. M is the shape of the model.
type BPRSetting[M BPRShape] struct {
	Profile string `yaml:"profile"`
	// Protocol says how the data are cut and which items are ranked: ProtocolTopN, which ""
	// means too, or ProtocolNextItem.
	Protocol string          `yaml:"protocol,omitempty"`
	Data     StaticData      `yaml:"data"`
	Model    M               `yaml:"model"`
	Train    BPRTrain        `yaml:"train"`
	Eval     topn.EvalConfig `yaml:"eval"`
}

// StaticData names the data. Keys that package topn's configuration lacks are of
// ProtocolNextItem.
type StaticData struct {
	topn.DataConfig `yaml:",inline"`
	Candidates      string `yaml:"candidates,omitempty"` // that are ranked
}

// BPRTrain sets how a model is optimised. Keys that package topn's configuration lacks are of
// ProtocolNextItem.
type BPRTrain struct {
	topn.TrainConfig `yaml:",inline"`
	Validation       float64 `yaml:"validation,omitempty"` // share of the train samples held out
	Refit            bool    `yaml:"refit,omitempty"`      // train once more, on all train samples
}

// ProtocolTopN names the protocol that ranks all items for every user (package topn).
const ProtocolTopN = "top-n"

// BPRTasks lists the models that BPR trains. t and next are results of others under
// ProtocolTopN and under ProtocolNextItem, which are shown beside theirs.
func BPRTasks(t topn.Tables, next nextitem.Table) []run.Task {
	return []run.Task{
		bprTask(BPRMF, "matrix factorisation by Bayesian personalised ranking (RDP-GCF's Table 2)", bpr.Cite, t, next, NextItemBPRMF, DefaultBPRMF),
		bprTask(LightGCN, "graph collaborative filtering by propagation alone (RDP-GCF's Table 2)", lightgcn.Cite, t, next, NextItemLightGCN, DefaultLightGCN, CodeLightGCN),
		bprTask(NGCF, "graph collaborative filtering with message networks (RDP-GCF's Table 2)", ngcf.Cite, t, next, NextItemNGCF, DefaultNGCF),
	}
}

// bprTask makes the task of a model. own is its profile under ProtocolNextItem, and profiles
// are those under ProtocolTopN, the default first.
func bprTask[M BPRShape](method, summary, cite string, t topn.Tables, next nextitem.Table, own func() BPRSetting[M], profiles ...func() BPRSetting[M]) run.Task {
	return run.Spec[BPRSetting[M]]{
		Verb: "train", Name: strings.ToLower(method), Summary: summary, Cite: cite, Answers: true,
		Default: profiles[0],
		Check:   func(v *config.Checker, s BPRSetting[M]) { s.check(v) },
		Open: func(ctx context.Context, env *run.Env, s BPRSetting[M]) (run.Work, error) {
			if s.Protocol == ProtocolNextItem {
				return s.nextItem(ctx, env, method, next, own())
			}
			standing, err := s.standing(profiles...)
			if err != nil {
				return nil, err
			}
			return s.topN(ctx, env, topn.Method{Name: method, Standing: standing, Tables: t})
		},
	}.Task()
}

// standing says how the setting relates to the profile that it names, one of profiles.
func (s BPRSetting[M]) standing(profiles ...func() BPRSetting[M]) (experiment.Standing, error) {
	named := map[string]BPRSetting[M]{}
	for _, p := range profiles {
		named[p().Profile] = p()
	}
	return experiment.Stand(s, s.Profile, named, func(s BPRSetting[M]) train.Length { return s.Train.Length() }, topn.Free()...)
}

// topN opens the setting under package topn's protocol.
func (s BPRSetting[M]) topN(ctx context.Context, env *run.Env, m topn.Method) (run.Work, error) {
	m.Data, m.Train, m.Eval, m.Shape = s.Data.DataConfig, s.Train.TrainConfig, s.Eval, s.Model.shape()
	x, err := topn.Load(ctx, env, m)
	if err != nil {
		return nil, err
	}
	if x.Finished() {
		return x, nil
	}
	if err := x.DeclareUnprotected(); err != nil {
		return nil, err
	}
	vectors, err := s.Model.Vectors(x.Graph, env.Seed)
	if err != nil {
		return nil, err
	}
	x.Model = topn.Plain(vectors)
	return x, nil
}

// check reports every setting that cannot be run.
func (s BPRSetting[M]) check(v *config.Checker) {
	v.NotEmpty("profile", s.Profile)
	checkProtocol(v, s.Protocol)
	s.Data.Check(v)
	s.Eval.Check(v)
	s.Train.Check(v)
	if s.Protocol == ProtocolNextItem {
		s.checkNextItem(v)
	} else {
		s.Data.checkTopN(v)
		v.Check(s.Train.Validation == 0, "train.validation", "has no effect under protocol %s, whose recipes hold rows out, must be 0, got %v", ProtocolTopN, s.Train.Validation)
		v.Check(!s.Train.Refit, "train.refit", "has no effect under protocol %s, which trains once, must be false", ProtocolTopN)
	}
	s.Model.Check(v)
}

func checkProtocol(v *config.Checker, p string) {
	if p != "" {
		v.OneOf("protocol", p, ProtocolTopN, ProtocolNextItem)
	}
}

func (d StaticData) checkTopN(v *config.Checker) {
	v.Check(d.Candidates == "", "data.candidates", "has no effect under protocol %s, which ranks all items, must be empty, got %q", ProtocolTopN, d.Candidates)
}
