package imported

import (
	"context"
	"os"

	"privrec/internal/dataset"
	"privrec/internal/lists"
	"privrec/internal/run"
)

// Model is an imported model: its lists or vectors, and the rows that came with it.
type Model struct {
	Common
	Rows   *Rows
	Shown  Shown
	Counts Counts
}

// load reads the rows and then the form's own files, and assigns numbers to users and items of both.
func load(ctx context.Context, c Common, own func(ids *lists.IDs) (Parsed, error)) (*Model, error) {
	if c.Rows.Train == "" {
		return nil, &run.UsageError{Message: "no file of training rows is named",
			Fix: "name the rows that the model was trained on with --train: histories are what the attacks guess, " +
				"and what tells a good list from a known one"}
	}
	r, err := readRows(ctx, c.Rows)
	if err != nil {
		return nil, run.Interrupted(ctx, err)
	}
	p, err := own(&r.ids)
	if err != nil {
		return nil, run.Interrupted(ctx, err)
	}
	m := &Model{Common: c}
	rows, to, item, err := r.number(&m.Counts)
	if err != nil {
		return nil, err
	}
	m.Rows = rows
	if m.Shown, err = p.Number(rows, to, item, &m.Counts); err != nil {
		return nil, err
	}
	for _, f := range r.all() {
		file, err := fileOf(f)
		if err != nil {
			return nil, err
		}
		rows.Data.Source.Files = append(rows.Data.Source.Files, file)
		m.Counts.Left = append(m.Counts.Left, f.Left()...)
	}
	rows.Data.Source.Files = append(rows.Data.Source.Files, p.Files()...)
	rows.Data.Source.Notes = m.Counts.warnings()
	return m, nil
}

// fileOf returns the description of a file that was read.
func fileOf(f *lists.File) (dataset.File, error) {
	s, err := os.Stat(f.Path)
	if err != nil {
		return dataset.File{}, &dataset.Error{File: f.Path, Msg: "cannot read", Err: err}
	}
	return dataset.File{Path: f.Path, Bytes: s.Size(), SHA256: f.Digest}, nil
}

// keep writes the rows into the run directory.
func (r *Rows) keep(env *run.Env) error {
	for _, t := range []struct {
		name string
		of   [][]int32
	}{{"train", r.Order}, {"truth", r.Data.Test}, {"others", r.Others}} {
		var users, items []string
		for u, list := range t.of {
			for _, i := range list {
				users, items = append(users, r.Data.UserIDs[u]), append(items, r.Data.ItemIDs[i])
			}
		}
		if len(users) == 0 {
			continue
		}
		if err := env.WriteScores(folder+"/"+t.name, run.Column{Name: "user_id", Values: users},
			run.Column{Name: "item_id", Values: items}); err != nil {
			return err
		}
	}
	return nil
}
