package pricdsr

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"strconv"

	"privrec/internal/dataset/format"
	"privrec/internal/privacy"
	"privrec/internal/privacy/mechanism/sequence"
	"privrec/internal/rng"
	"privrec/internal/run"
)

// Options say what to perturb and how.
type Options struct {
	In, Out         string      // files
	InForm, OutForm format.Form // empty: by the names of the files

	Variant sequence.Variant // empty: sdp-fixed
	Epsilon float64          // of one cell
	Limits  bool             // accept epsilon 0 and +Inf
	Items   int              // m, where ids are 1 to m; 0: Catalogue says
	// Catalogue is a file with the ids of the items, one a line or under item_id. It
	// must be public: what is read off the rows gives away whose item is his alone.
	Catalogue string
	Length    int  // L
	Small     bool // accept fewer items than cells

	Purpose string   // names the release in the ledger; empty: "sequences"
	Seed    rng.Seed // of research noise
	Secure  bool     // cryptographic bits: no seed, no second time

	Key *privacy.Key // of the ledger; nil: none

	KeepOrder bool // users in the order of the input; otherwise by id
	Strict    bool // refuse what definition 1 leaves out: repeated items, more than Length
	Force     bool // replace files that are there
	Workers   int  // at least 1; the bytes do not depend on it

	Progress run.Progress // nil: silent
}

// Mechanism is the mechanism that the options describe, with m items.
func (o Options) Mechanism(m int) sequence.Mechanism {
	return sequence.Mechanism{Purpose: o.Purpose, Variant: o.Variant, Epsilon: o.Epsilon, Items: m, Length: o.Length, Limits: o.Limits}
}

func refuse(fix, format string, args ...any) error {
	return &run.UsageError{Message: fmt.Sprintf(format, args...), Fix: fix}
}

const fixLength = "it is how many cells a row has, the longest history to keep, such as 100"

// Check fills in defaults and refuses what cannot be carried out.
func (o *Options) Check() error {
	if o.Purpose == "" {
		o.Purpose = "sequences"
	}
	if o.Variant == "" {
		o.Variant = sequence.SDPFixed
	}
	if o.Progress == nil {
		o.Progress = run.Silent{}
	}
	switch {
	case o.Variant != sequence.SDPFixed && o.Variant != sequence.SDPPaper && o.Variant != sequence.RR:
		return refuse("known: sdp-fixed, sdp-paper, rr", "mechanism %q is not known", string(o.Variant))
	case math.IsNaN(o.Epsilon) || o.Epsilon < 0:
		return refuse("half of the cells are kept at epsilon = ln m", "epsilon is %g, want above 0", o.Epsilon)
	case !o.Limits && o.Epsilon == 0:
		return refuse("--limits accepts it: the output then does not depend on the rows at all", "epsilon is 0, want above 0")
	case !o.Limits && math.IsInf(o.Epsilon, 1):
		return refuse("--limits accepts it: the output then is the rows as they are, and nothing is protected", "epsilon is infinite")
	case o.Length == 0:
		return refuse(fixLength, "--length is missing")
	case o.Length < 0:
		return refuse(fixLength, "length is %d, want at least 1", o.Length)
	case o.Workers < 1:
		return refuse("", "workers is %d, want at least 1", o.Workers)
	case o.Items == 0 && o.Catalogue == "":
		return refuse("give --items M or --catalogue FILE: both public, and not read off the rows", "the size of the catalogue is missing")
	case o.Items != 0 && o.Catalogue != "":
		return refuse("the catalogue has the number of its ids", "items and a catalogue are given")
	case o.Items < 0:
		return refuse("", "items is %d, want at least 1", o.Items)
	}
	return nil
}

// checkFiles finds the forms of the files.
func (o *Options) checkFiles() error {
	for _, f := range []struct {
		what, path string
		form       *format.Form
	}{{"in", o.In, &o.InForm}, {"out", o.Out, &o.OutForm}} {
		if f.path == "" {
			return refuse("", "--%s is missing", f.what)
		}
		if *f.form != "" {
			continue
		}
		var ok bool
		if *f.form, ok = format.Of(f.path); !ok {
			return refuse(fmt.Sprintf("names end in .tsv, .csv, .inter, or .txt for a line a user, then .gz or .zst; or give --%s-form", f.what),
				"--%s: the name %q does not tell the form", f.what, filepath.Base(f.path))
		}
	}
	return nil
}

// size refuses a catalogue that does not suit the rows.
func (o *Options) size(m int) error {
	if m < o.Length && !o.Small {
		return refuse("is --items the size of the whole catalogue? --small accepts it", "%d items are fewer than the %d cells of a row", m, o.Length)
	}
	return nil
}

// Catalogue is the items that can be drawn: ids 1 to Items, or names of them.
type Catalogue struct {
	Items int
	names []string // nil: numbers
	index map[string]int32
}

// OpenCatalogue is the catalogue that the options state.
func OpenCatalogue(ctx context.Context, o Options) (*Catalogue, error) {
	if o.Catalogue == "" {
		return &Catalogue{Items: o.Items}, nil
	}
	form, ok := format.Of(o.Catalogue)
	if !ok {
		return nil, refuse("names end in .tsv, .csv, .inter, or .txt for an id a line, then .gz or .zst", "--catalogue: the name %q does not tell the form", filepath.Base(o.Catalogue))
	}
	names, err := format.ReadIDs(ctx, o.Catalogue, form, "item_id")
	if err != nil {
		return nil, err
	}
	c := &Catalogue{Items: len(names), names: names, index: make(map[string]int32, len(names))}
	for i, name := range names {
		c.index[name] = int32(i + 1)
	}
	return c, nil
}

// writable refuses names that a form cannot hold, whether they will be drawn or not.
// file is where they come from.
func (c *Catalogue) writable(f format.Form, file string) error {
	var b []byte
	for _, name := range c.names {
		var err error
		if b, err = f.AppendField(b[:0], []byte(name)); err != nil {
			return placed(err, file, "item_id", 0)
		}
	}
	return nil
}

// append writes an item's id.
func (c *Catalogue) append(b []byte, id int32) []byte {
	if c.names != nil {
		return append(b, c.names[id-1]...)
	}
	return strconv.AppendInt(b, int64(id), 10)
}
