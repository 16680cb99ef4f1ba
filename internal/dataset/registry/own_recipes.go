package registry

import (
	"fmt"
	"strconv"
	"strings"

	"privrec/internal/dataset"
)

// Names of recipes for tasks on own data.
const (
	OwnLeaveOneOut = "leave-one-out"
	OwnRatio       = "ratio"
	OwnRatioValid  = "ratio-valid"
	OwnRecent      = "recent"
	OwnSplit       = "split"
	OwnSplitValid  = "split-valid"
)

// Spelling explains how the name of a recipe of own data is composed.
const Spelling = "or one spelled by steps, filters first, such as distinct+5-core+leave-one-out: " +
	"distinct, rating-R, items-N, users-N, N-core, last-N; then one of fraction, fraction-P, ratio, ratio-P, " +
	"leave-one-out, split; " +
	"after ratio or split also valid-P, P percent of the training rows held out"

// ownRecipes returns the recipes of own data that have a name.
func ownRecipes() []dataset.Recipe {
	first := dataset.Split{Kind: dataset.SplitFraction, Fraction: 0.8}
	random := dataset.Split{Kind: dataset.SplitRandom, Fraction: 0.8, Nearest: true}
	held := random
	held.ValidShare = 0.1
	all := []dataset.Recipe{
		{Name: "all", About: "every row; the first 80 % of a user's rows train", Split: first},
		{Name: "5-core", About: "5-core, the last 100 rows of a user, the first 80 % of them train", Core: 5,
			LastN: 100, Split: first},
		{Name: "10-core", About: "10-core, the last 100 rows of a user, the first 80 % of them train", Core: 10,
			LastN: 100, Split: first},
		{Name: OwnRecent, About: "the last 100 rows of a user, the first 80 % of them train", LastN: 100, Split: first},
		{Name: OwnLeaveOneOut, About: "every row; a user's last one is test, the one before it validation",
			Split: dataset.Split{Kind: dataset.SplitLeaveOneOut, Valid: true}},
		{Name: OwnRatio, About: "the first of a repeated pair; a random 80 % of a user's rows train",
			Dedupe: dataset.KeepFirst, Split: random},
		{Name: OwnRatioValid, About: "recipe ratio with a random tenth of the training rows held out for validation",
			Dedupe: dataset.KeepFirst, Split: held},
		{Name: OwnSplit, About: "train.txt and test.txt as they are", Split: dataset.Split{Kind: dataset.SplitFixed}},
		{Name: OwnSplitValid, About: "recipe split with a random tenth of the training rows held out for validation",
			Split: dataset.Split{Kind: dataset.SplitFixed, ValidShare: 0.1}},
	}
	for i := range all {
		all[i].Times, all[i].Known = true, true
	}
	return all
}

// step parses one word of a spelled recipe. place orders the words.
type step struct {
	word  string // before the number, or after it
	place int
	least float64 // of the number
	most  float64 // 0: the word has no number
	whole bool    // the number is an integer
	set   func(r *dataset.Recipe, x float64)
}

// steps returns the words of spelled recipes, in the order in which they are applied.
func steps() []step {
	const many = 1 << 30
	split := func(s dataset.Split) func(*dataset.Recipe, float64) {
		return func(r *dataset.Recipe, x float64) {
			if r.Split = s; x > 0 {
				r.Split.Fraction = x / 100
			}
		}
	}
	fraction := split(dataset.Split{Kind: dataset.SplitFraction, Fraction: 0.8})
	ratio := split(dataset.Split{Kind: dataset.SplitRandom, Fraction: 0.8, Nearest: true})
	return []step{
		{"distinct", 0, 0, 0, false, func(r *dataset.Recipe, _ float64) { r.Dedupe = dataset.KeepFirst }},
		{"rating-", 1, 1e-6, 1e6, false, func(r *dataset.Recipe, x float64) { r.MinRating = float32(x) }},
		{"items-", 2, 1, many, true, func(r *dataset.Recipe, x float64) { r.MinItem = int(x) }},
		{"users-", 3, 1, many, true, func(r *dataset.Recipe, x float64) { r.MinUser = int(x) }},
		{"-core", 4, 1, many, true, func(r *dataset.Recipe, x float64) { r.Core = int(x) }},
		{"last-", 5, 1, many, true, func(r *dataset.Recipe, x float64) { r.LastN = int(x) }},
		{"fraction", 6, 0, 0, false, fraction},
		{"fraction-", 6, 1, 99, false, fraction},
		{"ratio", 6, 0, 0, false, ratio},
		{"ratio-", 6, 1, 99, false, ratio},
		{OwnLeaveOneOut, 6, 0, 0, false, split(dataset.Split{Kind: dataset.SplitLeaveOneOut, Valid: true})},
		{OwnSplit, 6, 0, 0, false, split(dataset.Split{Kind: dataset.SplitFixed})},
		{"valid-", 7, 1, 99, false, func(r *dataset.Recipe, x float64) { r.Split.ValidShare = x / 100 }},
	}
}

// read reports whether the word is this step, and returns its number.
func (s step) read(word string) (x float64, ok bool) {
	if s.most == 0 {
		return 0, word == s.word
	}
	digits, ok := strings.CutPrefix(word, s.word)
	if s.word[0] == '-' {
		digits, ok = strings.CutSuffix(word, s.word)
	}
	if !ok || digits == "" || strings.Trim(digits, "0123456789.") != "" {
		return 0, false
	}
	x, err := strconv.ParseFloat(digits, 64)
	return x, err == nil && x >= s.least && x <= s.most && (!s.whole || x == float64(int64(x)))
}

// spelled returns the recipe of own data whose name lists its steps, joined by "+". names are the recipes that have a
// name.
func spelled(set, name string, names []string) (dataset.Recipe, error) {
	r := dataset.Recipe{Name: name, About: "the steps of its name", Times: true, Known: true}
	fail := func(msg, hint string) (dataset.Recipe, error) {
		return dataset.Recipe{}, &dataset.Error{File: set, Msg: msg, Hint: hint}
	}
	known := "known are " + strings.Join(names, ", ") +
		"; a configuration chooses one with data.recipe, as in --set data.recipe=" + names[0] + "; " + Spelling
	before, divided := -1, false
	for _, word := range strings.Split(name, "+") {
		found := false
		for _, s := range steps() {
			x, ok := s.read(word)
			if !ok {
				continue
			}
			if s.place <= before {
				return fail(fmt.Sprintf("recipe %q: step %q is twice or too late", name, word), Spelling)
			}
			s.set(&r, x)
			found, before, divided = true, s.place, divided || s.place == 6
			break
		}
		if !found {
			if word == name {
				return fail(fmt.Sprintf("unknown recipe %q", name), Nearest(name, names)+known)
			}
			return fail(fmt.Sprintf("recipe %q: unknown step %q", name, word), Spelling)
		}
	}
	if !divided {
		return fail(fmt.Sprintf("recipe %q does not say how to split", name), "add a split: "+name+
			"+leave-one-out, for example; "+Spelling)
	}
	if s := r.Split; s.ValidShare > 0 && s.Kind != dataset.SplitRandom && s.Kind != dataset.SplitFixed {
		return fail(fmt.Sprintf("recipe %q: valid holds out rows of a split that is ratio or split", name),
			"leave-one-out has validation rows of its own; models on fraction hold out samples by train.validation")
	}
	return r, nil
}
