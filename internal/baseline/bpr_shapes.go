package baseline

import (
	"unsafe"

	"privrec/internal/config"
	"privrec/internal/graph"
	"privrec/internal/model/bpr"
	"privrec/internal/model/bprmf"
	"privrec/internal/model/lightgcn"
	"privrec/internal/model/ngcf"
	"privrec/internal/nn"
	"privrec/internal/protocol/topn"
	"privrec/internal/rng"
	"privrec/internal/tensor"
)

// BPRShape is a model's own part of the configuration.
type BPRShape interface {
	BPRMFShape | LightGCNShape | NGCFShape
	// Vectors returns the model for a graph of users and items. Its initial parameters are drawn from the seed.
	Vectors(g *graph.Bipartite, seed rng.Seed) (bpr.Static, error)
	Check(v *config.Checker) // reports what the model cannot be
	shape() topn.Shape
}

// InitConfig sets the initial values of the tables.
type InitConfig struct {
	// distribution of the initial values: xavier (uniform) or normal
	Law string  `yaml:"law" limit:"xavier|normal"`
	Std float64 `yaml:"std" limit:"[1e-12,1e6]" when:"law=normal"` // standard deviation of law normal
}

// Values of InitConfig.Law.
const (
	LawXavier = "xavier"
	LawNormal = "normal"
)

// BPRMFShape sets the shape of matrix factorisation.
type BPRMFShape struct {
	Dim  int        `yaml:"dim" limit:"1..4096"`
	Init InitConfig `yaml:"init"`
}

// LightGCNShape sets the shape of LightGCN.
type LightGCNShape struct {
	Dim    int        `yaml:"dim" limit:"1..4096"`
	Layers int        `yaml:"layers" limit:"1..32"`
	Norm   string     `yaml:"norm"` // how the propagation matrix is normalised: sym, sym-clamp:K, right-clamp:K or sum
	Init   InitConfig `yaml:"init"`
	// Tables set to bfloat16 makes training faster: products of graph and table read two-byte copies of layers and of
	// their gradients. Parameters, sums and the ranked vectors stay float32. Left out: everything is float32. RDP-GCF
	// has no such key, since a rounded row may be longer than its noise allows for.
	Tables string `yaml:"tables,omitempty" limit:"|bfloat16"`
}

// Bfloat16 is a value of LightGCNShape.Tables.
const Bfloat16 = "bfloat16"

// NGCFShape sets the shape of NGCF.
type NGCFShape struct {
	Dim            int     `yaml:"dim" limit:"1..4096"` // width of the tables and of every layer
	Layers         int     `yaml:"layers" limit:"1..32"`
	MessageDropout float64 `yaml:"message_dropout" limit:"[0,1)"`
	// share of the entries of the propagation matrix that are set to 0 in training
	NodeDropout float64    `yaml:"node_dropout" limit:"[0,1)"`
	Init        InitConfig `yaml:"init"`
}

// DefaultBPRMF returns BPRMF at RDP-GCF's common setting.
func DefaultBPRMF() BPRSetting[BPRMFShape] {
	return common(BPRMFShape{Dim: 64, Init: InitConfig{Law: LawXavier}})
}

// DefaultLightGCN returns LightGCN at RDP-GCF's common setting.
func DefaultLightGCN() BPRSetting[LightGCNShape] {
	return common(LightGCNShape{Dim: 64, Layers: 3, Norm: "sym", Init: InitConfig{Law: LawXavier}})
}

// DefaultNGCF returns the setting of NGCF's published program: rate 1e-4, lambda 1e-5, both
// dropouts 0.1, at most 400 epochs.
func DefaultNGCF() BPRSetting[NGCFShape] {
	s := common(NGCFShape{Dim: 64, Layers: 3, MessageDropout: 0.1, NodeDropout: 0.1, Init: InitConfig{Law: LawXavier}})
	s.Train.Rate, s.Train.L2, s.Train.Epochs = 1e-4, 1e-5, 400
	return s
}

