package perturb

import (
	"fmt"
	"path/filepath"

	"privrec/internal/dataset/format"
	"privrec/internal/privacy"
	"privrec/internal/privacy/mechanism"
	"privrec/internal/rng"
	"privrec/internal/run"
)

// Settings are what every perturbation of a file is told.
type Settings struct {
	In, Out         string      // files
	InForm, OutForm format.Form // empty: by the names of the files

	// Catalogue is a file with the ids of the items, one a line or under item_id. Items is
	// the size of a catalogue of the ids 1 to Items instead. With a guarantee either must be
	// public: what is read off the records gives away who alone has an item.
	Catalogue string
	Items     int
	Length    int // cells of a record

	Purpose string       // names the release in the ledger
	Seed    rng.Seed     // of research noise
	Secure  bool         // cryptographic bits: no seed, no second time
	Key     *privacy.Key // of the ledger; nil: none
	Force   bool         // replace files that are there
	Workers int          // at least 1; the bytes do not depend on it

	Progress run.Progress // nil: silent
}

// Refuse is a request that cannot be carried out as asked, and what to do about it.
func Refuse(fix, msg string, args ...any) error {
	return &run.UsageError{Message: fmt.Sprintf(msg, args...), Fix: fix}
}

// Check fills in the purpose and a silent progress, and refuses numbers that no
// perturbation can do with.
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
	case s.Items < 0:
		return Refuse("", "items is %d, want at least 1", s.Items)
	}
	return nil
}

// FindForms finds the forms of In and Out by their names where they are not given. line
// says what a line of a .txt is; with flags the refusal names the flags that tell a form.
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

// FormOf tells the form of a file by its name. what is the flag that named the file, line
// what a line of a .txt is, more what else the user can do.
func FormOf(what, path, line, more string) (format.Form, error) {
	f, ok := format.Of(path)
	if !ok {
		return f, Refuse("names end in .tsv, .csv, .inter, or .txt for "+line+", then .gz or .zst"+more, "--%s: the name %q does not tell the form", what, filepath.Base(path))
	}
	return f, nil
}

// Noise is the mark of the noise.
func (s *Settings) Noise() privacy.Noise {
	if s.Secure {
		return privacy.Secure
	}
	return privacy.Research
}

// Bits are cryptographic, or those of a stream of the seed, which no other setting may
// have: two releases of one record under one noise would show their difference.
func (s *Settings) Bits(stream rng.Stream) mechanism.Bits {
	if s.Secure {
		return mechanism.Secret()
	}
	return mechanism.Keyed(stream)
}
