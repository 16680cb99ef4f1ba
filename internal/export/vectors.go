package export

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"privrec/internal/experiment"
	"privrec/internal/run"
	"privrec/internal/system"
	"privrec/internal/tensor"
	"privrec/internal/vectors"
)

// VectorQuestion selects vectors to write, and their file.
type VectorQuestion struct {
	Release string
	Form    vectors.Form // "": the one that the end of Out names, and else npz
	Out     string       // a folder; in a form of a single file also the name of that file
	Force   bool         // replace files that are there
}

// place holds the paths of the files of vectors.
type place struct {
	tables []string // a file for each table, or one for all
	ids    [2]string
	about  string
}

// places returns the paths of the files.
func (q *VectorQuestion) places(tables []string) (p place, err error) {
	ending := vectors.Form(strings.TrimPrefix(filepath.Ext(q.Out), "."))
	isFile := slices.Contains(vectors.Forms(), ending)
	switch {
	case q.Out == "":
		return p, run.Usagef("name a folder with --out", "no place to write to is named")
	case q.Form == "" && isFile:
		q.Form = ending
	case q.Form == "":
		q.Form = vectors.NPZ
	case !slices.Contains(vectors.Forms(), q.Form):
		return p, run.Usagef(fmt.Sprintf("it is one of %v", vectors.Forms()), "no form is called %q", q.Form)
	case isFile && ending != q.Form:
		return p, run.Usagef("leave out --format, or name a folder", "%s ends in another form than %s", q.Out, q.Form)
	}
	if isFile && !q.Form.Single() {
		return p, run.Usagef("name a folder", "users and items are two files of form %s, and %s names one", q.Form,
			q.Out)
	}
	if isFile {
		stem := strings.TrimSuffix(q.Out, filepath.Ext(q.Out))
		return place{[]string{q.Out}, [2]string{stem + ".users.txt", stem + ".items.txt"}, aboutPath(q.Out)}, nil
	}
	in := func(name string) string { return filepath.Join(q.Out, name) }
	p = place{[]string{in("vectors." + string(q.Form))}, [2]string{in("users.txt"), in("items.txt")}, in("about.json")}
	if !q.Form.Single() {
		p.tables = nil
		for _, t := range tables {
			p.tables = append(p.tables, in(t+"."+string(q.Form)))
		}
	}
	return p, nil
}

// Vectors writes the vectors of all users and items, the ids of their rows in files beside, one a line, and the
// coverage by the run's account.
func (s *Source) Vectors(ctx context.Context, q VectorQuestion) (*Exported, error) {
	embedded, ok := s.Answers.(experiment.Embedded)
	if !ok {
		return nil, run.Usagef("take its lists with recommend --all --out",
			"the run in %s has no vectors of users: %s ranks by what a user did, or keeps lists", s.Dir,
			s.outcome.Method)
	}
	if _, err := q.places(nil); err != nil { // before a model is made again
		return nil, err
	}
	v, err := embedded.Embedding(ctx, q.Release)
	if err != nil {
		return nil, run.Interrupted(ctx, err)
	}
	tables := []vectors.Table{{Name: "users", Rows: v.Users, IDs: v.UserIDs},
		{Name: "items", Rows: v.Items, IDs: v.ItemIDs}}
	names := []string{"users", "items"}
	if v.Output.Rows > 0 {
		tables, names = append(tables, vectors.Table{Name: "output", Rows: v.Output, IDs: numbers(v.Output)}),
			append(names, "output")
	}
	p, err := q.places(names)
	if err != nil {
		return nil, err
	}
	about := s.about("vectors of users and items", v.Release)
	about.Scores, about.Users, about.Items = v.Scores, v.Users.Rows, v.Items.Rows
	about.Files = append(append(about.Files, p.tables...), p.ids[0], p.ids[1])
	if v.Scores != experiment.InnerProduct {
		about.Notes = append(about.Notes, "the model ranks by "+v.Scores+
			": inner products of these vectors may rank otherwise")
	}
	if err := free(q.Force, append(slices.Clone(about.Files), p.about)...); err != nil {
		return nil, err
	}
	if err := folder(p.about); err != nil {
		return nil, err
	}
	if err := about.write(p.about); err != nil { // first: no vectors without it
		return nil, err
	}
	for i, ids := range [][]string{v.UserIDs, v.ItemIDs} {
		if err := system.WriteFile(p.ids[i], func(w io.Writer) error {
			_, err := io.WriteString(w, strings.Join(ids, "\n")+"\n")
			return err
		}); err != nil {
			return nil, err
		}
	}
	remarks, err := about.remarks()
	if err != nil {
		return nil, err
	}
	for i, path := range p.tables {
		of := tables
		if !q.Form.Single() {
			of = tables[i : i+1]
		}
		if err := system.WriteFile(path,
			func(w io.Writer) error { return vectors.Write(w, q.Form, remarks, of...) }); err != nil {
			return nil, err
		}
	}
	about.Files = append(about.Files, p.about)
	return &Exported{about, s.head("Vectors", v.Release)}, nil
}

// numbers returns row numbers as the names of a table without ids.
func numbers(m tensor.Matrix) []string {
	ids := make([]string, m.Rows)
	for i := range ids {
		ids[i] = fmt.Sprint(i)
	}
	return ids
}

// remarks returns the description as metadata, for file formats that have a place for it.
func (a About) remarks() (map[string]string, error) {
	privacy, err := json.Marshal(a.Cover)
	return map[string]string{"task": a.Task, "method": a.Method, "config_sha256": a.Config, "scores": a.Scores,
		"privacy": string(privacy)}, err
}

// head returns the head of an answer.
func (s *Source) head(what, release string) experiment.Head {
	h := experiment.HeadOf(what, s.outcome.Method, s.outcome.Data.Source, s.outcome.Setting, s.Dir)
	if release != "" {
		h.Title += ", release " + release
	}
	return h
}
