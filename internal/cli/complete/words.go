package complete

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"privrec/configs"
	"privrec/internal/config"
	"privrec/internal/dataset/registry"
	"privrec/internal/fetch"
	"privrec/internal/inventory"
	"privrec/internal/reproduce/grid"
	"privrec/internal/run"
)

// overrides completes --set: the keys of the task's configuration, and after "=" the values
// of the key, where they can be listed. For a command that is no task the keys are those of
// all tasks.
func (from source) overrides(c *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	tasks := from.tasks // of all, for `privrec reproduce`
	if t, ok := from.taskOf(c); ok {
		tasks = []run.Task{t}
	}
	key, value, open := strings.Cut(typed, "=")
	if open {
		words := keyValues(tasks, key)
		for i, w := range words {
			words[i] = key + "=" + w
		}
		if len(words) > 0 || !strings.ContainsRune(value, '/') {
			return words, cobra.ShellCompDirectiveNoFileComp
		}
		return nil, cobra.ShellCompDirectiveDefault
	}
	var out []string
	seen := map[string]bool{}
	for _, t := range tasks {
		for _, k := range t.Keys() {
			if seen[k.Path] {
				continue
			}
			seen[k.Path] = true
			out = append(out, k.Path+"=\t"+describe(k))
		}
	}
	return out, cobra.ShellCompDirectiveNoSpace | cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
}

// describe says in a word or two what a key takes.
func describe(k config.Key) string {
	if k.List {
		return "a list, each " + k.Kind
	}
	return k.Kind
}

// keyValues lists the values that a key takes in some of the tasks.
func keyValues(tasks []run.Task, key string) (words []string) {
	switch key {
	case "data.name":
		words = inventory.Names()
		for _, s := range registry.CrossSets() {
			if !slices.Contains(words, s.Name) {
				words = append(words, s.Name)
			}
		}
		return words
	case "data.recipe":
		return recipesOf("")
	}
	for _, t := range tasks {
		at := slices.IndexFunc(t.Keys(), func(k config.Key) bool { return k.Path == key })
		if at < 0 {
			continue
		}
		k := t.Keys()[at]
		choices := t.Choices(k)
		if k.Kind == "true or false" && !k.List {
			choices = []string{"true", "false"}
		}
		for _, w := range choices {
			if k.List {
				w = "[" + w + "]"
			}
			if !slices.Contains(words, w) {
				words = append(words, w)
			}
		}
	}
	return words
}

// recipeNames completes --recipe: the recipes of the set that is named, else of all sets.
func recipeNames(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	name := ""
	if len(args) > 0 {
		name = args[0]
	}
	return recipesOf(name), cobra.ShellCompDirectiveNoFileComp
}

// recipesOf lists the recipes of a set, or of all sets where there is none of that name.
func recipesOf(name string) (names []string) {
	for _, s := range registry.All() {
		if set, err := registry.Find(name); err == nil {
			s = set
		}
		for _, r := range s.Recipes {
			if !slices.Contains(names, r.Name) {
				names = append(names, r.Name)
			}
		}
	}
	return names
}

// paperNames completes the papers that have tables. It leaves out those that are named
// already.
func (from source) paperNames(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	var names []string
	for _, g := range from.builtIn() {
		if line := g.Paper + "\t" + g.Place.Cite; !slices.Contains(args, g.Paper) && !slices.Contains(names, line) {
			names = append(names, line)
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// tableNumbers completes --table: the numbers of the papers named, else of all papers.
func (from source) tableNumbers(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	var numbers []string
	for _, g := range from.builtIn() {
		if line := fmt.Sprintf("%d\t%s", g.Table, g.Title); len(args) == 0 || slices.Contains(args, g.Paper) {
			numbers = append(numbers, line)
		}
	}
	return numbers, cobra.ShellCompDirectiveNoFileComp
}

// builtIn returns the tables that come with the program, or none where they cannot be read.
func (from source) builtIn() []*grid.Grid {
	grids, err := grid.BuiltIn(configs.Files(), from.tasks)
	if err != nil {
		return nil
	}
	return grids
}

// Bounds of the search for run directories. They keep completion fast in any folder.
const (
	runDepth   = 3    // folders below the one that is typed
	runFolders = 2000 // looked into
)

// runDirs completes run directories: those below the folder that is typed behind the last of
// the separators, with their task and state. Where there are no runs it offers folders, and
// with files set what the shell offers.
func runDirs(separators string, files bool) completion {
	return func(_ *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		at := strings.LastIndexAny(typed, separators) + 1
		before, typed := typed[:at], typed[at:]
		var out []string
		for _, dir := range findRuns(typed) {
			if slices.Contains(args, dir) {
				continue
			}
			m, err := run.ReadManifest(dir)
			if err != nil {
				continue
			}
			out = append(out, before+dir+"\t"+m.Task+", "+m.Status)
		}
		switch {
		case len(out) > 0:
			return out, cobra.ShellCompDirectiveNoFileComp
		case files:
			return nil, cobra.ShellCompDirectiveDefault
		}
		return nil, cobra.ShellCompDirectiveFilterDirs
	}
}

// findRuns returns the run directories below the typed folder whose paths begin as typed.
func findRuns(typed string) (dirs []string) {
	base := typed[:strings.LastIndexByte(typed, '/')+1] // with its "/", or empty
	root := base
	if root == "" {
		root = "."
	}
	looked := 0
	_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return nil // what cannot be read is not offered
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return fs.SkipDir
		}
		if rel == "." {
			return nil
		}
		if looked++; looked > runFolders {
			return fs.SkipAll
		}
		name := base + filepath.ToSlash(rel)
		if strings.HasPrefix(d.Name(), ".") || !strings.HasPrefix(name, typed) {
			return fs.SkipDir
		}
		if _, err := os.Stat(filepath.Join(path, "manifest.json")); err == nil {
			dirs = append(dirs, name)
			return fs.SkipDir
		}
		if strings.Count(filepath.ToSlash(rel), "/") >= runDepth-1 {
			return fs.SkipDir
		}
		return nil
	})
	return dirs
}

// setNames completes the names of data sets.
func setNames(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return inventory.Names(), cobra.ShellCompDirectiveNoFileComp
}

// fetchedNames completes the names of sets that data fetch gets.
func fetchedNames(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	names, err := fetch.Names()
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}
