package baseline

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"privrec/internal/dataset"
	"privrec/internal/dataset/format"
	"privrec/internal/dataset/slate"
	"privrec/internal/experiment"
	"privrec/internal/model/sasrec"
	"privrec/internal/protocol/nextitem"
	"privrec/internal/rng"
	"privrec/internal/run"
	"privrec/internal/tensor"
	"privrec/internal/train"
)

// ItemVectors returns the item vectors of a finished run of train sasrec on the histories of a set, by token. An entry
// is nil, for the zero vector, if no training user has the item in the trained part of a history. It refuses a run on
// other histories, since other users would include the attack's victims. Equal histories have equal rows, so it does
// not read the ids that the run lists.
func ItemVectors(ctx context.Context, dir string, set *slate.Set) ([][]tensor.Float, error) {
	s, err := set.Sequences()
	if err != nil {
		return nil, err
	}
	table, err := openVectors(ctx, dir)
	if err != nil {
		return nil, err
	}
	if table.hash != s.Source.Hash {
		return nil, &run.UsageError{
			Message: fmt.Sprintf("the run in %s was trained on other histories (%.12s) than those of %s (%.12s)", dir,
				table.hash, set.Name, s.Source.Hash),
			Fix: "train sasrec with data.recipe=" + slate.HistoriesRecipe +
				" and the name, split, slate, behaviour and run.seed of the attack",
		}
	}
	return byToken(s, table.rows, set)
}

// ItemVectorsByID returns the item vectors of a finished run of train sasrec, by the names of
// the items in its data files. It refuses a run of a program that listed tokens for the items
// of histories.
func ItemVectorsByID(ctx context.Context, dir string) (map[string][]float32, error) {
	table, err := openVectors(ctx, dir)
	if err != nil {
		return nil, err
	}
	if !table.named {
		return nil, &run.UsageError{
			Message: fmt.Sprintf("the run in %s is of an older program, which numbered the items of histories by "+
				"popularity instead of naming them as the data do", dir),
			Fix: "train sasrec again with the config.yaml of that run and another --out",
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

// VectorOptions says how ItemVectors are trained if there is no run. The zero value means the defaults of the task.
type VectorOptions struct {
	Model sasrec.Config // default: DefaultSASRec
	Train SASRecTrain   // likewise
	Seed  rng.Seed
	Hooks train.Hooks
}

// TrainItemVectors trains in memory on the histories of the set, and returns the same as ItemVectors for a run.
func TrainItemVectors(ctx context.Context, set *slate.Set, o VectorOptions) ([][]tensor.Float, error) {
	c := DefaultSASRec()
	if o.Model != (sasrec.Config{}) {
		c.Model = o.Model
	}
	if o.Train != (SASRecTrain{}) {
		c.Train = o.Train
	}
	s, err := set.Sequences()
	if err != nil {
		return nil, err
	}
	c.Eval.K = nil // no more than the metric that selects the epoch
	as, err := c.setting(nextitem.Table{})
	if err != nil {
		return nil, err
	}
	x, err := nextitem.Cut(run.Rehearse(o.Seed), as, s)
	if err != nil {
		return nil, err
	}
	defer x.Close()
	c.learnIn(x)
	m, err := x.Learn(ctx, o.Hooks)
	if err != nil {
		return nil, fmt.Errorf("train SASRec: %w", err)
	}
	return byToken(s, m.Params()[0].Value, set) // the item table comes first
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

// openVectors reads the item table of a run directory.
func openVectors(ctx context.Context, dir string) (*vectorTable, error) {
	m, err := run.ReadRun(dir, "name a run directory of train sasrec")
	if err != nil {
		return nil, err
	}
	if m.Task != sasrecTask {
		return nil, &run.UsageError{Message: fmt.Sprintf("the run in %s is one of %q, which has no item vectors", dir,
			m.Task), Fix: "name a run of " + sasrecTask}
	}
	if m.Status != run.StatusDone {
		return nil, &run.UsageError{Message: fmt.Sprintf("the run in %s is not finished: %s", dir, m.Status),
			Fix: "finish it with --resume"}
	}
	w, err := experiment.OpenModel(dir)
	if err != nil {
		return nil, err
	}
	t := &vectorTable{hash: w.Meta[sasrecHashKey], named: w.Meta[sasrecIDsKey] == sasrecIDs}
	if !t.named {
		var o nextitem.Outcome
		if err := run.ReadMetrics(dir, &o); err != nil {
			return nil, err
		}
		t.named = o.Data.Recipe != slate.HistoriesRecipe
	}
	if t.rows, err = w.Matrix("item"); err != nil {
		return nil, err
	}
	path := filepath.Join(dir, sasrecItems+".tsv.gz")
	if t.ids, err = format.ReadIDs(ctx, path, format.TSV, "item_id"); err != nil {
		return nil, err
	}
	if len(t.ids) != t.rows.Rows-1 {
		return nil, fmt.Errorf("read item vectors: %s lists %d items, the table has %d", path, len(t.ids),
			t.rows.Rows-1)
	}
	return t, nil
}
