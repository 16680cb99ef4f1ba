package export

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"privrec/internal/experiment"
	"privrec/internal/report"
	"privrec/internal/run"
	"privrec/internal/system"
)

// Source is an opened finished run.
type Source struct {
	Dir     string
	Answers experiment.Answers

	manifest run.Manifest
	outcome  *experiment.Outcome[experiment.Data]
	cover    Cover
}

// Open opens the finished run in a directory, made by one of the tasks. Close frees it.
func Open(ctx context.Context, tasks []run.Task, dir string) (*Source, error) {
	answers, err := experiment.Ask(ctx, tasks, dir)
	if err != nil {
		return nil, err
	}
	s := &Source{Dir: dir, Answers: answers}
	if err := s.read(); err != nil {
		answers.Close()
		return nil, err
	}
	return s, nil
}

func (s *Source) read() (err error) {
	if s.manifest, err = run.ReadManifest(s.Dir); err != nil {
		return err
	}
	if s.outcome, err = experiment.ReadOutcome(s.Dir); err != nil {
		return err
	}
	s.cover, err = covered(s.Dir, s.manifest)
	return err
}

// Close frees memory.
func (s *Source) Close() { s.Answers.Close() }

// users returns the users to answer for: those named, or all.
func (s *Source) users(ctx context.Context, named []string, all bool) ([]string, error) {
	switch {
	case all && len(named) > 0:
		return nil, run.Usagef("leave out one of them", "--user and --all together")
	case !all:
		return named, nil
	}
	if p, ok := s.Answers.(experiment.Peopled); ok {
		return p.People(), nil
	}
	list, _, err := s.Answers.Histories(ctx)
	if err != nil {
		return nil, run.Interrupted(ctx, err)
	}
	users := make([]string, len(list))
	for i, h := range list {
		users[i] = h.User
	}
	return users, nil
}

// About holds the description stored beside exported files, as JSON.
type About struct {
	Run     string   `json:"run"` // its directory, as it was named
	Task    string   `json:"task"`
	Config  string   `json:"config_sha256"`
	Seed    uint64   `json:"seed"`
	Method  string   `json:"method"`
	Release string   `json:"release,omitempty"`
	What    string   `json:"what"`
	Scores  string   `json:"scores,omitempty"` // how the model ranks by its vectors
	Files   []string `json:"files"`
	Users   int      `json:"users"`
	Items   int      `json:"items,omitempty"`
	Rows    int64    `json:"rows,omitempty"`
	Notes   []string `json:"notes,omitempty"`
	Cover   Cover    `json:"privacy"`
}

// about returns the beginning of a description of files.
func (s *Source) about(what, release string) About {
	return About{Run: s.Dir, Task: s.manifest.Task, Config: s.manifest.ConfigHash, Seed: s.manifest.Seed,
		Method: s.outcome.Method, Release: release, What: what, Cover: s.cover}
}

// Exported holds the result of an export.
type Exported struct {
	About
	Head experiment.Head
}

// Document returns a report of the written files.
func (e *Exported) Document() *report.Document {
	d := &report.Document{Title: e.Head.Title, Subtitle: e.Head.Subtitle, Level: e.Head.Level}
	for _, f := range e.Files {
		d.Facts = append(d.Facts, report.Fact{Label: "written", Value: f})
	}
	d.Facts = append(d.Facts, report.Fact{Label: "users", Value: fmt.Sprint(e.Users)})
	if e.Items > 0 {
		d.Facts = append(d.Facts, report.Fact{Label: "items", Value: fmt.Sprint(e.Items)})
	}
	if e.Rows > 0 {
		d.Facts = append(d.Facts, report.Fact{Label: "rows", Value: fmt.Sprint(e.Rows)})
	}
	if e.Scores != "" {
		d.Facts = append(d.Facts, report.Fact{Label: "ranks by", Value: e.Scores})
	}
	d.Facts = append(d.Facts, report.Fact{Label: "privacy", Value: e.Cover.Conclusion})
	d.Notes = append(append(d.Notes, e.Notes...), e.Cover.Warnings...)
	return d
}

// Text implements run.Result.
func (e *Exported) Text(w io.Writer) error { return e.Document().Text(w) }

// MarshalJSON implements run.Result.
func (e *Exported) MarshalJSON() ([]byte, error) { return e.Document().MarshalJSON() }

// JSONForms returns the types that MarshalJSON writes.
func (*Exported) JSONForms() []any { return []any{&report.Document{}} }

// write writes the description beside the files.
func (a About) write(path string) error {
	return system.WriteFile(path, func(w io.Writer) error {
		enc := json.NewEncoder(w)
		enc.SetIndent("", "  ")
		enc.SetEscapeHTML(false)
		return enc.Encode(a)
	})
}

// free fails if a file exists and may not be replaced.
func free(force bool, paths ...string) error {
	for _, path := range paths {
		st, err := os.Lstat(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return err
		case st.IsDir():
			return run.Usagef("name another file", "%s is a directory", path)
		case !force:
			return run.Usagef("--force replaces it", "%s is there already", path)
		}
	}
	return nil
}

// folder makes the folder of a file.
func folder(path string) error { return os.MkdirAll(filepath.Dir(path), 0o755) }

// aboutPath names the file beside a single one.
func aboutPath(path string) string { return path + ".about.json" }
