// Package phrase writes numbers of things, times and hints as tables and messages say them.
package phrase

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"privrec/internal/config"
)

// Plural writes a number of things.
func Plural(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// AppendNew appends x to a list that lacks it.
func AppendNew[T comparable](list []T, x T) []T {
	if slices.Contains(list, x) {
		return list
	}
	return append(list, x)
}

// Hint returns the hint for a word that is not among the known ones.
func Hint(word string, known []string) string {
	if best := config.Nearest(word, known); best != "" {
		return fmt.Sprintf("did you mean %q?", best)
	}
	return "known are " + strings.Join(known, ", ")
}

// Lasting writes a time in its two largest units.
func Lasting(seconds float64) string {
	if seconds < 10 {
		return fmt.Sprintf("%.1f s", seconds)
	}
	d := time.Duration(seconds * float64(time.Second)).Round(time.Second)
	if d >= time.Hour {
		d = d.Round(time.Minute)
		return fmt.Sprintf("%d h %02d min", int(d.Hours()), int(d.Minutes())%60)
	}
	if d >= time.Minute {
		return fmt.Sprintf("%d min %02d s", int(d.Minutes()), int(d.Seconds())%60)
	}
	return fmt.Sprintf("%d s", int(d.Seconds()))
}

// Took writes a time in seconds or, from one minute on, in minutes.
func Took(seconds float64) string {
	d := time.Duration(seconds * float64(time.Second))
	if d < time.Minute {
		return fmt.Sprintf("%.1f s", seconds)
	}
	return d.Round(time.Second).String()
}
