package baseline

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"privrec/internal/dataset"
	"privrec/internal/dataset/registry"
	"privrec/internal/eval"
	"privrec/internal/model/ease"
	"privrec/internal/protocol/static"
	"privrec/internal/protocol/topn"
	"privrec/internal/run"
	"privrec/internal/tensor"
)

// KeptFile names the file of a run with model.keep: the Gram matrix of the items, and the inverse.
const KeptFile = "kept.safetensors"

// CorrectedNote begins the note of a run whose model was corrected, with the bound of its error.
const CorrectedNote = "corrected for "

// The stages of a run that begins with what another one kept.
const (
	StageTake    = "take rows out of the counts"
	StageInvert  = "invert"
	StageCorrect = "correct the inverse"
	StageBound   = "bound the error"
)

// fitKept returns the model and keeps both matrices. A finished run reads them. A run that begins with another one
// takes the rows of users who left out of what that kept.
func (s EASEShape) fitKept(ctx context.Context, env *run.Env, data topn.DataConfig,
	r static.Rows) (eval.Scorer, error) {
	if need := 2 * ease.ItemMemory(r.Graph) >> 20; need > int64(s.MemoryMB) {
		return nil, &run.UsageError{
			Message: fmt.Sprintf("model.memory_mb: %d items need two matrices of %d MB together, the limit is %d",
				r.Graph.Items, need, s.MemoryMB),
			Fix: "allow more if the machine has it, or leave model.keep out",
		}
	}
	if f, ok := env.Finished(); ok {
		k, items, err := readKept(f.Dir, s.Lambda)
		if err != nil {
			return nil, err
		}
		if !slices.Equal(items, r.ItemIDs) {
			return nil, fmt.Errorf("%s: the items are not those of the data", filepath.Join(f.Dir, KeptFile))
		}
		return k.Model(r.Graph)
	}
	k, err := s.count(ctx, env, data, r)
	if err != nil {
		return nil, err
	}
	if env.Writes() {
		if err := writeKept(env, k, r.ItemIDs); err != nil {
			return nil, err
		}
	}
	return k.Model(r.Graph)
}

// count returns both matrices for the rows.
func (s EASEShape) count(ctx context.Context, env *run.Env, data topn.DataConfig, r static.Rows) (*ease.Kept, error) {
	from, correct, ok, err := env.Begins()
	if err != nil {
		return nil, err
	}
	if !ok {
		k, err := ease.Count(ctx, r.Graph, s.Lambda)
		if err == nil {
			err = k.Invert(ctx)
		}
		return k, err
	}
	v := env.View()
	v.Forgotten, v.Found = from.Manifest.Forgotten, nil
	before, err := registry.LoadInteractions(ctx, data.Name, data.Recipe, v, data.Options())
	if err != nil {
		return nil, err
	}
	k, items, err := readKept(from.Dir, s.Lambda)
	if err != nil {
		return nil, err
	}
	if !slices.Equal(items, before.ItemIDs) {
		return nil, fmt.Errorf("%s: the items are not those of the data", filepath.Join(from.Dir, KeptFile))
	}
	to, gone, err := left(before, r)
	if err != nil {
		return nil, err
	}
	if correct {
		done := env.Stage(StageCorrect)
		err := k.Correct(ctx, gone)
		if done(); err != nil {
			return nil, err
		}
	}
	done := env.Stage(StageTake)
	k.Take(gone)
	k.Renumber(to, r.Graph.Items)
	done()
	if !correct {
		defer env.Stage(StageInvert)()
		return k, k.Invert(ctx)
	}
	defer env.Stage(StageBound)()
	bound := k.Within(env.Seed.Stream("ease bound"))
	return k, env.Note(CorrectedNote + fmt.Sprintf(
		"%d users: every weight is within %.2g of that of the exact solution", len(gone), bound))
}

// left returns the numbers of the items before in the rows that remain, -1 for an item that is gone, and the rows of
// users who left. It fails if rows of others changed, as a filter that counts users or items can do.
func left(before *dataset.Interactions, r static.Rows) (to []int32, gone [][]int32, err error) {
	number, user := indexOf(r.ItemIDs), indexOf(r.UserIDs)
	to = make([]int32, before.Items)
	for i, id := range before.ItemIDs {
		to[i] = -1
		if n, ok := number[id]; ok {
			to[i] = n
		}
	}
	stay := 0
	for u, id := range before.UserIDs {
		row := slices.Sorted(slices.Values(before.Train[u]))
		now, ok := user[id]
		if !ok {
			gone = append(gone, row)
			continue
		}
		stay++
		moved := make([]int32, len(row))
		for n, i := range row {
			moved[n] = to[i]
		}
		slices.Sort(moved)
		if !slices.Equal(moved, slices.Sorted(slices.Values(r.Train[now]))) {
			return nil, nil, ErrOthersChange
		}
	}
	if stay != len(r.UserIDs) || len(number) > before.Items {
		return nil, nil, ErrOthersChange
	}
	return to, gone, nil
}

// ErrOthersChange says that a run cannot begin with what another one kept: without some users, rows of others change.
var ErrOthersChange = &run.UsageError{
	Message: "without these users the recipe keeps other rows of those who stay: what the run kept is of no use",
	Fix:     "train from the start",
}

// indexOf returns the places of ids.
func indexOf(ids []string) map[string]int32 {
	at := make(map[string]int32, len(ids))
	for i, id := range ids {
		at[id] = int32(i)
	}
	return at
}

// writeKept writes both matrices and the ids of the items.
func writeKept(env *run.Env, k *ease.Kept, items []string) error {
	ids, err := json.Marshal(items)
	if err != nil {
		return err
	}
	n := k.Gram.Rows
	return env.WriteArtefact(KeptFile, func(w io.Writer) error {
		return run.WriteSafetensors(w, []run.NamedTensor{
			{Name: "gram", Shape: []int{n, n}, Data: k.Gram.Data},
			{Name: "inverse", Shape: []int{n, n}, Data: k.Inverse.Data},
		}, map[string]string{"items": string(ids), "lambda": fmt.Sprint(k.Lambda)})
	})
}

// readKept reads what writeKept wrote.
func readKept(dir string, lambda float64) (*ease.Kept, []string, error) {
	path := filepath.Join(dir, KeptFile)
	tensors, meta, err := run.ReadSafetensors(path)
	if err != nil {
		return nil, nil, err
	}
	var items []string
	if err := json.Unmarshal([]byte(meta["items"]), &items); err != nil {
		return nil, nil, fmt.Errorf("%s: items: %w", path, err)
	}
	k := &ease.Kept{Lambda: lambda}
	for _, x := range tensors {
		data, ok := x.Data.([]tensor.Float)
		if n := len(items); !ok || !slices.Equal(x.Shape, []int{n, n}) {
			return nil, nil, fmt.Errorf("%s: tensor %q is not a matrix of %d items in %T", path, x.Name, n, data)
		}
		switch x.Name {
		case "gram":
			k.Gram = tensor.From(len(items), len(items), data)
		case "inverse":
			k.Inverse = tensor.From(len(items), len(items), data)
		}
	}
	if k.Gram.Data == nil || k.Inverse.Data == nil || meta["lambda"] != fmt.Sprint(lambda) {
		return nil, nil, fmt.Errorf("%s: not the matrices of a run with lambda %v", path, lambda)
	}
	return k, items, nil
}
