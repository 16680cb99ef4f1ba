package slates

import (
	"fmt"
	"strconv"

	"privrec/internal/dataset/format"
	"privrec/internal/perturb"
)

// Headers returns the first line of the output.
func (r *Reader) Headers() []string {
	form := r.set.OutForm
	sep, token, number := string(form.Separator()), "", ""
	switch form {
	case format.Lines:
		return []string{""}
	case format.Atomic:
		token, number = ":token", ":float"
	}
	if r.Named() {
		return []string{"user_id" + token + sep + "slate_id" + token + sep + "position" + number + sep + "item_id" +
			token + "\n"}
	}
	head := "user_id" + token
	for i := range r.t {
		head += fmt.Sprintf("%sitem_%d%s", sep, i+1, token)
	}
	return []string{head + "\n"}
}

// Append writes record i: one row, or, if slates have ids, one row for each item.
func (r *Reader) Append(b *perturb.Block[int32], i int) (err error) {
	form, sep := r.set.OutForm, r.set.OutForm.Separator()
	out := b.Lines[0]
	start := len(out)
	if out, err = form.AppendField(out, b.ID(i, 0)); err != nil {
		return perturb.Placed(err, r.set.In, "user_id", b.Line(i))
	}
	if r.Named() {
		if out, err = form.AppendField(append(out, sep), b.ID(i, 1)); err != nil {
			return perturb.Placed(err, r.set.In, "slate_id", b.Line(i))
		}
	}
	ids := out[start:]
	for k, item := range b.Cells(i) {
		if r.Named() {
			if k > 0 {
				out = append(append(out, '\n'), ids...)
			}
			out = strconv.AppendInt(append(out, sep), int64(k+1), 10)
		}
		if out, err = r.cat.Append(append(out, sep), form, item); err != nil {
			return err
		}
	}
	b.Lines[0] = append(out, '\n')
	return nil
}
