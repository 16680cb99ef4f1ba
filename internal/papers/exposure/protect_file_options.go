package exposure

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"privrec/internal/dataset/format"
	"privrec/internal/perturb"
	"privrec/internal/privacy"
	"privrec/internal/rng"
	"privrec/internal/run"
)

// PerturbOptions say which slates to protect and how: as ProtectOptions, on files.
type PerturbOptions struct {
	In, Out         string
	InForm, OutForm format.Form // empty: by the names of the files

	Select, Replace string
	Ratio           float64
	Epsilon         float64 // of RR
	Weighted        bool
	Tau             float64
	Reference       string
	Batch           int // slates in a row; a last one of fewer joins the one before
	OwnRows         bool

	// Catalogue is a file with the ids of the items under item_id, or one a line, and
	// with popularity how often each is shown under count. Items is the size of a
	// catalogue of the ids 1 to Items. Without either the items and their counts are
	// those of In, which is read twice then; with RR they must be stated, and public.
	Catalogue string
	Items     int
	Vectors   string // file with item_id and numbers, or directory of a finished train sasrec; of similarity
	History   string // file with user_id and item_id, past behaviour; of similarity to it

	Length  int    // T; 0: that of the first slate
	Purpose string // names the release in the ledger; empty: "slates"
	Seed    rng.Seed
	Secure  bool         // cryptographic bits: no seed, no second time
	Key     *privacy.Key // of the ledger; nil: none
	Force   bool         // replace files that are there
	Workers int          // at least 1; the bytes do not depend on it

	Progress run.Progress // nil: silent
}

func refuseOption(fix, format string, args ...any) error {
	return &run.UsageError{Message: fmt.Sprintf(format, args...), Fix: fix}
}

// method is the options that protecting has everywhere.
func (o *PerturbOptions) method() *ProtectOptions {
	return &ProtectOptions{Select: o.Select, Replace: o.Replace, Ratio: o.Ratio, Epsilon: o.Epsilon, Weighted: o.Weighted, Tau: o.Tau,
		Reference: o.Reference, Batch: o.Batch, OwnRows: o.OwnRows}
}

// Check fills in defaults and refuses what cannot be carried out.
func (o *PerturbOptions) Check() error {
	if o.Purpose == "" {
		o.Purpose = "slates"
	}
	if o.Progress == nil {
		o.Progress = run.Silent{}
	}
	m := o.method()
	m.fill()
	if err := m.checkMethod(); err != nil {
		return refuseOption("", "%v", err)
	}
	o.Select, o.Replace, o.Tau, o.Reference, o.Batch = m.Select, m.Replace, m.Tau, m.Reference, m.Batch
	switch {
	case o.Workers < 1:
		return refuseOption("", "workers is %d, want at least 1", o.Workers)
	case o.Length < 0:
		return refuseOption("leave it out where the first slate tells", "length is %d, want at least 1", o.Length)
	case o.Items < 0:
		return refuseOption("", "items is %d, want at least 1", o.Items)
	case o.Items > maxCatalogue:
		return refuseOption("", "items is %d, want at most %d", o.Items, maxCatalogue)
	case o.Items != 0 && o.Catalogue != "":
		return refuseOption("the catalogue has the number of its ids", "items and a catalogue are given")
	case o.Replace == ReplaceRR && o.Items == 0 && o.Catalogue == "":
		return refuseOption("give --items M or --catalogue FILE: both public, and not read off the slates", "the catalogue is missing: rr answers with any item of it")
	case m.similarity() && o.Vectors == "":
		return refuseOption("give --vectors FILE, with item_id and numbers", "select %s needs vectors of the items", o.Select)
	case m.similarity() && o.Reference == ReferencePast && o.History == "":
		return refuseOption("give --history FILE, with user_id and item_id, or --reference slate", "select %s needs the past behaviour of the users", o.Select)
	case !m.similarity() && (o.Vectors != "" || o.History != ""):
		return refuseOption("leave them out", "vectors and histories are of select similar and dissimilar")
	case o.History != "" && o.Reference == ReferenceSlate:
		return refuseOption("leave it out", "with --reference slate no history is looked at")
	}
	return nil
}

// maxCatalogue keeps every item in 32 bits.
const maxCatalogue = 1 << 30

// formHint is how names tell forms.
const formHint = "names end in .tsv, .csv, .inter, or .txt for a slate a line, then .gz or .zst"

// checkFiles finds the forms of the files.
func (o *PerturbOptions) checkFiles() error {
	for _, f := range []struct {
		what, path string
		form       *format.Form
	}{{"in", o.In, &o.InForm}, {"out", o.Out, &o.OutForm}} {
		if f.path == "" {
			return refuseOption("", "--%s is missing", f.what)
		}
		if *f.form != "" {
			continue
		}
		var err error
		if *f.form, err = formOf(f.what, f.path); err != nil {
			return err
		}
	}
	if info, err := os.Stat(o.In); err == nil && !info.Mode().IsRegular() && !info.IsDir() && o.twice() {
		return refuseOption("give --catalogue FILE, or the slates as a file", "--in is read twice to find the items, and %s can be read once", o.In)
	}
	return nil
}

// twice is true where the slates are read once to find items and counts.
func (o *PerturbOptions) twice() bool { return o.Items == 0 && o.Catalogue == "" }

func formOf(what, path string) (format.Form, error) {
	f, ok := format.Of(path)
	if !ok {
		return f, refuseOption(formHint, "--%s: the name %q does not tell the form", what, filepath.Base(path))
	}
	return f, nil
}

// blockSlates is how many slates are worked on together.
func (o *PerturbOptions) blockSlates(t int) int {
	if o.Replace == ReplaceInBatch {
		return 2 * o.Batch
	}
	return min(max(1<<14/t, 1), 512)
}

// names of the files of a perturbation on their stage.
const (
	outFile    = "out"
	ledgerFile = "ledger"
	textFile   = "text"
	jsonFile   = "json"
)

// outputsOf is where the files go; the output last.
func outputsOf(out string) []perturb.Output {
	stem := strings.TrimSuffix(strings.TrimSuffix(out, ".gz"), ".zst")
	stem = strings.TrimSuffix(stem, filepath.Ext(stem))
	return []perturb.Output{
		{Name: ledgerFile, Path: stem + ".ledger.jsonl"},
		{Name: textFile, Path: stem + ".report.txt"},
		{Name: jsonFile, Path: stem + ".report.json"},
		{Name: outFile, Path: out},
	}
}
