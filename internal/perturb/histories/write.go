package histories

import (
	"privrec/internal/dataset/format"
	"privrec/internal/perturb"
)

// Headers returns the first lines of the output and of the list of empty rows.
func (r *Reader) Headers() []string {
	head := "user_id\titem_id\tposition\n"
	switch r.set.OutForm {
	case format.Atomic:
		head = "user_id:token\titem_id:token\tposition:float\n"
	case format.CSV:
		head = "user_id,item_id,position\n"
	case format.Lines:
		head = ""
	}
	return []string{head, "user_id\n"}
}

// Append writes record i: one row for each cell that is not padding, or one line for the user. A
// user without items goes to the list of empty rows.
func (r *Reader) Append(b *perturb.Block[int32], i int) (err error) {
	form, sep := r.set.OutForm, r.set.OutForm.Separator()
	out := b.Lines[0]
	start := len(out)
	if out, err = form.AppendField(out, b.ID(i, 0)); err != nil {
		return err
	}
	user := out[start:]
	first := true
	for c, id := range b.Cells(i) {
		if id == 0 {
			continue
		}
		if !first && form != format.Lines {
			out = append(out, user...)
		}
		first = false
		if out, err = r.cat.Append(append(out, sep), form, id-1); err != nil {
			return err
		}
		if form != format.Lines {
			out = append(out, r.tails[c]...)
		}
	}
	switch {
	case first:
		out = out[:start]
		if b.Lines[1], err = format.TSV.AppendField(b.Lines[1], b.ID(i, 0)); err != nil {
			return err
		}
		b.Lines[1] = append(b.Lines[1], '\n')
	case form == format.Lines:
		out = append(out, '\n')
	}
	b.Lines[0] = out
	return nil
}
