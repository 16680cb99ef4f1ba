package fetch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"privrec/internal/dataset"
)

// copies holds the files given for one archive: the archive itself, or all its files.
type copies struct {
	whole string
	files map[string]string // file of the archive -> path
}

// assign returns which archive or file each given path is a copy of. Without paths it returns none.
func (s Source) assign(paths []string) ([]copies, error) {
	if len(paths) == 0 {
		return nil, nil
	}
	out := make([]copies, len(s.Archives))
	for i := range out {
		out[i].files = map[string]string{}
	}
	for _, p := range paths {
		st, err := os.Stat(p)
		if err != nil {
			return nil, &dataset.Error{File: p, Msg: "cannot open", Err: err, Hint: "check the path after --from"}
		}
		if st.IsDir() {
			found := false
			for i, a := range s.Archives {
				for _, f := range append([]string{a.FileName()}, a.Files...) {
					for _, q := range []string{filepath.Join(p, path.Base(f)), filepath.Join(p, f),
						filepath.Join(p, a.place(f))} {
						if st, err := os.Stat(q); err == nil && st.Mode().IsRegular() {
							out[i].set(a, f, q)
							found = true
						}
					}
				}
			}
			if !found {
				return nil, s.unlike(p)
			}
			continue
		}
		if !s.match(p, out) {
			return nil, s.unlike(p)
		}
	}
	for i, a := range s.Archives {
		if out[i].whole != "" {
			continue
		}
		var lacks []string
		for _, f := range a.Files {
			if out[i].files[f] == "" {
				lacks = append(lacks, path.Base(f))
			}
		}
		if len(lacks) == len(a.Files) {
			lacks = []string{a.FileName()}
		}
		if len(lacks) > 0 {
			return nil, &dataset.Error{File: s.Name, Msg: "not given: " + strings.Join(lacks, ", "),
				Hint: "give each file with its own --from, or the folder that holds them"}
		}
	}
	return out, nil
}

// match assigns one file by its name, or by its content when the set has one archive.
func (s Source) match(p string, out []copies) bool {
	base := filepath.Base(p)
	for i, a := range s.Archives {
		if base == a.FileName() {
			out[i].set(a, base, p)
			return true
		}
	}
	// Files of the same name in several archives are distinguished by their folder.
	for _, exact := range []bool{true, false} {
		for i, a := range s.Archives {
			for _, f := range a.Files {
				same := path.Base(f) == base || path.Base(f) == strings.TrimSuffix(base, ".gz")
				if same && (!exact && out[i].files[f] == "" ||
					strings.Contains(filepath.Base(filepath.Dir(p)), a.Into)) {
					out[i].set(a, f, p)
					return true
				}
			}
		}
	}
	if len(s.Archives) == 1 {
		out[0].whole = p
		return true
	}
	return false
}

func (c *copies) set(a Archive, file, p string) {
	if file == a.FileName() {
		c.whole = p
	} else {
		c.files[file] = p
	}
}

func (s Source) unlike(p string) error {
	var names []string
	for _, a := range s.Archives {
		names = append(names, a.FileName())
		for _, f := range a.Files {
			if b := path.Base(f); !slices.Contains(names, b) {
				names = append(names, b)
			}
		}
	}
	return &dataset.Error{File: p, Msg: "is not a file of " + s.Name, Hint: "wanted are " + strings.Join(names, ", ")}
}

// given reports whether a file is one of those named in paths.
func given(paths []string, st os.FileInfo) bool {
	return slices.ContainsFunc(paths, func(p string) bool {
		if g, err := os.Stat(p); err == nil && (os.SameFile(g, st) || g.IsDir()) {
			if !g.IsDir() {
				return true
			}
			inside, err := os.Stat(filepath.Join(p, st.Name()))
			return err == nil && os.SameFile(inside, st)
		}
		return false
	})
}

// take copies the files given for one archive, after the same checks as for a download.
func (j *job) take(ctx context.Context, a Archive, c copies, temp string) ([]Archived, []File, error) {
	if c.whole != "" {
		got, err := j.check(ctx, a, a.FileName(), c.whole)
		if err != nil {
			return nil, nil, err
		}
		files, err := j.unpack(ctx, c.whole, a, temp)
		if err == nil {
			err = same(ctx, c.whole, got)
		}
		return []Archived{got}, files, err
	}
	var (
		out   []Archived
		files []File
	)
	for _, f := range a.Files {
		one := Archive{Name: path.Base(f), Into: a.Into, Files: []string{path.Base(f)}, Limits: a.Limits}
		for _, h := range a.Hashes {
			if h.File == filepath.ToSlash(a.place(f)) && !strings.HasSuffix(c.files[f], ".gz") {
				one.SHA256, one.Bytes = h.SHA256, h.Bytes
			}
		}
		got, err := j.check(ctx, one, one.Name, c.files[f])
		if err != nil {
			return nil, nil, err
		}
		taken, err := j.unpack(ctx, c.files[f], one, temp)
		if err == nil {
			err = same(ctx, c.files[f], got)
		}
		if err != nil {
			return nil, nil, err
		}
		out, files = append(out, got), append(files, taken...)
	}
	return out, files, nil
}

// check hashes a copy and compares it with the expected hash.
func (j *job) check(ctx context.Context, a Archive, name, p string) (Archived, error) {
	j.Progress.Phase("check " + p)
	got, sum, err := digest(ctx, p)
	if err != nil {
		return Archived{}, err
	}
	abs, err := filepath.Abs(p)
	if err != nil {
		return Archived{}, err
	}
	got.Name, got.From = name, abs
	if err := j.compare(a, &got, sum); err != nil {
		var d *dataset.Error
		if errors.As(err, &d) {
			d.File = p
		}
		if errors.Is(err, ErrChanged) && a.MD5 != "" && a.SHA256 == "" {
			j.doubts = append(j.doubts, err) // decided when all files are there
			got.Published = byRows
			return got, nil
		}
		return Archived{}, err
	}
	return got, nil
}

// same returns an error if a copy was replaced while it was being unpacked.
func same(ctx context.Context, p string, want Archived) error {
	got, _, err := digest(ctx, p)
	if err != nil {
		return err
	}
	if got.SHA256 != want.SHA256 {
		return &dataset.Error{File: p, Msg: fmt.Sprintf("changed while it was being unpacked: sha256 %s, then %s",
			want.SHA256, got.SHA256), Hint: "run again"}
	}
	return nil
}
