package metrics

import (
	"fmt"
	"strings"
)

// Statistic names a number that describes data and no model, such as the users of a data set. It has no floor, and data
// may lack it.
type Statistic string

// The statistics: those that tables of data sets print, and one of slates.
const (
	Users        Statistic = "users"
	Items        Statistic = "items"
	Interactions Statistic = "interactions"
	MeanLength   Statistic = "mean length"
	Density      Statistic = "density"
	Features     Statistic = "features"
	Dimensions   Statistic = "dimensions"
	Impressions  Statistic = "impressions"
	Clicks       Statistic = "clicks"
	PairCount    Statistic = "pairs"
	// Accuracy is the recommendation accuracy of slates, as a share.
	Accuracy Statistic = "recommendation accuracy"
)

var statistics = []struct {
	name  Statistic
	means string
}{
	{Users, "users with at least one row"},
	{Items, "items with at least one row"},
	{Interactions, "rows: an item of a user, at a time"},
	{MeanLength, "interactions divided by users"},
	{Density, "interactions divided by users times items"},
	{Features, "features of a user that the data have"},
	{Dimensions, "distinct values of a feature of users, the inputs of its one-hot code"},
	{Impressions, "rows of a log: an item shown to a user"},
	{Clicks, "impressions with a click"},
	{PairCount, "pairs of a slate and the clicks before it"},
	{Accuracy, "share of the positions of a slate that hold an item which the user clicked in any of their slates, " +
		"mean over pairs of users whose clicks are known"},
}

// String returns the name used in tables and files.
func (s Statistic) String() string { return string(s) }

// Definition returns one line that explains the number.
func (s Statistic) Definition() string {
	for _, known := range statistics {
		if known.name == s {
			return s.String() + ": " + known.means
		}
	}
	return s.String()
}

// Statistics lists the statistics.
func Statistics() (all []Statistic) {
	for _, s := range statistics {
		all = append(all, s.name)
	}
	return all
}

// ParseStatistic reads the name of a statistic.
func ParseStatistic(name string) (Statistic, error) {
	var names []string
	for _, s := range statistics {
		if name == s.name.String() {
			return s.name, nil
		}
		names = append(names, s.name.String())
	}
	return "", fmt.Errorf("statistic %q: want one of %s", name, strings.Join(names, ", "))
}
