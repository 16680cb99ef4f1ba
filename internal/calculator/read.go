package calculator

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"privrec/internal/dataset"
	"privrec/internal/privacy"
	"privrec/internal/run"
	"privrec/internal/system"
)

const hintLedger = "a run keeps its ledger in ledger.jsonl of its directory, perturbed rows in NAME.tsv theirs in " +
	"NAME.ledger.jsonl"

// ledgerPath returns the ledger that a path names: a file, or the ledger of a run directory.
func ledgerPath(path string) (string, error) {
	info, err := os.Stat(path)
	if err == nil && info.IsDir() {
		path = filepath.Join(path, run.LedgerName)
		info, err = os.Stat(path)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", &dataset.Error{File: path, Msg: "no such ledger", Hint: hintLedger}
	case err != nil:
		return "", &dataset.Error{File: path, Msg: "cannot be read", Err: err}
	case info.IsDir():
		return "", &dataset.Error{File: path, Msg: "is a folder, want a ledger file", Hint: hintLedger}
	}
	return path, nil
}

// readLedger reads a ledger and the facts about it in the manifest beside it. A damaged ledger is an error about data,
// with file and line.
func readLedger(path string, key *privacy.Key) (l *privacy.Ledger, gap Gap, err error) {
	m, err := manifestBeside(path)
	if err != nil {
		return nil, gap, err
	}
	unfinished := m != nil && m.Status != run.StatusDone
	l, err = privacy.Reading{Key: key, Unfinished: unfinished}.File(path)
	if err != nil {
		return nil, gap, badLedger(path, err, m)
	}
	if len(l.Entries()) == 0 {
		return nil, gap, &dataset.Error{File: path, Msg: "lists no releases"}
	}
	seal, closed := l.Seal()
	if err := reportBeside(path, seal); err != nil {
		return nil, gap, err
	}
	switch {
	case unfinished:
		if err := coversCheckpoint(path, key); err != nil {
			return nil, gap, err
		}
		gap.Status = m.Status
		gap.Why = fmt.Sprintf("the run in %s is %s, not done: what it released so far is counted, and the epsilon of "+
			"the finished run is at least that", filepath.Dir(path), m.Status)
		if !l.Closes() {
			gap.Unprotected = "a ledger of version privrec/1 lists what is unprotected only when its run ends: an " +
				"epsilon that is finite here may be infinite"
		}
	case m != nil && m.Ledger != nil && *m.Ledger != seal:
		return nil, gap, &dataset.Error{File: path, Msg: fmt.Sprintf("has %s; the manifest of its run says %s", seal,
			m.Ledger),
			Hint: "one of the two is not as the run wrote it: nothing is accounted from such a ledger"}
	case m != nil && m.Ledger == nil && closed:
		return nil, gap, &dataset.Error{File: path,
			Msg:  "is closed, and the manifest of its run does not say how it ends",
			Hint: "the ledger or manifest.json beside it is of another run"}
	case !closed && (m == nil || m.Ledger == nil):
		gap.Why = "a ledger of version privrec/1 has no closing line: lines at its end may have been lost, and the " +
			"epsilon is at least that of the lines that are there"
	}
	return l, gap, nil
}

// coversCheckpoint fails on the ledger of an unfinished run that lists less than at the time of the checkpoint beside
// it.
func coversCheckpoint(path string, key *privacy.Key) error {
	st, ok, err := run.LedgerAtCheckpoint(filepath.Dir(path))
	if err != nil || !ok {
		return err
	}
	if err := (privacy.Reading{Key: key}).Covers(path, st); err != nil {
		return &dataset.Error{File: path, Msg: strings.TrimPrefix(err.Error(), "ledger: "+path+": "),
			Hint: "the checkpoint beside it holds results of more releases, or of another ledger: nothing is " +
				"accounted from this one"}
	}
	return nil
}

// manifestBeside returns the manifest of the run that wrote a ledger; nil for a ledger outside a run directory.
func manifestBeside(path string) (*run.Manifest, error) {
	if filepath.Base(path) != run.LedgerName {
		return nil, nil
	}
	m, err := run.ReadManifest(filepath.Dir(path))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, &dataset.Error{File: path,
			Msg: "the manifest beside it, which says whether its run is done, cannot be read", Err: err,
			Hint: "a copy of the ledger alone is accounted if it is closed"}
	}
	return &m, nil
}

// reportBeside fails on a ledger that the report of the same perturbation contradicts. It accepts a ledger without a
// report, or with one about another ledger.
func reportBeside(path string, seal privacy.Seal) error {
	stem, ok := strings.CutSuffix(path, ".ledger.jsonl")
	if !ok {
		return nil
	}
	text, err := system.ReadFile(stem+".report.json", system.MostOfRun)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var r struct {
		Facts []struct{ Label, Value string } `json:"facts"`
	}
	if err == nil {
		err = json.Unmarshal(text, &r)
	}
	if err != nil {
		return &dataset.Error{File: stem + ".report.json", Msg: "is not the report of the ledger beside it", Err: err,
			Hint: "a copy of the ledger alone is accounted if it is closed"}
	}
	for _, f := range r.Facts {
		if f.Label == "ledger" && f.Value != seal.String() {
			return &dataset.Error{File: path, Msg: fmt.Sprintf("has %s; the report beside it says %s", seal, f.Value),
				Hint: "one of the two is not as the run wrote it: nothing is accounted from such a ledger"}
		}
	}
	return nil
}

// badLedger returns an error of reading a ledger in the terms of the command line.
func badLedger(path string, err error, m *run.Manifest) error {
	bad := &dataset.Error{File: path, Msg: strings.TrimPrefix(err.Error(), "ledger: "+path+": "),
		Hint: "a ledger must be as the run wrote it: nothing is accounted from one that is not"}
	switch {
	case errors.Is(err, privacy.ErrNoKey):
		bad.Hint = "name the file of its key: --ledger-key FILE"
	case errors.Is(err, privacy.ErrWrongKey):
		bad.Hint = "name the key file that the run had"
	case errors.Is(err, privacy.ErrUnkeyed):
		bad.Hint = "this is not the ledger of a run with that ledger key: name another ledger, or leave out " +
			"--ledger-key"
	case errors.Is(err, privacy.ErrCut) && m != nil:
		bad.Hint = "the manifest beside it says that the run is done: the ledger is not as the run wrote it"
	case errors.Is(err, privacy.ErrCut):
		bad.Hint = "a copy of a whole ledger ends in its closing line; for a run that has not ended, name its " +
			"directory, whose manifest says so"
	case m != nil && m.Status != run.StatusDone:
		bad.Hint = "if the run was stopped while it wrote that, --resume mends it: nothing is accounted before"
	}
	if rest, ok := strings.CutPrefix(bad.Msg, "line "); ok {
		at, why, _ := strings.Cut(rest, ": ")
		if n, err := strconv.Atoi(at); err == nil {
			bad.Line, bad.Msg = n, why
		}
	}
	return bad
}

// Gap gives the reason why a ledger may list only some of the releases of its run.
type Gap struct {
	Status      string // of a run that has not ended; empty: the format cannot show whether lines were lost
	Why         string // a sentence; empty: everything is listed
	Unprotected string // a sentence if what is unprotected may be missing
}
