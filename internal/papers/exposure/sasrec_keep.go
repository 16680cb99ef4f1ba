package exposure

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"privrec/internal/autograd"
	"privrec/internal/run"
)

const (
	sasrecFile    = "model.safetensors" // parameters of the reported model
	sasrecHashKey = "sequences_sha256"  // under which it says what it was trained on
	sasrecItems   = "items"             // ids of the item table's rows, from row 1 on
	sasrecIDsKey  = "item_ids"          // under which it says what those are: sasrecIDs
	sasrecIDs     = "names"             // the data's own; without a word, tokens where the data are histories
)

// keep writes the parameters of the reported model, and which rows are which items.
func (f *sasrecFit) keep(env *run.Env) error {
	if err := env.WriteScores(sasrecItems, run.Column{Name: "item_id", Values: f.data.ItemIDs[1:]}); err != nil {
		return err
	}
	return env.WriteArtefact(sasrecFile, func(w io.Writer) error {
		var tensors []run.NamedTensor
		for _, p := range f.Params() {
			tensors = append(tensors, run.MatrixTensor(p.Name, p.Value))
		}
		return run.WriteSafetensors(w, tensors, map[string]string{sasrecHashKey: f.data.Source.Hash, sasrecIDsKey: sasrecIDs})
	})
}

// readSASRec fills parameters from a run directory, and refuses a model of other
// sequences than those of the hash.
func readSASRec(dir, hash string, params []*autograd.Param) error {
	path := filepath.Join(dir, sasrecFile)
	tensors, meta, err := run.ReadSafetensors(path)
	if err != nil {
		return run.WithHint(fmt.Errorf("read parameters: %w", err), "train again with another --out")
	}
	if meta[sasrecHashKey] != hash {
		return &run.UsageError{
			Message: fmt.Sprintf("%s was trained on other sequences (%.12s) than these (%.12s)", path, meta[sasrecHashKey], hash),
			Fix:     "data, split and seed must be those of its run; or train again",
		}
	}
	for _, p := range params {
		at := slices.IndexFunc(tensors, func(t run.NamedTensor) bool { return t.Name == p.Name })
		if at < 0 {
			return fmt.Errorf("read parameters: %s has no %q", path, p.Name)
		}
		if err := tensors[at].CopyTo(p.Value); err != nil {
			return fmt.Errorf("read parameters: %s: %w", path, err)
		}
	}
	return nil
}
