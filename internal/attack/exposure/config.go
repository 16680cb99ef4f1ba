package exposure

import (
	"fmt"
	"slices"

	"privrec/internal/optim"
)

// Names of the encoders and decoders, in the order of the paper's tables.
var (
	encoders = []string{"mean", "max", "attention"}
	decoders = []string{"point", "gru", "lstm", "transformer"}
)

// Encoders lists the values of [Config].Encoder.
func Encoders() []string { return slices.Clone(encoders) }

// Decoders lists the values of [Config].Decoder. "point" is point-wise, the others are sequence-wise.
func Decoders() []string { return slices.Clone(decoders) }

// Values of [Config].Tie and [Config].ContextDecode.
const (
	TiePaper = "paper" // one matrix: items of slates, items fed to the decoder, output layer (section 5.3)
	// a matrix for the encoder; output and decoder input share one in gru and lstm, not in transformer
	TieCode      = "code"
	ContextFixed = "fixed" // the encoder's vector at every step, as in training
	// the decoder's own state in its place from the second step of ranking on, as in the released program
	ContextState = "state"
)

// Config sets the network of an attack and how it guesses.
type Config struct {
	Encoder string `yaml:"encoder"` // how the encoder pools a slate: mean, max (eq. 2, 3) or attention (eq. 4-7)
	Decoder string `yaml:"decoder"` // how clicks are guessed: point (eq. 8), lstm (eq. 12), gru (eq. 13) or transformer
	Dim     int    `yaml:"dim"`     // d, width of the vectors of items, of states and of memories
	Heads   int    `yaml:"heads"`   // number of heads of every attention; divides dim. The text has 2, the program 1
	FFN     int    `yaml:"ffn"`     // width of the hidden layer of a block's feed-forward network
	Blocks  int    `yaml:"blocks"`  // number of attention blocks in an encoder and in a decoder
	// share of values set to 0, in [0, 1): in blocks, and of the items fed to a sequence-wise decoder
	Dropout float64 `yaml:"dropout"`
	// Smoothing is the weight of every item that was not clicked, in [0, 1): the constant of eq. 9. Only
	// the point-wise loss smooths.
	Smoothing float64 `yaml:"smoothing"`
	Init      string  `yaml:"init"` // initial weights: xavier-normal (program) or xavier-uniform; biases start at 0
	// which layers share item vectors: paper (all of them) or code (the encoder has its own)
	Tie string `yaml:"tie"`
	// ScaleEmbedding multiplies items by sqrt(dim) where they enter an encoder or a transformer decoder.
	// The text does not say; the program does.
	ScaleEmbedding bool `yaml:"scale_embedding"`
	// PoolStart lets pooling see the start token that stands before a slate, as the program does except
	// before a transformer decoder. Attention always has it there, as the CLS token of the text.
	PoolStart bool `yaml:"pool_start"`
	// SkipUnknown leaves items that no training pair holds out of a slate. False: they become OOV tokens.
	SkipUnknown bool `yaml:"skip_unknown"`

	// context of decoders gru and lstm after their first step: fixed (the encoder's vector) or state (their own)
	ContextDecode string `yaml:"context_decode"`
	// StopAtEnd ends a pair's lists at the first step whose best token is End: that list and the later ones are
	// empty. False: they go on.
	StopAtEnd bool `yaml:"stop_at_end"`
	Specials  bool `yaml:"specials"` // true: the tokens Pad, OOV, Start and End may be guessed and fed back
	Ban       bool `yaml:"ban"`      // true: a token that was fed back to the decoder is in none of the later lists
	// FeedAll feeds the best token of the whole vocabulary back to the decoder, as the program does, even where only
	// candidates are ranked. False: the best candidate.
	FeedAll bool `yaml:"feed_all"`
}

// Paper returns the setting of the text, completed by the program's where the text says nothing.
func Paper(encoder, decoder string) Config {
	return Config{
		Encoder: encoder, Decoder: decoder, Dim: 128, Heads: 2, FFN: 128, Blocks: 1, Dropout: 0.1, Smoothing: 1e-6,
		Init: "xavier-normal", Tie: TiePaper, ScaleEmbedding: true, ContextDecode: ContextFixed,
	}
}

// Code returns the released program's setting.
func Code(encoder, decoder string) Config {
	c := Paper(encoder, decoder)
	c.Heads, c.Tie, c.PoolStart, c.ContextDecode = 1, TieCode, true, ContextState
	c.StopAtEnd = encoder == "attention" // after a pooling encoder the runner-up takes End's place
	c.FeedAll = true
	return c
}

