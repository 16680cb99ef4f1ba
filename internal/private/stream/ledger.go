package stream

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"reflect"
	"slices"

	"privrec/internal/privacy"
	"privrec/internal/run"
)

// newLedger writes the ledger of the whole stream but for the counts that choose the matrix, which come next.
func (f *Folder) newLedger() (*privacy.Ledger, error) {
	l, err := privacy.CreateLedger(filepath.Join(f.Dir, run.LedgerName), f.Privacy().Marks(), nil)
	if err != nil {
		return nil, err
	}
	err = l.Declare(privacy.Declaration{Public: public})
	for _, e := range f.Terms.Entries {
		if err == nil && e.Purpose != StartPurpose {
			err = l.Record(e.Purpose, e.Event, e.Count)
		}
	}
	if err == nil {
		err = l.Flush("all steps")
	}
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// public lists what the guarantee of a stream takes as public.
var public = []privacy.Assumption{
	{What: "which items there are",
		Why: "the catalogue is fixed before the first row, and its ids are not chosen by the rows of the stream"},
	{What: "when and how often the stream releases"},
	{What: "what the commands print", Why: "numbers of users and rows are for whoever keeps the stream"},
}

// sameLedger fails unless the ledger lists what the stream releases.
func (f *Folder) sameLedger() error {
	path := filepath.Join(f.Dir, run.LedgerName)
	l, err := (privacy.Reading{Unfinished: true}).File(path)
	if err != nil {
		return err
	}
	for _, want := range f.Terms.Entries {
		if !slices.ContainsFunc(l.Entries(), func(e privacy.Entry) bool {
			return e.Purpose == want.Purpose && e.Count >= want.Count && alike(e.Event, want.Event)
		}) {
			return fmt.Errorf("%s: it does not list what the stream releases as %q", path, want.Purpose)
		}
	}
	return nil
}

// alike reports whether two events are the same, but for the rounding of another machine or program.
func alike(a, b privacy.Event) bool {
	read := func(e privacy.Event) (fields map[string]any) {
		if text, err := privacy.MarshalEvent(e); err != nil || json.Unmarshal(text, &fields) != nil {
			return nil
		}
		return fields
	}
	x, y := read(a), read(b)
	return x != nil && len(x) == len(y) && !slices.ContainsFunc(slices.Collect(maps.Keys(x)), func(name string) bool {
		v, number := x[name].(float64)
		w, other := y[name].(float64)
		if number && other {
			return !(math.Abs(v-w) <= 1e-9*math.Abs(w))
		}
		return !reflect.DeepEqual(x[name], y[name])
	})
}
