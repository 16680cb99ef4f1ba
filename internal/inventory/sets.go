// Package inventory shows the data sets of the program: which sets there are, what a recipe
// leaves of one, how far a stand-in orders methods as the real data do, and which files are
// on the disk.
package inventory

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"privrec/internal/dataset"
	"privrec/internal/dataset/registry"
	"privrec/internal/dataset/slate"
	"privrec/internal/dataset/standin"
	"privrec/internal/fetch"
	"privrec/internal/report"
)

// Sets returns a table of the sets of the registry, the pairs of domains, and users' own sets in $PRIVREC_DATA.
func Sets() *report.Table {
	t := &report.Table{Name: "data", Title: "Data sets", Columns: report.Columns("", "name", "what", "recipes", "from")}
	for _, s := range registry.All() {
		from := s.Address
		if s.StandIn != nil {
			from = "generated"
		}
		t.Add(s.Name, s.Title, recipes(s), from)
	}
	for _, s := range registry.CrossSets() {
		if s.Name == standin.CrossName {
			t.Add(s.Name, s.Title, "", "generated")
		}
	}
	for _, name := range registry.OwnNames("") {
		if s, err := registry.Find(name); err == nil {
			t.Add(s.Name, s.Title, recipes(s), "$PRIVREC_DATA")
		}
	}
	return t
}

// recipes names the recipes of a set.
func recipes(s registry.Set) string {
	var names []string
	for _, r := range s.Recipes {
		names = append(names, r.Name)
	}
	return strings.Join(names, ", ")
}

// Slates returns a table of the sets of slates that exposure attacks accept.
func Slates() *report.Table {
	t := &report.Table{Name: "slates", Title: "Sets of slates, for exposure attacks (recipe slates)",
		Columns: report.Columns("", "name", "what", "pairs", "from")}
	for _, s := range slate.Sources() {
		from := s.From
		if s.StandIn {
			from = "generated"
		}
		t.Add(s.Name, s.Title, s.About, from)
	}
	return t
}

// SlatesRecipe names the recipe that pairs a slate with the clicks before it.
const SlatesRecipe = "slates"

// SlateSource returns the set of slates for a name and a recipe. ok is false if they name no slates. A name that is
// also a data set's means slates only under SlatesRecipe.
func SlateSource(name, recipe string) (src slate.Source, ok bool, err error) {
	_, none := registry.Find(name)
	if none == nil && recipe != SlatesRecipe {
		return src, false, nil
	}
	if none == nil && strings.HasPrefix(name, registry.OwnPrefix) {
		return slate.Source{Name: name, Title: "own impressions"}, true, nil
	}
	i := slices.IndexFunc(slate.Sources(), func(s slate.Source) bool { return s.Name == name })
	switch {
	case i < 0:
		return src, false, nil
	case recipe != "" && recipe != SlatesRecipe:
		return src, false, &dataset.Error{File: name, Msg: fmt.Sprintf("unknown recipe %q", recipe),
			Hint: "known are " + SlatesRecipe}
	}
	return slate.Sources()[i], true, nil
}

// Find returns a data set, as registry.Find does. Its error on an unknown name lists the sets of slates too.
func Find(name string) (registry.Set, error) {
	set, err := registry.Find(name)
	var e *dataset.Error
	if errors.As(err, &e) {
		for _, other := range Names() {
			if _, err := registry.Find(other); err != nil {
				e.Hint += ", " + other
			}
		}
	}
	return set, err
}

// Names returns the names of all sets, and of users' own in $PRIVREC_DATA, each once.
func Names() []string {
	var names []string
	for _, s := range registry.All() {
		names = append(names, s.Name)
	}
	for _, s := range slate.Sources() {
		if !slices.Contains(names, s.Name) {
			names = append(names, s.Name)
		}
	}
	return append(names, registry.OwnNames("")...)
}

// Receipt shows the result of a fetch: a table as text, and the receipt itself as JSON.
type Receipt struct{ fetch.Receipt }

// Text writes the files, and notes on the archives that they came in.
func (r Receipt) Text(w io.Writer) error {
	t := &report.Table{Name: "files", Title: fmt.Sprintf("%s, fetched %s", r.Name,
		r.Time.Format("2006-01-02 15:04 MST")), Columns: report.Columns("", "file", "bytes", "sha256")}
	for _, f := range r.Files {
		t.Add(f.Name, f.Bytes, f.SHA256)
	}
	for _, x := range r.Archives {
		switch {
		case x.Want != "":
			t.Notes = append(t.Notes,
				fmt.Sprintf("%s is not the published file (%s) and was accepted: evidence of level C at most.", x.Name,
					x.Want))
		case x.Published == "":
			t.Notes = append(t.Notes, x.Name+" has no published hash; from now on it is compared with this receipt.")
		}
	}
	return t.Text(w)
}

// Verification shows which files are on the disk: tables of sets and files as text, and the reports themselves as JSON.
type Verification []fetch.Report

// Text writes a line a set and a line a file.
func (v Verification) Text(w io.Writer) error {
	sets := &report.Table{Name: "sets", Title: "Data sets", Columns: report.Columns("", "set", "verdict", "folder")}
	files := &report.Table{Name: "files", Title: "Files", Columns: report.Columns("", "file", "state", "bytes",
		"compared with", "sha256")}
	for _, x := range v {
		sets.Add(x.Name, x.Verdict, x.Folder)
		for _, f := range x.Files {
			files.Add(x.Name+"/"+f.Name, string(f.State), f.Bytes, f.By, fmt.Sprintf("%.12s", f.Got))
		}
	}
	if len(sets.Rows) == 0 {
		_, err := fmt.Fprintln(w, "no data set is present")
		return err
	}
	if err := sets.Text(w); err != nil || len(files.Rows) == 0 {
		return err
	}
	if _, err := fmt.Fprintln(w); err != nil {
		return err
	}
	return files.Text(w)
}