// CodeLightGCN returns the setting of LightGCN's published PyTorch program: the published split whole, 1,000 epochs at
// batch 2048, normal tables, user-uniform pairs, ranks by the sigmoid of the scores, the last model. That program
// prints the best epoch on test; here the test rows choose nothing.
func CodeLightGCN() BPRSetting[LightGCNShape] {
	s := DefaultLightGCN()
	s.Profile = "code"
	s.Data.Recipe = "lightgcn"
	s.Model.Init = InitConfig{Law: LawNormal, Std: 0.1}
	s.Train.Epochs, s.Train.Batch, s.Train.Sampler = 1000, 2048, bpr.UserUniform
	s.Train.Patience, s.Train.Select = 0, topn.SelectLast
	s.Eval.Sigmoid = true
	return s
}

// common returns RDP-GCF's setting for all methods, with a model's shape.
func common[M BPRShape](m M) BPRSetting[M] {
	return BPRSetting[M]{Profile: "paper", Data: StaticData{DataConfig: topn.DefaultData()}, Model: m,
		Train: BPRTrain{TrainConfig: topn.DefaultTrain()}, Eval: topn.DefaultEval()}
}

// Values returns an initialiser that draws the initial values of the tables.
func (c InitConfig) Values(seed rng.Seed) nn.Init {
	if c.Law == LawNormal {
		return nn.Normal(seed, c.Std)
	}
	return nn.Xavier(seed)
}

// Check reports initial values that the tables cannot have.
func (c InitConfig) Check(v *config.Checker) {
	if c.Law != LawNormal {
		v.Check(c.Std == 0, "model.init.std", "belongs to the law %s, must be 0 for %s", LawNormal, c.Law)
	}
}

func (s BPRMFShape) shape() topn.Shape    { return topn.Shape{Dim: s.Dim} }
func (s LightGCNShape) shape() topn.Shape { return topn.Shape{Dim: s.Dim, Layers: s.Layers} }
func (s NGCFShape) shape() topn.Shape     { return topn.Shape{Dim: s.Dim, Layers: s.Layers} }

// Check implements BPRShape.
func (s BPRMFShape) Check(v *config.Checker) {
	s.Init.Check(v)
}

// Check implements BPRShape.
func (s LightGCNShape) Check(v *config.Checker) {
	_, err := graph.ParseNormalizer(s.Norm)
	v.Check(err == nil, "model.norm", "%v", err)
	s.Init.Check(v)
	if s.Tables != "" {
		v.Check(unsafe.Sizeof(tensor.Float(0)) == 4, "model.tables",
			"two-byte copies are of float32 tables, must be left out of a build that computes in float64")
	}
}

// Check implements BPRShape.
func (s NGCFShape) Check(v *config.Checker) {
	s.Init.Check(v)
}

// Vectors implements BPRShape.
func (s BPRMFShape) Vectors(g *graph.Bipartite, seed rng.Seed) (bpr.Static, error) {
	m := bprmf.New(g.Users, g.Items, s.Dim, s.Init.Values(seed))
	return sure{m, m.All}, nil
}

// Vectors implements BPRShape.
func (s LightGCNShape) Vectors(g *graph.Bipartite, seed rng.Seed) (bpr.Static, error) {
	norm, err := graph.ParseNormalizer(s.Norm)
	if err != nil {
		return nil, err
	}
	m := lightgcn.New(g, norm, s.Layers, s.Dim, s.Init.Values(seed))
	m.Over.Bfloat16 = s.Tables == Bfloat16
	return m, nil
}

// Vectors implements BPRShape.
func (s NGCFShape) Vectors(g *graph.Bipartite, seed rng.Seed) (bpr.Static, error) {
	m, err := ngcf.New(g, ngcf.Config{
		Dim: s.Dim, Layers: s.Layers, MessageDropout: s.MessageDropout, NodeDropout: s.NodeDropout,
	}, seed, s.Init.Values(seed))
	if err != nil {
		return nil, err
	}
	return sure{m, m.All}, nil
}

// sure wraps a model whose vectors cannot fail.
type sure struct {
	bpr.Encoder
	all func() (users, items tensor.Matrix)
}

// All implements bpr.Static.
func (m sure) All() (users, items tensor.Matrix, err error) {
	users, items = m.all()
	return users, items, nil
}
