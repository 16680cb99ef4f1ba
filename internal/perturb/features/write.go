package features

import (
	"strconv"

	"privrec/internal/dataset/format"
	"privrec/internal/perturb"
)

// header returns the first line of the output. It fails on names that the form cannot hold.
func (r *Reader) header() ([]byte, error) {
	token, number := "", ""
	if r.src.OutForm == format.Atomic {
		token, number = ":token", ":float"
	}
	head := []byte(userColumn + token)
	var names []string
	if r.src.Statistics != nil {
		names = r.src.Statistics.Names
	}
	for _, c := range r.src.Columns {
		names = append(names[:len(names):len(names)], c.Headings()...)
	}
	var err error
	for _, name := range names {
		if head, err = r.src.OutForm.AppendField(append(head, r.src.OutForm.Separator()),
			[]byte(name+number)); err != nil {
			return nil, perturb.Refuse("--out-form csv quotes what it must",
				"the name %q cannot stand in the header of the output", name)
		}
	}
	return append(head, '\n'), nil
}

// Headers returns the first line of the output.
func (r *Reader) Headers() []string {
	head, _ := r.header() // Open has made it
	return []string{string(head)}
}

// Append writes record i: the user, then all cells.
func (r *Reader) Append(b *perturb.Block[float64], i int) (err error) {
	sep := r.src.OutForm.Separator()
	out := b.Lines[0]
	if out, err = r.src.OutForm.AppendField(out, b.ID(i, 0)); err != nil {
		return perturb.Placed(err, r.src.Attributes, userColumn, b.Line(i))
	}
	for _, v := range b.Cells(i) {
		out = strconv.AppendFloat(append(out, sep), v, 'g', -1, 64)
	}
	b.Lines[0] = append(out, '\n')
	return nil
}
