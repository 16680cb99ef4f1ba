package rdpgcf

import (
	"privrec/internal/config"
	"privrec/internal/graph"
	"privrec/internal/model/bprmf"
	"privrec/internal/model/lightgcn"
	"privrec/internal/model/ngcf"
)

// Setting is one run of a model without noise on the paper's data and protocol. M
// is the shape of the model.
type Setting[M shape] struct {
	Profile string      `yaml:"profile"`
	Data    DataConfig  `yaml:"data"`
	Model   M           `yaml:"model"`
	Train   TrainConfig `yaml:"train"`
	Eval    EvalConfig  `yaml:"eval"`
}

// shape is a model's own part of the configuration.
type shape interface {
	MFShape | LightGCNShape | NGCFShape
	check(v *config.Checker)
	build(x *experiment) (model, error)
	size() (dim, layers int) // layers is 0 for a model without
}

// MFShape is that of matrix factorisation.
type MFShape struct {
	Dim  int        `yaml:"dim"`
	Init InitConfig `yaml:"init"`
}

// LightGCNShape is that of LightGCN.
type LightGCNShape struct {
	Dim    int        `yaml:"dim"`
	Layers int        `yaml:"layers"`
	Norm   string     `yaml:"norm"` // of the propagation, as in ModelConfig
	Init   InitConfig `yaml:"init"`
}

// NGCFShape is that of NGCF.
type NGCFShape struct {
	Dim            int        `yaml:"dim"` // of the tables and of every layer
	Layers         int        `yaml:"layers"`
	MessageDropout float64    `yaml:"message_dropout"`
	NodeDropout    float64    `yaml:"node_dropout"` // of the entries of the propagation matrix
	Init           InitConfig `yaml:"init"`
}

// DefaultMF is BPRMF at the paper's common setting.
func DefaultMF() Setting[MFShape] {
	return plain(MFShape{Dim: 64, Init: InitConfig{Law: LawXavier}})
}

// DefaultLightGCN is LightGCN at the paper's common setting.
func DefaultLightGCN() Setting[LightGCNShape] {
	return plain(LightGCNShape{Dim: 64, Layers: 3, Norm: "sym", Init: InitConfig{Law: LawXavier}})
}

// DefaultNGCF is NGCF as its released program has it: rate 1e-4, lambda 1e-5, both
// dropouts 0.1, at most 400 epochs.
func DefaultNGCF() Setting[NGCFShape] {
	s := plain(NGCFShape{Dim: 64, Layers: 3, MessageDropout: 0.1, NodeDropout: 0.1, Init: InitConfig{Law: LawXavier}})
	s.Train.Rate, s.Train.L2, s.Train.Epochs = 1e-4, 1e-5, 400
	return s
}

// plain is the paper's common setting with a model's shape.
func plain[M shape](m M) Setting[M] {
	d := Default()
	return Setting[M]{Profile: d.Profile, Data: d.Data, Model: m, Train: d.Train, Eval: d.Eval}
}

// validateSetting reports every setting that cannot be run, by line.
func validateSetting[M shape](s Setting[M], doc *config.Document) error {
	v := config.NewChecker(doc)
	s.common().check(v)
	s.Model.check(v)
	return v.Err()
}

func (s Setting[M]) common() common {
	dim, layers := s.Model.size()
	return common{
		profile: s.Profile, data: s.Data, train: s.Train, eval: s.Eval,
		dim: dim, layers: layers, releases: []string{""},
	}
}

func (s MFShape) size() (int, int)       { return s.Dim, 0 }
func (s LightGCNShape) size() (int, int) { return s.Dim, s.Layers }
func (s NGCFShape) size() (int, int)     { return s.Dim, s.Layers }

func (s MFShape) check(v *config.Checker) {
	checkDim(v, s.Dim)
	s.Init.check(v)
}

func (s LightGCNShape) check(v *config.Checker) {
	checkDim(v, s.Dim)
	checkLayers(v, s.Layers)
	checkNorm(v, s.Norm)
	s.Init.check(v)
}

func (s NGCFShape) check(v *config.Checker) {
	checkDim(v, s.Dim)
	checkLayers(v, s.Layers)
	s.Init.check(v)
	v.Below("model.message_dropout", s.MessageDropout, 0, 1)
	v.Below("model.node_dropout", s.NodeDropout, 0, 1)
}

func (s MFShape) build(x *experiment) (model, error) {
	return factors{bprmf.New(x.graph.Users, x.graph.Items, s.Dim, x.init(s.Init))}, nil
}

func (s LightGCNShape) build(x *experiment) (model, error) {
	norm, err := graph.ParseNormalizer(s.Norm)
	if err != nil {
		return nil, err
	}
	return propagated{lightgcn.New(x.graph, norm, s.Layers, s.Dim, x.init(s.Init))}, nil
}

func (s NGCFShape) build(x *experiment) (model, error) {
	m, err := ngcf.New(x.graph, ngcf.Config{
		Dim: s.Dim, Layers: s.Layers, MessageDropout: s.MessageDropout, NodeDropout: s.NodeDropout,
	}, x.env.Seed, x.init(s.Init))
	return neural{m}, err
}

// CodeLightGCN is the setting of LightGCN's released PyTorch program: the published
// split whole, 1,000 epochs at batch 2048, normal tables, user-uniform pairs, ranks by
// the sigmoid of the scores, the last model. It prints the best epoch on test, which chooses nothing here.
func CodeLightGCN() Setting[LightGCNShape] {
	s := DefaultLightGCN()
	s.Profile = "code"
	s.Data.Recipe = "lightgcn"
	s.Model.Init = InitConfig{Law: LawNormal, Std: 0.1}
	s.Train.Epochs, s.Train.Batch, s.Train.Sampler = 1000, 2048, "user-uniform"
	s.Train.Patience, s.Train.Select = 0, SelectLast
	s.Eval.Sigmoid = true
	return s
}
