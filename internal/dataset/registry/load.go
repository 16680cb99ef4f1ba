package registry

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"privrec/internal/dataset"
	"privrec/internal/dataset/format"
)

// Options says where to look for files and what to keep between runs.
type Options struct {
	Dir      string // folder with one folder a data set; "" takes $PRIVREC_DATA
	CacheDir string // "" takes $PRIVREC_CACHE, else privrec below the user's cache folder
	NoCache  bool   // neither read nor write the cache
	Items    string // what Public.Items says
	Users    string // what Public.Users says
}

// Load returns a data set of the registry after one of its recipes.
func Load(ctx context.Context, name, recipe string, v dataset.View, opts Options) (*dataset.Sequential, error) {
	set, r, err := after(name, recipe)
	if err != nil {
		return nil, err
	}
	return LoadSet(ctx, set, r, v, opts)
}

// after returns a data set of the registry and one of its recipes.
func after(name, recipe string) (Set, dataset.Recipe, error) {
	set, err := Find(name)
	if err != nil {
		return Set{}, dataset.Recipe{}, err
	}
	r, err := set.Recipe(recipe)
	return set, r, err
}

// LoadSet returns a data set after a recipe, like Load, where neither need be in the registry.
// It caches the filtered rows of a real data set. Source.Cache says what the cache did, which never changes the result.
func LoadSet(ctx context.Context, set Set, r dataset.Recipe, v dataset.View, opts Options) (*dataset.Sequential,
	error) {
	if err := v.Check(); err != nil {
		return nil, err
	}
	s, _, err := loadSet(ctx, set, r, v, opts)
	if err != nil {
		return nil, err
	}
	return v.Sequences(s)
}

// LoadInteractions returns a data set after a recipe, like Load, for models of the user-item graph.
// It fails on a pair that occurs twice, as dataset.NewInteractions does.
func LoadInteractions(ctx context.Context, name, recipe string, v dataset.View, opts Options) (*dataset.Interactions,
	error) {
	set, r, err := after(name, recipe)
	if err != nil {
		return nil, err
	}
	if err := v.Check(); err != nil {
		return nil, err
	}
	s, l, err := loadSet(ctx, set, r, v, opts)
	if err != nil {
		return nil, err
	}
	r.Split.Seed, r.Split.ByPlace = v.RowsSeed(), v.ByPlace
	parts, err := r.Split.Parts(l)
	if err != nil {
		return nil, err
	}
	return v.Interactions(s, l, parts)
}

// loadSet returns all rows of a data set after a recipe: the sequences, and the filtered rows that they are made of.
func loadSet(ctx context.Context, set Set, r dataset.Recipe, v dataset.View, opts Options) (*dataset.Sequential,
	*dataset.Log, error) {
	r.Split.Seed, r.Split.ByPlace = v.RowsSeed(), v.ByPlace
	if set.StandIn != nil {
		log, features, err := set.StandIn.Generate(ctx, v.RowsSeed())
		if err != nil {
			return nil, nil, err
		}
		if log, err = v.Remaining(log); err != nil {
			return nil, nil, err
		}
		filtered, ladder, err := r.Filter(log)
		if err != nil {
			return nil, nil, err
		}
		s, filtered, err := set.finish(ctx, r, v, opts, filtered, ladder, features)
		if err != nil {
			return nil, nil, err
		}
		s.Source.Title = set.Title
		return s, filtered, nil
	}
	layout, files, err := set.locate(ctx, opts.Dir)
	if err != nil {
		return nil, nil, err
	}
	if len(v.Forgotten) > 0 {
		opts.NoCache = true // an entry holds rows of all users, and each list of forgotten ones would add an entry
	}
	store := openCache(opts, set.Name, r, layout, files)
	e, note := store.get()
	if e == nil {
		log, features, err := readLayout(ctx, set.Name, layout, files)
		if err != nil {
			return nil, nil, err
		}
		if log, err = v.Remaining(log); err != nil {
			return nil, nil, err
		}
		e = &entry{features: features}
		if e.log, e.ladder, err = r.Filter(log); err != nil {
			return nil, nil, err
		}
		if e.features != nil {
			e.features = e.features.Among(e.log.UserIDs)
		}
		if put := store.put(e); note == "" {
			note = put
		} else if put != "" {
			note += "; " + put
		}
	}
	if e.features != nil {
		e.features.Source = files[len(files)-1].Path
	}
	s, log, err := set.finish(ctx, r, v, opts, e.log, e.ladder, e.features)
	if err != nil {
		return nil, nil, err
	}
	s.Source.Title, s.Source.Files, s.Source.Cache = set.Title, files, note
	folder := filepath.Join(cmp.Or(opts.Dir, os.Getenv("PRIVREC_DATA")), set.Name)
	why, err := provenance(folder, files)
	if err != nil {
		return nil, nil, err
	}
	if why != "" {
		s.Source.Notes = append(slices.Clip(s.Source.Notes), why)
	}
	if IsOwn(set.Name) {
		left, err := columnNotes(ctx, files, log)
		if err != nil {
			return nil, nil, err
		}
		s.Source.Notes = append(slices.Clip(s.Source.Notes), left...)
	}
	return s, log, nil
}

