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
	"align_adam": "of the steps on the alignment: own, with moments of their own, or shared, with those of all " +
		"steps",
	"batch":            "samples of a step",
	"beta2":            "of Adam: decay of the mean of squared gradients",
	"count_share":      "share of the budget that is spent on the counts",
	"decay_by":         "factor of every decay of the rate",
	"decay_every":      "epochs between decays of the rate",
	"delta":            "probability with which epsilon may not hold",
	"dim":              "width of the vectors of users and items",
	"dropout":          "share of values that are set to 0 in training",
	"epochs":           "the cap: early stopping may end before",
	"eps":              "of Adam: added to the root of the mean of squared gradients",
	"epsilon":          "budget of the whole run",
	"form":             "what is made of the input",
	"k":                "cutoffs of the metrics, the lengths of lists",
	"l2":               "penalty on the squares of the parameters",
	"lambda":           "penalty on the squares of the weights",
	"layers":           "steps of propagation over the graph",
	"message_dropout":  "share of values of messages that are set to 0 in training",
	"momentum":         "share of the last step that is added to a step",
	"name":             "of the data set or the attribute",
	"neighbours":       "most similar ones that are kept",
	"noise":            "where noise is added",
	"profile":          "name of the set of choices, for reports: one of the program's or your own",
	"rate":             "learning rate",
	"rate_by":          "factor of the rate after every rate_every epochs",
	"refit":            "train once more, on all training samples, for as many epochs as validation chose",
	"schedule":         "large: 16 times the pairs of a step at 4 times the rate; left out: as the other keys say",
	"shrink":           "added to the denominator of a similarity, against pairs with few rows",
	"steps":            "steps of the training",
	"tick_before":      "count an epoch before it begins, so that the first decay comes an epoch early",
	"user_bias":        "users have a bias",
	"validation":       "share of the training samples held out, 0: none",
	"validation_split": "what is held out: sample or user",
	"warm_up":          "steps over which the rate rises in a line",
}
