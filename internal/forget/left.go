package forget

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"privrec/internal/dataset"
	"privrec/internal/dataset/format"
	"privrec/internal/dataset/registry"
	"privrec/internal/run"
	"privrec/internal/system"
)

// Left is something that still has rows of forgotten users, or comes from them.
type Left struct {
	Path  string
	Holds string // in words
	Now   Fate

	purge bool // --purge may remove it
}

// Fate says what became of something that was left.
type Fate string

// The values of Fate.
const (
	Stays   Fate = "stays"
	Removed Fate = "removed"
)

// search returns what is left of users in the run before, in the cache of prepared rows, in the data files and in more
// folders. With q.Purge it removes what is in the run and in the cache.
func search(ctx context.Context, was *source, users dataset.Forgotten, found []string, q Question) ([]Left, error) {
	is := gone(users)
	left, err := inRun(ctx, was, is)
	if err != nil {
		return nil, err
	}
	name, err := was.data()
	if err != nil {
		return nil, err
	}
	cached, err := registry.Cached(q.CacheDir, name, is)
	if err != nil {
		return nil, err
	}
	for _, e := range cached {
		left = append(left, Left{Path: e.Path, Now: Stays, purge: true,
			Holds: "prepared rows of " + count(e.Users, "user") + "; made again when they are needed"})
	}
	if standIn, _ := registry.Known(name); standIn { // generated from a seed: there are no files
		found = nil
	}
	if n := len(slices.DeleteFunc(slices.Clone(found), func(id string) bool { return !is(id) })); n > 0 {
		left = append(left, Left{Path: "the files of " + name, Now: Stays,
			Holds: fmt.Sprintf("rows of %s: take them out", count(n, "user"))})
	}
	for _, dir := range q.In {
		more, err := inFolder(ctx, dir, was, q, is)
		if err != nil {
			return nil, err
		}
		left = append(left, more...)
	}
	if !q.Purge {
		return left, nil
	}
	for i := range left {
		if !left[i].purge {
			continue
		}
		if err := os.Remove(left[i].Path); err != nil {
			return nil, err
		}
		left[i].Now = Removed
	}
	return left, nil
}

// inRun returns what the files of the run before hold.
func inRun(ctx context.Context, was *source, is func(id string) bool) (left []Left, err error) {
	files, err := run.Artefacts(was.dir)
	if err != nil {
		return nil, err
	}
	for name := range files {
		l := Left{Path: filepath.Join(was.dir, filepath.FromSlash(name)), Now: Stays, purge: true}
		switch form, table := format.OfInput(strings.TrimSuffix(strings.TrimSuffix(name, ".gz"), ".zst")); {
		case name == run.LedgerName:
			l.Holds, l.purge = "what was released: it stays released", false
			if x, err := was.released(); err != nil || !x {
				if err != nil {
					return nil, err
				}
				continue
			}
		case strings.HasSuffix(name, ".safetensors"):
			l.Holds = "parameters trained on their rows"
		case table && form != format.Lines:
			if l.Holds, err = inTable(ctx, l.Path, form, is); err != nil {
				return nil, err
			}
		case strings.HasPrefix(name, "result.") ||
			slices.Contains([]string{"metrics.json", "cells.json", "report.html"}, name):
			l.Holds, l.purge = "means and counts over all users, theirs among them", false
		default:
			continue
		}
		if l.Holds != "" {
			left = append(left, l)
		}
	}
	slices.SortFunc(left, func(a, b Left) int { return cmp.Compare(a.Path, b.Path) })
	return left, nil
}

// inTable says how many rows of a table are of the users; "" for a table without any, or without a column of users.
func inTable(ctx context.Context, path string, form format.Form, is func(id string) bool) (string, error) {
	in, err := format.OpenRows(ctx, path, form)
	if err != nil {
		return "", err
	}
	defer in.Close()
	at, err := format.User.Column(in.Columns, in.Fail)
	if err != nil || at < 0 {
		return "", nil // a table about something else
	}
	rows, users := 0, map[string]bool{}
	for in.Next() {
		if id := string(in.Fields[at]); is(id) {
			rows, users[id] = rows+1, true
		}
	}
	if err := in.Err(); err != nil || rows == 0 {
		return "", err
	}
	return fmt.Sprintf("%s of %s", count(rows, "row"), count(len(users), "user")), nil
}

// inFolder returns the tables in a folder with rows of the users, and runs trained on the same data that did not forget
// them. It follows no links.
func inFolder(ctx context.Context, dir string, was *source, q Question,
	is func(id string) bool) (left []Left, err error) {
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		case d.IsDir() && (system.SamePath(path, was.dir) || system.SamePath(path, q.Against)):
			return fs.SkipDir
		case d.IsDir():
			m, err := run.ReadManifest(path)
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			if err != nil {
				return err
			}
			if slices.ContainsFunc(m.Data, func(a run.Data) bool { return slices.Contains(was.manifest.Data, a) }) {
				left = append(left, Left{Path: path, Now: Stays,
					Holds: fmt.Sprintf("a run of %s on the same data: forget them there too", m.Task)})
			}
			return nil
		case !d.Type().IsRegular():
			return nil
		}
		form, table := format.OfInput(strings.TrimSuffix(strings.TrimSuffix(path, ".gz"), ".zst"))
		if !table || form == format.Lines {
			return nil
		}
		holds, err := inTable(ctx, path, form, is)
		if bad := (*dataset.Error)(nil); errors.As(err, &bad) {
			holds = "a table that cannot be read: " + bad.Msg
		} else if err != nil {
			return err
		}
		if holds != "" {
			left = append(left, Left{Path: path, Holds: holds, Now: Stays})
		}
		return nil
	})
	return left, err
}

// count returns a number with its noun.
func count(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprint(n, " ", noun)
}
