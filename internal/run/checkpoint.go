package run

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"privrec/internal/privacy"
)

// Checkpoint is everything a task needs to go on as if nothing had happened:
// State for what is small (epoch, step, early stopping, stream positions),
// Tensors for parameters and optimiser. The ledger's state is kept beside them
// without the task's doing.
type Checkpoint struct {
	State   json.RawMessage
	Tensors []NamedTensor
}

// checkpointFile is the one file of a checkpoint. Replacing one file by rename
// is what makes a kill at any moment leave either the old or the new one; state,
// configuration hash and ledger state travel in its metadata.
const checkpointFile = "checkpoint/checkpoint.safetensors"

const (
	metaConfig = "config_sha256"
	metaLedger = "ledger"
	metaState  = "state"
)

// SaveCheckpoint replaces the checkpoint of the run, durably. The ledger is made
// durable first, and the checkpoint remembers where it stood.
func (e *Env) SaveCheckpoint(c Checkpoint) error {
	if !json.Valid(c.State) {
		return errors.New("save checkpoint: state is not JSON")
	}
	meta := map[string]string{metaConfig: e.ConfigHash, metaState: string(c.State)}
	if e.ledger != nil {
		st, err := e.ledger.State()
		if err != nil {
			return fmt.Errorf("save checkpoint: %w", err)
		}
		text, err := json.Marshal(st)
		if err != nil {
			return fmt.Errorf("save checkpoint: %w", err)
		}
		meta[metaLedger] = string(text)
	}
	path := filepath.Join(e.Dir, checkpointFile)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("save checkpoint: %w", err)
	}
	err := WriteFile(path, func(w io.Writer) error { return WriteSafetensors(w, c.Tensors, meta) })
	e.kept = e.kept || err == nil
	return err
}

// LoadCheckpoint returns the checkpoint to go on from. ok is false when the run
// starts afresh: not resumed, or stopped before its first checkpoint.
func (e *Env) LoadCheckpoint() (c Checkpoint, ok bool, err error) {
	if !e.Resume {
		return Checkpoint{}, false, nil
	}
	path := filepath.Join(e.Dir, checkpointFile)
	tensors, meta, err := ReadSafetensors(path)
	if errors.Is(err, fs.ErrNotExist) {
		e.Log.Warn("no checkpoint yet, starting from the beginning", "dir", e.Dir)
		return Checkpoint{}, false, nil
	}
	if err == nil {
		err = e.checkMeta(path, meta)
	}
	if err != nil {
		return Checkpoint{}, false, damaged(err)
	}
	return Checkpoint{State: json.RawMessage(meta[metaState]), Tensors: tensors}, true, nil
}

// ledgerState is what the checkpoint says of the ledger; not ok without one.
func (e *Env) ledgerState() (st privacy.LedgerState, ok bool, err error) {
	if !e.Resume {
		return st, false, nil
	}
	path := filepath.Join(e.Dir, checkpointFile)
	meta, err := readMetadata(path)
	if errors.Is(err, fs.ErrNotExist) {
		return st, false, nil
	}
	if err == nil {
		err = e.checkMeta(path, meta)
	}
	if err != nil {
		return st, false, damaged(err)
	}
	text, ok := meta[metaLedger]
	if !ok {
		return st, false, nil
	}
	if err := json.Unmarshal([]byte(text), &st); err != nil {
		return st, false, damaged(fmt.Errorf("%s: state of the ledger: %w", path, err))
	}
	return st, true, nil
}

func (e *Env) checkMeta(path string, meta map[string]string) error {
	if got := meta[metaConfig]; got != e.ConfigHash {
		return &UsageError{
			Message: fmt.Sprintf("checkpoint %s was written by another configuration (%.12s, this one is %.12s)", path, got, e.ConfigHash),
			Fix:     "resume with the config.yaml in the run directory, or choose another --out",
		}
	}
	if !json.Valid([]byte(meta[metaState])) {
		return fmt.Errorf("%s: not a checkpoint of this program", path)
	}
	return nil
}

func damaged(err error) error {
	var usage *UsageError
	if errors.As(err, &usage) {
		return err
	}
	return WithHint(fmt.Errorf("load checkpoint: %w", err), "the checkpoint is damaged; start again with another --out")
}
