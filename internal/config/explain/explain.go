// Package explain says what the keys of configurations mean, in the words of the comments on the Go
// types. comments.txt has them; a test writes it from the sources (make docs), and fails when it is
// stale.
package explain

import (
	"cmp"
	_ "embed" // comments.txt
	"strings"
	"sync"

	"privrec/internal/config"
)

//go:embed comments.txt
var embedded string

// Comments holds the comments on types, by import path and name, and on their fields, by type, dot
// and field. The comment on a type has no name before its verb.
type Comments map[string]string

// BuiltIn returns the comments of the sources that the program was built from.
var BuiltIn = sync.OnceValue(func() Comments { return Parse(embedded) })

// Parse returns the comments in a text that Text wrote.
func Parse(text string) Comments {
	c := Comments{}
	for _, line := range strings.Split(text, "\n") {
		if name, comment, ok := strings.Cut(line, "\t"); ok {
			c[name] = comment
		}
	}
	return c
}

// Of returns the explanation of a key: the comment on its field, or for a group the comment on its type. Without one it
// is the common explanation of the key's last word, or "" if there is none.
func (c Comments) Of(f config.Field) string {
	text, word := c[f.Of+"."+f.Name], f.Path[strings.LastIndexByte(f.Path, '.')+1:]
	if !f.Group {
		return cmp.Or(text, common[word])
	}
	of := c[f.Type]
	switch {
	case of == "":
		return text
	case text == "":
		return word + " " + of
	case strings.HasSuffix(text, "."):
		return text + " It " + of
	}
	return text + ". It " + of
}

// common explains words that are keys of many configurations.
var common = map[string]string{
	"align_adam":       "Adam's moments in steps on the alignment: own, kept apart, or shared with all steps",
	"batch":            "number of samples in a step",
	"beta2":            "decay of Adam's mean of squared gradients",
	"count_share":      "share of the budget that is spent on the counts",
	"decay_by":         "factor by which a decay multiplies the rate",
	"decay_every":      "number of epochs between decays of the rate",
	"delta":            "probability with which epsilon may fail to hold",
	"dim":              "width of the vectors of users and items",
	"dropout":          "share of values set to 0 in training",
	"epochs":           "most epochs; early stopping may end before",
	"eps":              "number that Adam adds to the root of the mean of squared gradients",
	"epsilon":          "privacy budget of the whole run",
	"k":                "cutoffs of the metrics: lengths of lists",
	"l2":               "weight of the penalty on the squares of the parameters",
	"lambda":           "weight of the penalty on the squares of the weights",
	"layers":           "number of propagation steps over the graph",
	"message_dropout":  "share of values of messages set to 0 in training",
	"momentum":         "share of the last step that is added to a step",
	"name":             "name of the data set or of the attribute",
	"neighbours":       "number of most similar ones to keep",
	"profile":          "name of the set of choices, for reports: one of the program's or your own",
	"rate":             "learning rate",
	"rate_by":          "factor by which the rate is multiplied after every rate_every epochs",
	"refit":            "train once more, on all training samples, for as many epochs as validation chose",
	"schedule":         "large: 16 times the pairs of a step at 4 times the rate; left out: as the other keys say",
	"shrink":           "number added to the denominator of a similarity, against pairs with few rows",
	"steps":            "number of training steps",
	"tick_before":      "count an epoch before it begins, so that the first decay comes an epoch early",
	"user_bias":        "give every user a bias",
	"validation":       "share of the training samples held out; 0: none",
	"validation_split": "what is held out: sample or user",
	"warm_up":          "number of steps over which the rate rises in a line",
}
