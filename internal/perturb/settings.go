package perturb

import (
	"fmt"
	"path/filepath"
	"strings"

	"privrec/internal/dataset/format"
	"privrec/internal/privacy"
	"privrec/internal/privacy/mechanism"
	"privrec/internal/rng"
	"privrec/internal/run"
)

// Settings holds the parameters of every perturbation of a file.
type Settings struct {
	In, Out         string      // files
	InForm, OutForm format.Form // empty: by the names of the files

	// Catalogue is a file with the ids of the items, one a line or under item_id. Or Items is the size of a catalogue
	// of the ids 1 to Items. For a guarantee both must be public, since a catalogue taken from the records reveals
	// items that only one user has.
	Catalogue string
	Items     int
	Length    int // cells in a record

	Purpose string       // names the release in the ledger
	Seed    rng.Seed     // of research noise
	Secure  bool         // cryptographic bits: no seed, not repeatable
	Key     *privacy.Key `json:"-"` // the ledger key; nil: none
	Force   bool         // replace existing files
	Parent  string       // file of a budget that the release is charged to before it is made; "": none
	Workers int          // at least 1; the bytes do not depend on it
	Shard   Shard        // the part to make; zero: the whole

	// Own says that In has the records of this shard alone, and First is the number of records of other shards before
	// them. The engine does not assign records to such shards.
	Own   bool
	First uint64

	Progress run.Progress `json:"-"` // nil: silent
}

// Refuse returns the error for a request that cannot be carried out, with a fix.
func Refuse(fix, msg string, args ...any) error {
	return &run.UsageError{Message: fmt.Sprintf(msg, args...), Fix: fix}
}

// Unread reports the columns of a file that are not read.
func Unread(p run.Progress, file string, names []string) {
	if p != nil && len(names) > 0 {
		p.Phase(fmt.Sprintf("%s: not read: %s", filepath.Base(file), strings.Join(names, ", ")))
	}
}

// Check fills in the purpose and a silent progress. It fails on numbers that no perturbation can
// use.
func (s *Settings) Check(purpose string) error {
	if s.Purpose == "" {
		s.Purpose = purpose
	}
	if s.Progress == nil {
		s.Progress = run.Silent{}
	}
	switch {
	case s.Workers < 1:
		return Refuse("", "workers is %d, want at least 1", s.Workers)
	case s.Items != 0 && s.Catalogue != "":
		return Refuse("the catalogue has the number of its ids", "items and a catalogue are given")
	case s.Shard.Of > 0 && s.Parent != "":
		return Refuse("reserve it once, by a command without --shard",
			"every shard would be charged to the budget in %s again", s.Parent)
	case s.Items < 0:
		return Refuse("", "items is %d, want at least 1", s.Items)
	}
	return nil
}

// FindForms sets the forms of In and Out by their names if they are not given. line describes a line of a .txt file.
// With flags the error names the flags that set a form.
func (s *Settings) FindForms(line string, flags bool) (err error) {
	for _, f := range []struct {
		what, path string
		form       *format.Form
	}{{"in", s.In, &s.InForm}, {"out", s.Out, &s.OutForm}} {
		if f.path == "" {
			return Refuse("", "--%s is missing", f.what)
		}
		if *f.form != "" {
			continue
		}
		more := ""
		if flags {
			more = "; or give --" + f.what + "-form"
		}
		if *f.form, err = FormOf(f.what, f.path, line, more); err != nil {
			return err
		}
	}
	return nil
}

// FormOf returns the form of a file by its name. what is the flag that named the file, line describes a line of a .txt
// file, and more names other options of the user.
func FormOf(what, path, line, more string) (format.Form, error) {
	of := format.OfInput
	if what == "out" || what == "output" {
		of = format.Of
	}
	f, ok := of(path)
	if !ok {
		return f, Refuse("names end in .tsv, .csv, .inter, or .txt for "+line+", then .gz or .zst"+more,
			"--%s: the name %q does not tell the form", what, filepath.Base(path))
	}
	return f, nil
}

// Noise returns the ledger's description of the noise.
func (s *Settings) Noise() privacy.Noise {
	if s.Secure {
		return privacy.Secure
	}
	return privacy.Research
}

// Bits returns cryptographic bits, or those of a stream of the seed. No other setting may use the same stream, since
// the difference of two releases of one record with the same noise would reveal the record's change.
func (s *Settings) Bits(stream rng.Stream) mechanism.Bits {
	if s.Secure {
		return mechanism.Secret()
	}
	return mechanism.Keyed(stream)
}
