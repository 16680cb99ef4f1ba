package forget

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"privrec/internal/dataset"
	"privrec/internal/report"
	"privrec/internal/run"
)

// Question asks whether a run forgot the users that it says, and what else still has their rows.
type Question struct {
	Run     string   // the run before
	Against string   // the run that forgot
	Trained string   // a training without the users, to compare with; "": the check trains one
	In      []string // more folders to look in
	Purge   bool     // remove what is left in Run and in the cache, if no file differs
	Workers int
	// CacheDir is where prepared rows are kept, as in registry.Options.
	CacheDir string
	Progress run.Progress
}

// Check is the answer to a Question.
type Check struct {
	certificate *Certificate
	compared    string            // why no bytes were compared; "": they were
	with        string            // what the run was compared with
	differs     []string          // files that are not equal
	files       map[string]string // of the run that forgot
	left        []Left
}

// Differs returns the names of files that are not those of a training without the users.
func (c *Check) Differs() []string { return c.differs }

// Look answers a question.
func Look(ctx context.Context, tasks []run.Task, q Question) (*Check, error) {
	now, err := open(tasks, q.Against)
	if err != nil {
		return nil, err
	}
	was, err := open(tasks, q.Run)
	if err != nil {
		return nil, err
	}
	cert, err := ReadCertificate(q.Against)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &run.UsageError{Message: fmt.Sprintf("the run in %s forgot nobody: it has no %s", q.Against,
			CertificateName), Fix: "privrec forget RUN --user ID --out NEW makes one that does"}
	}
	if err != nil {
		return nil, err
	}
	if cert.Was.Config != was.manifest.ConfigHash {
		return nil, &run.UsageError{Message: fmt.Sprintf("the run in %s was not made from the one in %s", q.Against,
			q.Run), Fix: "its certificate names " + cert.Was.Dir}
	}
	for _, name := range slices.Concat(cert.Forgotten, cert.Before) {
		if !slices.Contains(now.manifest.Forgotten, name) {
			return nil, fmt.Errorf("%s: the run did not forget user %s, whom its certificate names", q.Against, name)
		}
	}
	c := &Check{certificate: cert}
	s, err := side(q.Against, now.manifest)
	if err != nil {
		return nil, err
	}
	c.files = s.Files
	var found []string
	if err := c.compare(ctx, now, q, &found); err != nil {
		return nil, err
	}
	q.Purge = q.Purge && len(c.differs) == 0 // else the old run is all that there is
	c.left, err = search(ctx, was, cert.Forgotten, found, q)
	return c, err
}

// compare trains the run again and compares all files. found gets the users whom the data files still have.
func (c *Check) compare(ctx context.Context, now *source, q Question, found *[]string) error {
	o, err := now.options(now.manifest.Forgotten, "", q.Workers)
	if err != nil {
		return err
	}
	o.Found = func(ids []string) error { *found = ids; return nil }
	dir := q.Trained
	switch {
	case c.certificate.How == Corrected:
		c.compared = c.certificate.Error
		_, err := now.task.Rows(ctx, o) // for whom the data have
		return err
	case c.certificate.Releases && now.manifest.Noise != run.NoiseOfSeed:
		c.compared = "the noise of the runs is drawn anew in each: no training has the same bytes"
		_, err := now.task.Rows(ctx, o) // for whom the data have
		return err
	case dir == "":
		temp, err := os.MkdirTemp("", "privrec-forget-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(temp)
		dir = filepath.Join(temp, "run")
		again, err := now.options(now.manifest.Forgotten, dir, q.Workers)
		if err != nil {
			return err
		}
		again.Found = func(ids []string) error { *found = ids; return now.sameData(dir) }
		again.Progress = q.Progress
		if _, err := now.task.Start(ctx, again); err != nil {
			return err
		}
		c.with = "a training from the start"
	default:
		m, err := run.ReadRun(dir, "name a run directory")
		if err != nil {
			return err
		}
		if m.ConfigHash != now.manifest.ConfigHash || m.Status != run.StatusDone {
			return &run.UsageError{Message: fmt.Sprintf("the run in %s is not a finished training with the "+
				"configuration of %s", dir, q.Against), Fix: "train it with --config " +
				filepath.Join(q.Against, "config.yaml")}
		}
		if _, err := now.task.Rows(ctx, o); err != nil {
			return err
		}
		c.with = dir
	}
	other, err := side(dir, now.manifest)
	if err != nil {
		return err
	}
	all := maps.Clone(c.files)
	maps.Copy(all, other.Files)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if c.files[name] != other.Files[name] {
			c.differs = append(c.differs, name)
		}
	}
	return nil
}

// Document returns the answer for people.
func (c *Check) Document() *report.Document {
	d := &report.Document{Title: "Check of " + c.certificate.Now.Dir, Subtitle: c.certificate.Task}
	fact := func(label, value, note string) {
		d.Facts = append(d.Facts, report.Fact{Label: label, Value: value, Note: note})
	}
	fact("forgotten", c.certificate.users(), string(c.certificate.How))
	switch {
	case c.compared != "":
		fact("bytes", "not compared", c.compared)
	case len(c.differs) == 0:
		fact("bytes", fmt.Sprintf("all %d files are equal", len(c.files)), "compared with "+c.with)
	default:
		fact("bytes", fmt.Sprintf("%d of %d files differ", len(c.differs), len(c.files)), "compared with "+c.with)
	}
	if len(c.differs) > 0 {
		t := &report.Table{Name: "differs", Title: "Files that are not those of a training without these users",
			Columns: []report.Column{{Name: "file"}}}
		for _, name := range c.differs {
			t.Add(name)
		}
		d.Tables = append(d.Tables, t)
	}
	t := &report.Table{Name: "left", Title: "What still has rows of these users, or comes from them",
		Columns: []report.Column{{Name: "what"}, {Name: "holds"}, {Name: "now"}}}
	purge := false
	for _, l := range c.left {
		t.Add(l.Path, l.Holds, l.Now)
		purge = purge || l.Now == Stays && l.purge
	}
	if len(c.left) > 0 {
		d.Tables = append(d.Tables, t)
	}
	if purge {
		d.Notes = append(d.Notes, "--purge removes what is in the old run and in the cache of prepared rows")
	}
	if c.certificate.Releases {
		d.Notes = append(d.Notes, "the ledger of the old run stays: what was released is not undone, and its epsilon "+
			"bounds what it tells of each user")
	}
	d.Notes = append(d.Notes, "copies that other programs made, backups, and what people have seen are not looked for")
	return d
}

// gone returns which of some ids are among forgotten users, by name.
func gone(of dataset.Forgotten) func(id string) bool {
	names := map[string]bool{}
	for _, name := range of {
		names[name] = true
	}
	known := map[string]bool{}
	return func(id string) bool {
		is, ok := known[id]
		if !ok {
			is = names[dataset.ForgottenID(id)]
			known[id] = is
		}
		return is
	}
}