// finish returns filtered rows split, limited to the items and users that the options state, and these rows too.
func (s Set) finish(ctx context.Context, r dataset.Recipe, v dataset.View, o Options, l *dataset.Log,
	ladder dataset.Ladder, f *dataset.Features) (*dataset.Sequential, *dataset.Log, error) {
	items, users, err := s.stated(ctx, o)
	if err != nil {
		return nil, nil, err
	}
	users = v.Forgotten.Stated(users)
	if items != nil || users != nil {
		l = l.Of(items, users)
		if ladder = append(slices.Clip(ladder), l.Rung("of stated ids")); l.Len() == 0 {
			return nil, nil, &dataset.Error{File: cmp.Or(o.Items, o.Users), Msg: "no row has an id of this list",
				Hint: "ids are compared letter by letter"}
		}
	}
	out, err := r.Finish(l, ladder, f)
	if err != nil {
		return nil, nil, err
	}
	out.Source.Items, out.Source.Users = items, users
	return out, l, nil
}

// LoadLog reads a data set without a recipe. features are nil when the set has none. Rows that a recipe would give a
// part are all there, so nothing is held out or planted, and a view that withholds test rows is an error.
func LoadLog(ctx context.Context, name string, v dataset.View, opts Options) (*dataset.Log, *dataset.Features, error) {
	if err := v.RefuseWithheld(name); err != nil {
		return nil, nil, err
	}
	set, err := Find(name)
	if err != nil {
		return nil, nil, err
	}
	log, features, err := set.read(ctx, v, opts)
	if err != nil {
		return nil, nil, err
	}
	if log, err = v.Remaining(log); err == nil && features != nil && len(v.Forgotten) > 0 {
		features = features.Among(log.UserIDs)
	}
	return log, features, err
}

// read returns all rows of a set as its files or its generator have them.
func (s Set) read(ctx context.Context, v dataset.View, opts Options) (*dataset.Log, *dataset.Features, error) {
	if s.StandIn != nil {
		return s.StandIn.Generate(ctx, v.RowsSeed())
	}
	layout, files, err := s.locate(ctx, opts.Dir)
	if err != nil {
		return nil, nil, err
	}
	return readLayout(ctx, s.Name, layout, files)
}

// readLayout parses the files. It fails on a file that changed since it was hashed.
func readLayout(ctx context.Context, name string, layout Layout,
	files []dataset.File) (*dataset.Log, *dataset.Features, error) {
	var paths []string
	for _, f := range files {
		paths = append(paths, f.Path)
	}
	log, features, err := layout.Read(ctx, paths)
	if err != nil {
		return nil, nil, err
	}
	for _, f := range files {
		if st, err := os.Stat(f.Path); err != nil || st.Size() != f.Bytes || st.ModTime().UnixNano() != f.Modified {
			return nil, nil, &dataset.Error{File: f.Path, Msg: "file changed while it was being read", Err: err,
				Hint: "run again"}
		}
	}
	log.Name, log.Hash = name, hashOf(files)
	log.StandIn = format.HasCard(files[0].Path)
	return log, features, nil
}

// hashOf returns the combined hash of the files' digests.
func hashOf(files []dataset.File) string {
	var digests []string
	for _, f := range files {
		digests = append(digests, f.SHA256)
	}
	return dataset.SourceHash(digests...)
}

