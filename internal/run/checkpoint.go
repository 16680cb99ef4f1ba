package run

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"

	"privrec/internal/privacy"
	"privrec/internal/system"
)

// Checkpoint holds what a task needs to continue as if it had not stopped: State for small
// things (epoch, step, early stopping, stream positions), Tensors for parameters and optimiser.
// The state of the ledger is stored beside them; the task need not care for it.
type Checkpoint struct {
	State   json.RawMessage
	Tensors []NamedTensor
}

const (
	metaConfig = "config_sha256"
	metaLedger = "ledger"
	metaState  = "state"
	metaFloat  = "float" // element type of the build
	metaSIMD   = "simd"  // kernels in use
)

// SaveCheckpoint replaces the checkpoint of the run, durably. It makes the ledger durable first
// and stores the ledger's position in the checkpoint.
func (e *Env) SaveCheckpoint(c Checkpoint) error {
	if err := e.saveCheckpoint(c); err != nil {
		return &unsaved{fmt.Errorf("save checkpoint: %w", err)}
	}
	return nil
}

func (e *Env) saveCheckpoint(c Checkpoint) error {
	if !json.Valid(c.State) {
		return errors.New("state is not JSON")
	}
	meta := map[string]string{metaConfig: e.ConfigHash, metaState: string(c.State), metaFloat: floatName,
		metaSIMD: simdPath()}
	switch {
	case !e.Writes():
		return errWritesNothing
	case e.books.ledger == nil:
		return errNoLedger
	}
	st, err := e.books.ledger.State()
	if err != nil {
		return err
	}
	text, err := json.Marshal(st)
	if err != nil {
		return err
	}
	meta[metaLedger] = string(text)
	path := filepath.Join(e.Dir, checkpointFile)
	if err := mkdir(filepath.Dir(path)); err != nil {
		return err
	}
	e.writing.meta = nil
	return e.writing.keep(system.WritePrivate(path, func(w io.Writer) error {
		return WriteSafetensors(w, c.Tensors, meta)
	}))
}

// LoadCheckpoint returns the checkpoint to continue from. ok is false when the run starts from
// the beginning: it was not resumed, or stopped before its first checkpoint.
func (e *Env) LoadCheckpoint() (c Checkpoint, ok bool, err error) {
	if !e.Resume {
		return e.begin()
	}
	d, err := e.readCheckpoint(true)
	if errors.Is(err, fs.ErrNotExist) {
		if e.from != "" {
			return e.begin()
		}
		e.Log.Warn("no checkpoint yet, starting from the beginning", "dir", e.Dir)
		return Checkpoint{}, false, nil
	}
	if err != nil {
		return Checkpoint{}, false, err
	}
	return Checkpoint{State: json.RawMessage(d.meta[metaState]), Tensors: d.tensors}, true, nil
}

// begin returns the last checkpoint of the run that this one begins with, and keeps it as its own. ok is false if this
// run begins with none.
func (e *Env) begin() (c Checkpoint, ok bool, err error) {
	if e.from == "" {
		return c, false, nil
	}
	m, err := ReadManifest(e.from)
	if err != nil {
		return c, false, err
	}
	other := Env{Dir: e.from, ConfigHash: m.ConfigHash}
	d, err := other.readCheckpoint(true)
	if err != nil {
		return c, false, err
	}
	// The state can name the configuration, and this run continues as one of its own.
	state := strings.ReplaceAll(d.meta[metaState], m.ConfigHash, e.ConfigHash)
	c = Checkpoint{State: json.RawMessage(state), Tensors: d.tensors}
	return c, true, e.SaveCheckpoint(c)
}

// Continues reports whether this program can go on from the last checkpoint of a run: there is one, whole and of the
// same arithmetic.
func Continues(dir string) bool {
	m, err := ReadManifest(dir)
	if err != nil {
		return false
	}
	e := Env{Dir: dir, ConfigHash: m.ConfigHash}
	_, err = e.readCheckpoint(false)
	return err == nil
}

// readCheckpoint reads and checks the whole checkpoint, so that no run continues from one that
// is damaged or of another run. Without keep it returns no tensors.
func (e *Env) readCheckpoint(keep bool) (decoded, error) {
	path := filepath.Join(e.Dir, checkpointFile)
	d, err := readFile(path, keep)
	if errors.Is(err, fs.ErrNotExist) {
		return d, err
	}
	if err == nil && !d.sealed {
		err = fmt.Errorf("%s: no checksum, not a checkpoint of this program", path)
	}
	if err == nil {
		err = e.checkMeta(path, d.meta)
	}
	if err != nil {
		return decoded{}, damaged(err)
	}
	return d, nil
}

// verify checks once the checkpoint from which a resumed run continues and returns its
// metadata; nil without a checkpoint.
func (e *Env) verify() (meta map[string]string, err error) {
	if !e.Resume {
		return nil, nil
	}
	if e.writing.meta == nil {
		d, err := e.readCheckpoint(false)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		e.writing.meta = d.meta
	}
	return e.writing.meta, nil
}

// ledgerState returns the state of the ledger in the checkpoint. ok is false without a
// checkpoint.
func (e *Env) ledgerState() (st privacy.LedgerState, ok bool, err error) {
	meta, err := e.verify()
	if err != nil {
		return st, false, err
	}
	return stateOf(e.Dir, meta)
}

func stateOf(dir string, meta map[string]string) (st privacy.LedgerState, ok bool, err error) {
	text, ok := meta[metaLedger]
	if !ok {
		return st, false, nil
	}
	if err := json.Unmarshal([]byte(text), &st); err != nil {
		path := filepath.Join(dir, checkpointFile)
		return st, false, damaged(fmt.Errorf("%s: state of the ledger: %w", path, err))
	}
	return st, true, nil
}

// LedgerAtCheckpoint returns the state of the ledger in the checkpoint of a run directory. ok
// is false without a checkpoint.
func LedgerAtCheckpoint(dir string) (st privacy.LedgerState, ok bool, err error) {
	d, err := readFile(filepath.Join(dir, checkpointFile), false)
	if errors.Is(err, fs.ErrNotExist) {
		return st, false, nil
	}
	if err != nil {
		return st, false, damaged(err)
	}
	return stateOf(dir, d.meta)
}

// checkMeta fails on a checkpoint from which this program would reach other results: one of
// another configuration, or computed with other arithmetic.
func (e *Env) checkMeta(path string, meta map[string]string) error {
	if got := meta[metaConfig]; got != e.ConfigHash {
		return &UsageError{
			Message: fmt.Sprintf("checkpoint %s was written by another configuration (%.12s, this one is %.12s)", path,
				got, e.ConfigHash),
			Fix: "resume with the config.yaml in the run directory, or choose another --out",
		}
	}
	if was := meta[metaFloat]; was != floatName {
		return &UsageError{
			Message: fmt.Sprintf("checkpoint %s was computed in %s, this program computes in %s", path, was, floatName),
			Fix:     fmt.Sprintf("resume with the program that computes in %s, or start again with another --out", was),
		}
	}
	if was := meta[metaSIMD]; was != simdPath() {
		return &UsageError{
			Message: fmt.Sprintf("checkpoint %s was computed with %s kernels, this run uses %s: the result would be "+
				"that of neither", path, was, simdPath()),
			Fix: fmt.Sprintf("resume with PRIVREC_SIMD=%s, or start again with another --out", was),
		}
	}
	if !json.Valid([]byte(meta[metaState])) {
		return fmt.Errorf("%s: not a checkpoint of this program", path)
	}
	return nil
}
