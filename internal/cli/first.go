package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"privrec/internal/run"
)

// begin is the part of the first screen that says where to begin: command lines that need no
// data, of those that the program has.
func (a *App) begin() string {
	has := func(name string) bool {
		return slices.ContainsFunc(a.Tasks, func(t run.Task) bool { return t.String() == name })
	}
	var lines [][2]string
	if a.Demo != nil {
		lines = append(lines, [2]string{"privrec demo", "the tour: a recommender with noise, its twin without, what the epsilon of the first is worth; offline"})
	}
	if has("train lightgcn") {
		lines = append(lines, [2]string{"privrec train lightgcn --set data.name=standin-demo", "a run of your own, on generated data"})
	}
	if has("train dipsgnn") {
		lines = append(lines, [2]string{"privrec reproduce dipsgnn --profile smoke", "a paper's table, small"})
	}
	lines = append(lines, [2]string{"privrec list", "what there is to run, and on which data"})
	wide := 0
	for _, l := range lines {
		wide = max(wide, len(l[0]))
	}
	var b strings.Builder
	b.WriteString("To begin with, without any data:\n\n")
	for _, l := range lines {
		fmt.Fprintf(&b, "  %-*s  %s\n", wide, l[0], l[1])
	}
	return b.String() + "\n"
}

// arrange puts the commands of the first screen under headings.
func arrange(root *cobra.Command) {
	for _, g := range []struct {
		id, title string
		names     []string
	}{
		{"look", "Look around:", []string{"demo", "doctor", "list", "data"}},
		{"run", "Train, protect, attack, compare:", []string{"train", "perturb", "attack", "evaluate", "recommend", "compare", "reproduce"}},
		{"price", "Price privacy:", []string{"account", "calibrate"}},
	} {
		group := &cobra.Group{ID: g.id, Title: g.title}
		for _, c := range root.Commands() {
			if slices.Contains(g.names, c.Name()) {
				c.GroupID = g.id
				if !root.ContainsGroup(g.id) {
					root.AddGroup(group)
				}
			}
		}
	}
}
