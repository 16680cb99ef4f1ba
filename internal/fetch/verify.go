package fetch

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"privrec/internal/dataset"
	"privrec/internal/dataset/registry"
)

// State names what happened to a file since it was fetched.
type State string

// The states of a file.
const (
	OK         State = "ok"         // equal to the receipt, or to the published hash where there is no receipt
	Changed    State = "changed"    // other bytes
	Missing    State = "missing"    // in the receipt, not in the folder
	Extra      State = "extra"      // in the folder, not in the receipt
	Unverified State = "unverified" // in the folder, with nothing to compare it with
	Unfinished State = "unfinished" // a download that can continue
)

// Checked holds the state of one file of a set.
type Checked struct {
	Name  string `json:"name"`
	State State  `json:"state"`
	Bytes int64  `json:"bytes"`
	Want  string `json:"want,omitempty"` // sha256
	Got   string `json:"got,omitempty"`  // sha256
	By    string `json:"by,omitempty"`   // which source states Want: receipt, published
}

// Report holds the state of one set.
type Report struct {
	Name    string    `json:"name"`
	Folder  string    `json:"folder"`
	Verdict string    `json:"verdict"` // verified, verified (pinned new), damaged, present unverified, absent
	Receipt bool      `json:"receipt"`
	Files   []Checked `json:"files"`
}

// The verdicts on a set.
const (
	VerdictVerified   = "verified"
	VerdictPinned     = "verified, pinned new" // equal to a receipt that accepted content other than the published one
	VerdictDamaged    = "damaged"
	VerdictUnverified = "present, unverified"
	VerdictAbsent     = "absent"
)

// Bad returns the files that are not as they should be.
func (r Report) Bad() []Checked {
	var out []Checked
	for _, f := range r.Files {
		if f.State == Changed || f.State == Missing || f.State == Extra {
			out = append(out, f)
		}
	}
	return out
}

// Problems returns an error for each file that is not as it should be: the fault, with both hashes if there are two,
// and how to repair it.
func (r Report) Problems() []error {
	var out []error
	for _, f := range r.Bad() {
		e := &dataset.Error{File: r.Folder + "/" + f.Name, Msg: "not in the receipt",
			Hint: "bring the file back with: privrec data fetch " + r.Name}
		switch f.State {
		case Changed:
			e.Msg = fmt.Sprintf("changed, sha256 should be %s (%s) but is %s", f.Want, f.By, f.Got)
		case Missing:
			e.Msg = "missing"
		case Extra:
			e.Hint = "move the file away if it does not belong to the set"
		}
		out = append(out, e)
	}
	return out
}

// Absent returns an error if no file of the set is present, and nil otherwise. It is a fault only of a set that the
// user asked for.
func (r Report) Absent() error {
	if r.Verdict != VerdictAbsent {
		return nil
	}
	return &dataset.Error{File: r.Folder, Msg: "no file of " + r.Name + " is here", Err: dataset.ErrNotFound,
		Hint: "privrec data fetch " + r.Name}
}

// Present returns the names of the sets that have a folder in dir; dir "" takes $PRIVREC_DATA.
func Present(dir string) ([]string, error) {
	all, err := Names()
	if err != nil {
		return nil, err
	}
	var names []string
	for _, name := range all {
		folder, err := Folder(dir, name)
		if err != nil {
			return nil, err
		}
		if st, err := os.Stat(folder); err == nil && st.IsDir() {
			names = append(names, name)
		}
	}
	return names, nil
}

// Verify reads every file of a set and returns how it compares with its receipt and with the published hashes. Damage
// is in the report, not an error; dir "" takes $PRIVREC_DATA.
func Verify(ctx context.Context, name, dir string) (Report, error) {
	src, err := Find(name)
	if err != nil {
		return Report{}, err
	}
	if src.Generated() {
		return Report{}, &dataset.Error{File: name, Msg: "is generated here, there is nothing to verify"}
	}
	folder, err := Folder(dir, name)
	if err != nil {
		return Report{}, err
	}
	return verify(ctx, src, folder)
}

