package forget

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"privrec/internal/dataset"
	"privrec/internal/report"
	"privrec/internal/run"
	"privrec/internal/system"
)

// Names of the certificate in the directory of a run that forgot users.
const (
	CertificateName = "forgotten.json"
	PageName        = "forgotten.html"
)

// Certificate says which users a run forgot, how, and which files it had before and has since.
type Certificate struct {
	Version int    `json:"version"`
	Task    string `json:"task"`
	// Forgotten are the users of this request, Before those of earlier ones, by dataset.ForgottenID.
	Forgotten dataset.Forgotten `json:"forgotten"`
	Before    dataset.Forgotten `json:"forgotten_before,omitempty"`
	How       How               `json:"how"`
	Error     string            `json:"error_bound,omitempty"` // of a corrected run, in words
	// Releases says that the old run released something with noise: Was and Now are then the accounted epsilons.
	Releases bool      `json:"releases"`
	Was      Side      `json:"was"`
	Now      Side      `json:"now"`
	Data     []DataSum `json:"data"`
}

// How says in which way a run was made.
type How string

// The values of How.
const (
	Trained   How = "trained from the start"
	Unchanged How = "from the last checkpoint: the recipe had dropped all rows of these users"
	Counted   How = "from the counts of the old run, less these users' rows"
	// Corrected is no exact way: the certificate says how far the weights are from the exact ones.
	Corrected How = "corrected"
)

// Side describes a run by its hashes.
type Side struct {
	Dir     string            `json:"run"`
	Config  string            `json:"config_sha256"`
	Files   map[string]string `json:"files"` // SHA-256 by name
	Program run.Build         `json:"program"`
	Epsilon string            `json:"epsilon"` // accounted, of the whole run
	// Seconds that the run took, and those of its stages: wall time, or processor time where that is less.
	Seconds float64            `json:"seconds"`
	Stages  map[string]float64 `json:"stage_seconds"`
}

// DataSum is an input of both runs, which may still have rows of the users.
type DataSum = run.Data

// ReadCertificate reads the certificate in the directory of a run.
func ReadCertificate(dir string) (*Certificate, error) {
	b, err := system.ReadFile(filepath.Join(dir, CertificateName), system.MostOfRun)
	if err != nil {
		return nil, err
	}
	var c Certificate
	if err := json.Unmarshal(b, &c); err != nil {
		return nil, fmt.Errorf("%s: not a certificate: %w", filepath.Join(dir, CertificateName), err)
	}
	if c.Task == "" || len(c.Forgotten) == 0 {
		return nil, fmt.Errorf("%s: not a certificate: it names no task or nobody who is forgotten",
			filepath.Join(dir, CertificateName))
	}
	return &c, errors.Join(c.Forgotten.Check(), c.Before.Check())
}

// write writes the certificate into the directory of the run that forgot, as JSON and as a page.
func (c *Certificate) write(dir string) error {
	b, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return err
	}
	if err := system.WriteFile(filepath.Join(dir, PageName), c.Document().HTML); err != nil {
		return err
	}
	return system.WriteFile(filepath.Join(dir, CertificateName), func(w io.Writer) error {
		_, err := w.Write(append(b, '\n'))
		return err
	})
}

// users returns how many users are forgotten in words.
func (c *Certificate) users() string {
	n := count(len(c.Forgotten), "user")
	if len(c.Before) > 0 {
		n += fmt.Sprintf(", after %d before", len(c.Before))
	}
	return n
}

// Document returns the certificate for people.
func (c *Certificate) Document() *report.Document {
	d := &report.Document{Title: "Users forgotten by " + c.Task, Subtitle: c.Was.Dir + " without them is " + c.Now.Dir}
	fact := func(label, value, note string) {
		d.Facts = append(d.Facts, report.Fact{Label: label, Value: value, Note: note})
	}
	fact("forgotten", c.users(), "")
	fact("how", string(c.How), c.Error)
	fact("time", fmt.Sprintf("%.3g s, the old run %.3g s", c.Now.Seconds, c.Was.Seconds), c.stages())
	fact("configuration", fmt.Sprintf("%.12s, was %.12s", c.Now.Config, c.Was.Config),
		"the same but for run.forgotten")
	if c.Releases {
		fact("epsilon", fmt.Sprintf("%s of the new run, %s of the old one", c.Now.Epsilon, c.Was.Epsilon),
			"users who stay are in both: theirs add up")
	}
	files := &report.Table{Name: "files", Title: "SHA-256 of what depends on rows, before and after",
		Columns: []report.Column{{Name: "file"}, {Name: "before"}, {Name: "after"}}}
	for _, name := range c.names() {
		files.Add(name, short(c.Was.Files[name]), short(c.Now.Files[name]))
	}
	people := &report.Table{Name: "forgotten", Title: "Who is forgotten, by half of the SHA-256 of the id",
		Columns: []report.Column{{Name: "user"}}}
	for _, f := range c.Forgotten {
		people.Add(f)
	}
	d.Tables = append(d.Tables, files, people)
	if c.How == Corrected {
		d.Notes = append(d.Notes,
			"the new run is near that of a training without these users, and does not have its bytes")
	} else {
		d.Notes = append(d.Notes, "the new run has the bytes of a training on files without these users' rows: "+
			"privrec forget check trains again and compares")
	}
	d.Notes = append(d.Notes, "the files of the old run, and the data files, still have what they had: privrec "+
		"forget check names them")
	if c.Releases {
		d.Notes = append(d.Notes, "what the old run released stays released: forgetting does not undo it, and its "+
			"epsilon bounds what it tells of a forgotten user")
	}
	if c.Was.Program.Commit != c.Now.Program.Commit {
		d.Notes = append(d.Notes,
			"another build of the program made the old run: other bytes can be of the program too")
	}
	d.Notes = append(d.Notes, "a hash hides an id from a glance only: whoever guesses an id can check the guess")
	return d
}

// stages returns the times of the stages of the new run in words.
func (c *Certificate) stages() string {
	var words []string
	for _, name := range slices.Sorted(maps.Keys(c.Now.Stages)) {
		words = append(words, fmt.Sprintf("%s %.3g s", name, c.Now.Stages[name]))
	}
	return "by the clock: " + strings.Join(words, ", ")
}

// names returns the names of all files before and after.
func (c *Certificate) names() (names []string) {
	for _, files := range []map[string]string{c.Was.Files, c.Now.Files} {
		for name := range files {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// short returns the start of a hash, or a dash for none.
func short(hash string) string {
	if hash == "" {
		return "-"
	}
	return strings.ToLower(hash[:min(16, len(hash))])
}
