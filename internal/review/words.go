package review

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"privrec/internal/experiment"
	"privrec/internal/privacy"
)

// units explains units for readers who do not know the word.
var units = map[string][3]string{ // one of them, several, what it is
	"user": {"user", "users", "all that the data have about one person"},
	"interaction": {"interaction", "interactions",
		"one click, purchase or rating: a person has many, and they are not protected together"},
	"record": {"record", "records", "one row of the data: a person who has several is protected less"},
	"sample": {"training example", "training examples",
		"one row that the model was trained on: a person has many, and they are not protected together"},
	"edge": {"edge", "edges",
		"one link between two items in a person's history: a person has many, and they are not protected together"},
	"feature": {"feature vector", "feature vectors",
		"what a person says of themselves, such as their age; not what they did"},
	"cell": {"cell of a history", "cells of histories",
		"one item in a person's history, or the order of two: a person has many, and they are not protected together"},
	"position": {"position of a list", "positions of lists", "one place in one list that a person was shown"},
}

// ownUnits maps units of accounts that have names of their own.
var ownUnits = map[string]string{"edge-unit": string(privacy.Edge), "delete": string(privacy.Interaction),
	"substitute": string(privacy.Interaction)}

// unitName returns the usual name of an account's unit.
func unitName(name string) string {
	if u, ok := ownUnits[name]; ok {
		return u
	}
	return name
}

// one and many return words for a unit.
func one(unit string) string {
	if u, ok := units[unit]; ok {
		return u[0]
	}
	return unit
}

func many(unit string) string {
	if u, ok := units[unit]; ok {
		return u[1]
	}
	return unit + "s"
}

// meaning returns the explanation of a unit; "" for a unit in a source's own words.
func meaning(unit string) string { return units[unit][2] }

// compared returns words for the two data sets that a guarantee compares.
func compared(n privacy.Neighbouring, unit string) string {
	switch n {
	case privacy.AddRemove:
		return fmt.Sprintf("the data with one %s and without it", one(unit))
	case privacy.Replace:
		return fmt.Sprintf("the data, and the same with another %s in place of one", one(unit))
	case privacy.ZeroOut:
		return fmt.Sprintf("the data, and the same with one %s blanked", one(unit))
	}
	return string(n)
}

// up returns a non-negative number as text with a number of digits, never below it.
func up(v float64, digits int) string {
	if v == 0 || math.IsInf(v, 1) {
		return plain(v)
	}
	unit := math.Pow(10, math.Floor(math.Log10(v))-float64(digits-1))
	near := math.Round(v/unit) * unit
	if near < v*(1-1e-12) {
		near = math.Ceil(v/unit) * unit
	}
	s := strconv.FormatFloat(near, 'g', digits, 64)
	back, _ := strconv.ParseFloat(s, 64)
	return plain(back)
}

// plain returns a number without an exponent where people read it so.
func plain(v float64) string {
	if math.IsInf(v, 1) {
		return "no bound"
	}
	if a := math.Abs(v); a == 0 || a >= 1e-3 && a < 1e15 {
		s := strconv.FormatFloat(v, 'f', -1, 64)
		if whole, fraction, _ := strings.Cut(s, "."); len(whole) > 4 {
			n, _ := strconv.ParseInt(whole, 10, 64) // below 1e15
			return strings.TrimSuffix(group(n)+"."+fraction, ".")
		}
		return s
	}
	return strings.NewReplacer("e-0", "e-", "e+0", "e", "e+", "e").Replace(strconv.FormatFloat(v, 'e', -1, 64))
}

// factor returns words for how much more likely e^epsilon makes an event.
func factor(eps float64) string {
	f := math.Exp(eps)
	switch {
	case f < 1e6:
		return up(f, 3) + " times"
	case f < 1e15:
		return "more than " + plain(math.Pow(10, math.Floor(math.Log10(f)))) + " times"
	}
	return "without any practical limit"
}

// oddsIn returns a small probability as one in a number.
func oddsIn(p float64) string {
	return "1 in " + group(int64(math.Floor(1/p*(1+1e-12))))
}

// group returns a whole number with commas.
func group(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// sentence returns a text with a capital letter and a full stop.
func sentence(s string) string {
	if s == "" {
		return s
	}
	s = strings.ToUpper(s[:1]) + s[1:]
	if strings.HasSuffix(s, ".") || strings.HasSuffix(s, "?") {
		return s
	}
	return s + "."
}

// openNames returns the names of open things in words.
func openNames(open []Open) string {
	var names []string
	for _, o := range open {
		if name := experiment.Thing(o.What); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return experiment.Things(names)
}
