package run

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
)

// Checkpoint is everything a task needs to go on as if nothing had happened:
// State for what is small (epoch, step, early stopping, stream positions),
// Tensors for parameters and optimiser.
type Checkpoint struct {
	State   json.RawMessage
	Tensors []NamedTensor
}

// checkpointFile is the one file of a checkpoint. Replacing one file by rename
// is what makes a kill at any moment leave either the old or the new one; state,
// configuration hash and ledger length travel in its metadata.
const checkpointFile = "checkpoint/checkpoint.safetensors"

const (
	metaConfig = "config_sha256"
	metaLedger = "ledger_bytes"
	metaState  = "state"
)

// SaveCheckpoint replaces the checkpoint of the run, durably. The ledger is
// flushed first, and the checkpoint remembers its length.
func (e *Env) SaveCheckpoint(c Checkpoint) error {
	if !json.Valid(c.State) {
		return errors.New("save checkpoint: state is not JSON")
	}
	offset, err := e.ledger.sync()
	if err != nil {
		return fmt.Errorf("save checkpoint: %w", err)
	}
	path := filepath.Join(e.Dir, checkpointFile)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("save checkpoint: %w", err)
	}
	meta := map[string]string{
		metaConfig: e.ConfigHash,
		metaLedger: strconv.FormatInt(offset, 10),
		metaState:  string(c.State),
	}
	e.kept = true
	return WriteFile(path, func(w io.Writer) error { return WriteSafetensors(w, c.Tensors, meta) })
}

// LoadCheckpoint returns the checkpoint to go on from, and cuts the ledger back
// to the moment it was taken. ok is false when the run starts afresh: not
// resumed, or stopped before its first checkpoint.
func (e *Env) LoadCheckpoint() (c Checkpoint, ok bool, err error) {
	if !e.Resume {
		return Checkpoint{}, false, nil
	}
	path := filepath.Join(e.Dir, checkpointFile)
	tensors, meta, err := ReadSafetensors(path)
	if errors.Is(err, fs.ErrNotExist) {
		e.Log.Warn("no checkpoint yet, starting from the beginning", "dir", e.Dir)
		return Checkpoint{}, false, e.ledger.cut(0)
	}
	if err != nil {
		return Checkpoint{}, false, WithHint(fmt.Errorf("load checkpoint: %w", err),
			"the checkpoint is damaged; start again with another --out")
	}
	if got := meta[metaConfig]; got != e.ConfigHash {
		return Checkpoint{}, false, &UsageError{
			Message: fmt.Sprintf("checkpoint %s was written by another configuration (%.12s, this one is %.12s)", path, got, e.ConfigHash),
			Fix:     "resume with the config.yaml in the run directory, or choose another --out",
		}
	}
	offset, err := strconv.ParseInt(meta[metaLedger], 10, 64)
	if err != nil || offset < 0 || !json.Valid([]byte(meta[metaState])) {
		return Checkpoint{}, false, fmt.Errorf("load checkpoint: %s: not a checkpoint of this program", path)
	}
	if err := e.ledger.cut(offset); err != nil {
		return Checkpoint{}, false, fmt.Errorf("load checkpoint: %w", err)
	}
	return Checkpoint{State: json.RawMessage(meta[metaState]), Tensors: tensors}, true, nil
}
