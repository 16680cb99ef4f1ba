package protect

import (
	"os"

	"privrec/internal/perturb"
	"privrec/internal/perturb/slates"
)

// FileOptions says which slates to protect and how: as Options, on files.
type FileOptions struct {
	// Length is T; 0: that of the first slate. With popularity a Catalogue says under count
	// how often each item is shown. Without Catalogue and Items the items and their counts are
	// those of In, which is read twice then; with RR they must be stated, and public.
	perturb.Settings

	Method

	Vectors string // file with item_id and numbers, or directory of a finished train sasrec; of similarity
	History string // file with user_id and item_id, past behaviour; of similarity to it

	remember int // users, and slates, that are kept apart at a time; 0: slates.Remembered
}

// room returns how many users, and slates, are kept apart at a time.
func (o *FileOptions) room() int {
	if o.remember > 0 {
		return o.remember
	}
	return slates.Remembered
}

// Check fills in defaults and refuses what cannot be carried out.
func (o *FileOptions) Check() error {
	o.fill()
	if err := o.Method.check(); err != nil {
		return perturb.Refuse("", "%v", err)
	}
	switch {
	case o.Length < 0:
		return perturb.Refuse("leave it out where the first slate tells", "length is %d, want at least 1", o.Length)
	case o.Items > slates.MaxItems:
		return perturb.Refuse("", "items is %d, want at most %d", o.Items, slates.MaxItems)
	}
	if err := o.Settings.Check("slates"); err != nil {
		return err
	}
	switch {
	case o.Replace == ReplaceRR && o.Items == 0 && o.Catalogue == "":
		return perturb.Refuse("give --items M or --catalogue FILE: both public, and not read off the slates", "the catalogue is missing: rr answers with any item of it")
	case o.Similarity() && o.Vectors == "":
		return perturb.Refuse("give --vectors FILE, with item_id and numbers", "select %s needs vectors of the items", o.Select)
	case o.Similarity() && o.Reference == ReferencePast && o.History == "":
		return perturb.Refuse("give --history FILE, with user_id and item_id, or --reference slate", "select %s needs the past behaviour of the users", o.Select)
	case !o.Similarity() && (o.Vectors != "" || o.History != ""):
		return perturb.Refuse("leave them out", "vectors and histories are of select similar and dissimilar")
	case o.History != "" && o.Reference == ReferenceSlate:
		return perturb.Refuse("leave it out", "with --reference slate no history is looked at")
	}
	return nil
}

// slateALine is what a line of a .txt is.
const slateALine = "a slate a line"

// checkFiles finds the forms of the files.
func (o *FileOptions) checkFiles() error {
	if err := o.FindForms(slateALine, false); err != nil {
		return err
	}
	if info, err := os.Stat(o.In); err == nil && !info.Mode().IsRegular() && !info.IsDir() && o.twice() {
		return perturb.Refuse("give --catalogue FILE, or the slates as a file", "--in is read twice to find the items, and %s can be read once", o.In)
	}
	return nil
}

// twice tells whether the slates are read once more, to find items and counts.
func (o *FileOptions) twice() bool { return o.Items == 0 && o.Catalogue == "" }