// Check returns the first wrong field, by its name in files, and the problem. Both are empty if no field is wrong.
func (c Config) Check() (field, problem string) {
	oneOf := func(name, value string, of ...string) bool {
		if !slices.Contains(of, value) {
			field, problem = name, fmt.Sprintf("%q is none of %q", value, of)
		}
		return field != ""
	}
	atLeast := func(name string, value, least int) bool {
		if value < least {
			field, problem = name, fmt.Sprintf("must be at least %d, got %d", least, value)
		}
		return field != ""
	}
	below1 := func(name string, value float64) bool {
		if !(value >= 0 && value < 1) {
			field, problem = name, fmt.Sprintf("must be in [0, 1), got %v", value)
		}
		return field != ""
	}
	switch {
	case oneOf("encoder", c.Encoder, encoders...), oneOf("decoder", c.Decoder, decoders...),
		atLeast("dim", c.Dim, 1), atLeast("heads", c.Heads, 1), atLeast("ffn", c.FFN, 1),
		atLeast("blocks", c.Blocks, 1),
		below1("dropout", c.Dropout), below1("smoothing", c.Smoothing),
		oneOf("init", c.Init, "xavier-normal", "xavier-uniform"), oneOf("tie", c.Tie, TiePaper, TieCode),
		oneOf("context_decode", c.ContextDecode, ContextFixed, ContextState):
	case c.attends() && c.Dim%c.Heads != 0:
		return "heads", fmt.Sprintf("%d heads do not divide dim %d", c.Heads, c.Dim)
	}
	return field, problem
}

// attends reports whether the model has attention.
func (c Config) attends() bool { return c.Encoder == "attention" || c.Decoder == "transformer" }

// Training says how the attack is optimised.
type Training struct {
	Rate  float64 `yaml:"rate"`  // learning rate; if warm_up is above 0, it is multiplied by the factor given there
	Beta1 float64 `yaml:"beta1"` // decay of Adam's mean of gradients
	Beta2 float64 `yaml:"beta2"`
	Eps   float64 `yaml:"eps"`
	// WarmUp is the number of steps over which the rate rises; after them it falls with the root of the step: rate ·
	// min(step^-0.5, step·warm_up^-1.5). 0: the rate stays the same.
	WarmUp int `yaml:"warm_up"`
	Batch  int `yaml:"batch"` // pairs in one training step
}

// PaperTraining returns the text's training: Adam with a rate of 0.001.
func PaperTraining() Training {
	return Training{Rate: 1e-3, Beta1: 0.9, Beta2: 0.999, Eps: 1e-8, Batch: 256}
}

// CodeTraining returns the released program's training. Its rate never exceeds 1.6e-6, 600 times less than
// the text's; its batches hold 4,000 tokens.
func CodeTraining() Training {
	return Training{Rate: 1e-4, Beta1: 0.9, Beta2: 0.98, Eps: 1e-9, WarmUp: 4000, Batch: 266}
}

// Check returns the first wrong field and the problem, as [Config.Check] does.
func (c Training) Check() (field, problem string) {
	switch {
	case !(c.Rate > 0 && c.Rate < 1e9):
		return "rate", fmt.Sprintf("must be positive, got %v", c.Rate)
	case !(c.Beta1 >= 0 && c.Beta1 < 1):
		return "beta1", fmt.Sprintf("must be in [0, 1), got %v", c.Beta1)
	case !(c.Beta2 >= 0 && c.Beta2 < 1):
		return "beta2", fmt.Sprintf("must be in [0, 1), got %v", c.Beta2)
	case !(c.Eps > 0 && c.Eps < 1e9):
		return "eps", fmt.Sprintf("must be positive, got %v", c.Eps)
	case c.WarmUp < 0:
		return "warm_up", fmt.Sprintf("must not be negative, got %d", c.WarmUp)
	case c.Batch < 1:
		return "batch", fmt.Sprintf("must be at least 1, got %d", c.Batch)
	}
	return "", ""
}

// Optimizer returns the optimiser. The caller passes Rate as the learning rate of each step.
func (c Training) Optimizer() optim.Optimizer {
	a := optim.NewAdam(0)
	a.Beta1, a.Beta2, a.Eps = c.Beta1, c.Beta2, c.Eps
	if c.WarmUp > 0 {
		return optim.InverseRoot{Optimizer: a, WarmUp: c.WarmUp}
	}
	return a
}