// locate returns the first layout whose files are all present, and the hashes of these files.
func (s Set) locate(ctx context.Context, dir string) (Layout, []dataset.File, error) {
	if dir == "" {
		dir = os.Getenv("PRIVREC_DATA")
	}
	hint := "get it from " + s.Address + " and put the files into " + filepath.Join(cmp.Or(dir, "$PRIVREC_DATA"),
		s.Name) + "; standin-demo needs no files"
	if IsOwn(s.Name) {
		hint = "put your table there under one of these names, see docs/add-your-own-data.md; standin-demo needs no " +
			"files"
	}
	if !strings.HasPrefix(s.Name, OwnPrefix) {
		hint = "privrec data fetch " + s.Name + ", or " + hint
	}
	var wanted []string
	for _, l := range s.Layouts {
		wanted = append(wanted, strings.Join(l.Files, " and "))
	}
	looked := "looked for " + strings.Join(wanted, ", or ") + " (plain, .gz or .zst)"
	if dir == "" {
		return Layout{}, nil, &dataset.Error{File: s.Name, Msg: "no data folder: PRIVREC_DATA is not set; " + looked,
			Err:  dataset.ErrNotFound,
			Hint: "set PRIVREC_DATA to the folder that holds " + s.Name + "/; " + hint}
	}
	if st, err := os.Stat(dir); err != nil || !st.IsDir() {
		return Layout{}, nil, &dataset.Error{File: dir, Msg: "no such folder of data sets", Err: dataset.ErrNotFound,
			Hint: "set PRIVREC_DATA, or --data where there is that flag, to the folder that holds " + s.Name +
				"/; standin-demo needs no files"}
	}
	folder := filepath.Join(dir, s.Name)
	if IsOwn(s.Name) {
		if err := misspelt(folder); err != nil {
			return Layout{}, nil, err
		}
	}
	for _, l := range s.Layouts {
		paths, lacks := l.in(folder)
		if len(paths) > 0 && len(lacks) > 0 {
			looked = "has " + filepath.Base(paths[0]) + " but not " + strings.Join(lacks, " and ") + "; " + looked
		}
		if len(lacks) > 0 {
			continue
		}
		more, _ := Layout{Files: l.Maybe}.in(folder)
		var files []dataset.File
		for _, p := range append(paths, more...) {
			f, err := format.HashFile(ctx, p)
			if err != nil {
				return Layout{}, nil, err
			}
			files = append(files, f)
		}
		return l, files, nil
	}
	return Layout{}, nil, &dataset.Error{File: folder, Msg: looked, Err: dataset.ErrNotFound,
		Hint: s.tablesHint(folder) + hint}
}

// tablesHint returns a hint how to rename tables that are in a folder under other names, or "".
func (s Set) tablesHint(folder string) string {
	entries, _ := os.ReadDir(folder) // no tables where it cannot be read
	var first, other string
	for _, e := range entries {
		base := plainBase(e.Name())
		switch ext := filepath.Ext(base); {
		case e.IsDir() || base == ColumnsFile || strings.HasSuffix(base, ".users"+ext):
		case strings.HasPrefix(base, "impressions."), strings.HasPrefix(base, OwnTarget+"."),
			strings.HasPrefix(base, OwnSource+"."):
			other = base
		case first == "" && slices.Contains([]string{".csv", ".tsv", ".inter", ".parquet"}, ext):
			first = base
		}
	}
	switch own := strings.TrimPrefix(s.Name, OwnPrefix); {
	case first == "" && other != "" && IsOwn(s.Name):
		return fmt.Sprintf("the folder has %s, which is for tasks of slates or of two domains; ", other)
	case first == "":
		return ""
	case IsOwn(s.Name):
		return fmt.Sprintf("the folder has %s: if that is the log, call it %s%s; ", first, s.Name, filepath.Ext(first))
	default:
		return fmt.Sprintf("the folder has %s, which is none of these: a table of your own is read as %s%s%s in a "+
			"folder %s%s; ", first, OwnPrefix, own, filepath.Ext(first), OwnPrefix, own)
	}
}

// in returns the paths of the layout's files in folder, and the names of those that are missing.
func (l Layout) in(folder string) (paths, lacks []string) {
	for _, f := range l.Files {
		found := false
		for _, ext := range []string{"", ".gz", ".zst"} {
			p := filepath.Join(folder, f+ext)
			if st, err := os.Stat(p); err == nil && st.Mode().IsRegular() {
				paths, found = append(paths, p), true
				break
			}
		}
		if !found {
			lacks = append(lacks, f)
		}
	}
	return paths, lacks
}

// SamePublished reports whether the files in a folder hold the published split of a data set, in
// any order. It returns false for a set without a known digest.
func SamePublished(ctx context.Context, name, folder string) (bool, error) {
	set, err := Find(name)
	if err != nil {
		return false, err
	}
	for _, r := range set.Recipes {
		for _, l := range set.Layouts {
			paths, lacks := l.in(folder)
			if r.Digest == "" || len(lacks) > 0 {
				continue
			}
			log, _, err := l.Read(ctx, paths)
			return err == nil && log.Digest() == r.Digest, err
		}
	}
	return false, nil
}
