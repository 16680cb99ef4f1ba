package rdpgcf

import (
	"fmt"
	"slices"
	"strings"

	"privrec/internal/config"
	"privrec/internal/train"
)

// standing says how a run's setting relates to the profile that it names.
type standing struct {
	text string
	// printed: nothing differs that would make the numbers of the paper's tables those
	// of another method. Data, shape and length of training may differ.
	printed bool
	stated  train.Length // of that profile's training; empty for a setting of no profile
}

// free are keys in which a setting may differ from its profile and still be compared
// with the tables: what they sweep, which data, and how long training lasts.
var free = []string{"data.", "eval.k", "eval.every", "model.dim", "model.layers", "train.epochs", "train.patience", "train.select"}

// stand compares a setting with the profile it names.
func stand[C interface{ common() common }](setting C, profile string, named map[string]C) (standing, error) {
	base, ok := named[profile]
	if !ok {
		return standing{text: fmt.Sprintf("own setting %q", profile)}, nil
	}
	changed, err := config.Diff(base, setting)
	if err != nil {
		return standing{}, err
	}
	s := standing{text: "profile " + profile, printed: true, stated: base.common().train.length()}
	if len(changed) > 0 {
		s.text += ", changed: " + strings.Join(changed, ", ")
	}
	for _, key := range changed {
		s.printed = s.printed && slices.ContainsFunc(free, func(prefix string) bool { return strings.HasPrefix(key, prefix) })
	}
	return s, nil
}

// length is how long a training lasts.
func (c TrainConfig) length() train.Length {
	return train.Length{Epochs: c.Epochs, Patience: c.Patience}
}

func (c Config) standing() (standing, error) {
	return stand(c, c.Profile, map[string]Config{"paper": Default(), "code": Code(), "repaired": Repaired()})
}

func (s Setting[M]) standing() (standing, error) {
	var named any
	switch any(s.Model).(type) {
	case MFShape:
		named = map[string]Setting[MFShape]{"paper": DefaultMF()}
	case LightGCNShape:
		named = map[string]Setting[LightGCNShape]{"paper": DefaultLightGCN(), "code": CodeLightGCN()}
	case NGCFShape:
		named = map[string]Setting[NGCFShape]{"paper": DefaultNGCF()}
	}
	return stand(s, s.Profile, named.(map[string]Setting[M]))
}
