package exposure

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"privrec/internal/dataset"
	"privrec/internal/dataset/format"
	"privrec/internal/dataset/slate"
	"privrec/internal/model/sasrec"
	"privrec/internal/rng"
	"privrec/internal/run"
	"privrec/internal/tensor"
	"privrec/internal/train"
)

// ItemVectors are the item vectors of a finished run of train sasrec on the histories of
// a set, by token: nil, which stands for the zero vector, where an item has none because
// no training user has it in the part of a history that is trained on. A run on other
// histories is refused: those of other users would bring the attack's victims in. Equal
// histories have equal rows, so that the ids that the run lists are not read.
func ItemVectors(ctx context.Context, dir string, set *slate.Set) ([][]tensor.Float, error) {
	s, err := sasrecHistories(set)
	if err != nil {
		return nil, err
	}
	table, err := openVectors(ctx, dir)
	if err != nil {
		return nil, err
	}
	if table.hash != s.Source.Hash {
		return nil, &run.UsageError{
			Message: fmt.Sprintf("the run in %s was trained on other histories (%.12s) than those of %s (%.12s)", dir, table.hash, set.Name, s.Source.Hash),
			Fix:     "train sasrec with data.recipe=" + HistoriesRecipe + " and the name, split, slate, behaviour and run.seed of the attack",
		}
	}
	return byToken(s, table.rows, set)
}

// ItemVectorsByID are the item vectors of a finished run of train sasrec, by the names of
// the items in its data files. A run of a program that listed tokens for the items of
// histories is refused.
func ItemVectorsByID(ctx context.Context, dir string) (map[string][]float32, error) {
	table, err := openVectors(ctx, dir)
	if err != nil {
		return nil, err
	}
	if !table.named {
		return nil, &run.UsageError{
			Message: fmt.Sprintf("the run in %s is of an older program, which numbered the items of histories by popularity instead of naming them as the data do", dir),
			Fix:     "train sasrec again with the config.yaml of that run and another --out",
		}
	}
	out := make(map[string][]float32, len(table.ids))
	for i, id := range table.ids {
		row := tensor.Row(table.rows, i+1)
		v := make([]float32, len(row))
		for j, x := range row {
			v[j] = float32(x)
		}
		out[id] = v
	}
	return out, nil
}

// VectorOptions say how ItemVectors are trained where there is no run. The zero value
// takes the defaults of the task.
type VectorOptions struct {
	Model sasrec.Config // default: DefaultSASRec
	Train SASRecTrain   // likewise
	Seed  rng.Seed
	Hooks train.Hooks
}

// TrainItemVectors are ItemVectors trained in place on the histories of the set.
func TrainItemVectors(ctx context.Context, set *slate.Set, o VectorOptions) ([][]tensor.Float, error) {
	c := DefaultSASRec()
	if o.Model != (sasrec.Config{}) {
		c.Model = o.Model
	}
	if o.Train != (SASRecTrain{}) {
		c.Train = o.Train
	}
	s, err := sasrecHistories(set)
	if err != nil {
		return nil, err
	}
	f, err := newSASRecFit(c, s, o.Seed)
	if err != nil {
		return nil, err
	}
	defer tensor.Free(f.model.Item.Value)
	if _, err := f.train(ctx, o.Seed, train.Options{Hooks: o.Hooks}); err != nil {
		return nil, err
	}
	return byToken(s, f.model.Item.Value, set)
}

// byToken copies the rows of an item table to the tokens of its items.
func byToken(s *dataset.Sequential, table tensor.Matrix, set *slate.Set) ([][]tensor.Float, error) {
	if table.Rows != s.Items+1 {
		return nil, fmt.Errorf("item vectors: a table of %d items for %d of %s", table.Rows-1, s.Items, s.Name)
	}
	rowOf := make(map[string]int, s.Items)
	for item := 1; item <= s.Items; item++ {
		rowOf[s.ItemIDs[item]] = item
	}
	out := make([][]tensor.Float, set.Vocab)
	for token := int(slate.FirstItem); token < set.Vocab; token++ {
		if item, ok := rowOf[set.Items[token]]; ok {
			out[token] = slices.Clone(tensor.Row(table, item))
		}
	}
	return out, nil
}

// vectorTable is the item table of a finished run.
type vectorTable struct {
	hash  string // of the sequences it was trained on
	ids   []string
	named bool          // ids are the names of items in the data files
	rows  tensor.Matrix // (V+1, d), row i+1 of item ids[i]
}

// openVectors reads a run directory.
func openVectors(ctx context.Context, dir string) (*vectorTable, error) {
	m, err := run.ReadRun(dir, "name a run directory of train sasrec")
	if err != nil {
		return nil, err
	}
	if want := sasrecTask().String(); m.Task != want {
		return nil, &run.UsageError{Message: fmt.Sprintf("the run in %s is one of %q, which has no item vectors", dir, m.Task), Fix: "name a run of " + want}
	}
	if m.Status != run.StatusDone {
		return nil, &run.UsageError{Message: fmt.Sprintf("the run in %s is not finished: %s", dir, m.Status), Fix: "finish it with --resume"}
	}
	path := filepath.Join(dir, sasrecFile)
	tensors, meta, err := run.ReadSafetensors(path)
	if err != nil {
		return nil, fmt.Errorf("read item vectors: %w", err)
	}
	t := &vectorTable{hash: meta[sasrecHashKey], named: meta[sasrecIDsKey] == sasrecIDs}
	if !t.named {
		var o SASRecOutcome
		if err := run.ReadMetrics(dir, &o); err != nil {
			return nil, err
		}
		t.named = o.Data.Recipe != HistoriesRecipe
	}
	at := slices.IndexFunc(tensors, func(t run.NamedTensor) bool { return t.Name == "item" })
	if at < 0 {
		return nil, fmt.Errorf("read item vectors: %s has no item table", path)
	}
	if t.rows, err = tensors[at].Matrix(); err != nil {
		return nil, fmt.Errorf("read item vectors: %s: %w", path, err)
	}
	path = filepath.Join(dir, sasrecItems+".tsv.gz")
	if t.ids, err = format.ReadIDs(ctx, path, format.TSV, "item_id"); err != nil {
		return nil, err
	}
	if len(t.ids) != t.rows.Rows-1 {
		return nil, fmt.Errorf("read item vectors: %s lists %d items, the table has %d", path, len(t.ids), t.rows.Rows-1)
	}
	return t, nil
}