func verify(ctx context.Context, src Source, folder string) (Report, error) {
	r := Report{Name: src.Name, Folder: folder}
	receipt, err := readReceipt(folder)
	if err != nil {
		return r, err
	}
	present, err := list(folder)
	if err != nil {
		return r, err
	}
	r.Receipt = receipt.Name != ""
	published := map[string]string{}
	for _, a := range src.Archives {
		for _, h := range a.Hashes {
			published[h.File] = h.SHA256
		}
	}
	expected := src.expected(receipt)
	for _, name := range expected {
		if !present[name] {
			if r.Receipt {
				f, _ := receipt.file(name)
				r.Files = append(r.Files, Checked{Name: name, State: Missing, Want: f.SHA256, By: "receipt"})
			}
			continue
		}
		delete(present, name)
		sum, _, err := digest(ctx, filepath.Join(folder, filepath.FromSlash(name)))
		if err != nil {
			return r, err
		}
		c := Checked{Name: name, State: Unverified, Bytes: sum.Bytes, Got: sum.SHA256}
		if f, ok := receipt.file(name); ok {
			c.State, c.Want, c.By = OK, f.SHA256, "receipt"
		}
		if want := published[name]; want != "" && (c.Want == "" || c.Want == c.Got && !receipt.PinnedNew) {
			c.State, c.Want, c.By = OK, want, "published"
		}
		if c.Want != "" && c.Want != c.Got {
			c.State = Changed
		}
		r.Files = append(r.Files, c)
	}
	for _, name := range sorted(present) {
		switch {
		case strings.HasSuffix(name, partExt):
			r.Files = append(r.Files,
				Checked{Name: name, State: Unfinished, Bytes: sizeOf(filepath.Join(folder, filepath.FromSlash(name)))})
		case r.Receipt && !strings.HasSuffix(name, partExt+stateExt):
			r.Files = append(r.Files,
				Checked{Name: name, State: Extra, Bytes: sizeOf(filepath.Join(folder, filepath.FromSlash(name)))})
		}
	}
	r.Verdict = verdict(r, receipt)
	return r, nil
}

// verdict returns the verdict of a report.
func verdict(r Report, receipt Receipt) string {
	there, unverified := 0, 0
	for _, f := range r.Files {
		if f.State == OK || f.State == Unverified {
			there++
		}
		if f.State == Unverified {
			unverified++
		}
	}
	switch {
	case len(r.Bad()) > 0:
		return VerdictDamaged
	case there == 0:
		return VerdictAbsent
	case unverified > 0:
		return VerdictUnverified
	case receipt.PinnedNew:
		return VerdictPinned
	}
	return VerdictVerified
}

// expected returns the files of a set: those of its receipt, or without one every file from which it may be read.
func (s Source) expected(r Receipt) []string {
	names := map[string]bool{}
	for _, f := range r.Files {
		names[f.Name] = true
	}
	if len(names) > 0 {
		return sorted(names)
	}
	bases := s.places()
	for _, l := range s.Layouts {
		bases = append(bases, l.Files...)
	}
	for _, b := range bases {
		for _, ext := range []string{"", ".gz", ".zst"} {
			names[filepath.ToSlash(b)+ext] = true
		}
	}
	return sorted(names)
}

func sorted(names map[string]bool) []string {
	out := make([]string, 0, len(names))
	for n := range names {
		out = append(out, n)
	}
	sort.Strings(out)
	return out
}

// list returns the names of all files below a folder, except those of a fetch.
func list(folder string) (map[string]bool, error) {
	out := map[string]bool{}
	err := filepath.WalkDir(folder, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(folder, p)
		if err != nil {
			return err
		}
		if strings.HasPrefix(rel, tempPrefix) {
			if d.IsDir() {
				return filepath.SkipDir
			}
			return nil
		}
		if !d.IsDir() && rel != registry.ReceiptName {
			out[filepath.ToSlash(rel)] = true
		}
		return nil
	})
	if errors.Is(err, os.ErrNotExist) {
		return out, nil
	}
	if err != nil {
		return nil, &dataset.Error{File: folder, Msg: "cannot read", Err: err}
	}
	return out, nil
}
