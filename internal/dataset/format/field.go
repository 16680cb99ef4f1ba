package format

import (
	"bytes"
	"fmt"

	"privrec/internal/dataset"
)

// AppendField appends an id as a table of the form can hold it: quoted where CSV needs it. It
// fails on an id with a separator of the form in it, with an Error to which the caller adds the
// place.
func (f Form) AppendField(dst, id []byte) ([]byte, error) {
	bad := "\t"
	switch f {
	case CSV:
		if !bytes.ContainsAny(id, ",\"") {
			return append(dst, id...), nil
		}
		dst = append(dst, '"')
		dst = append(dst, bytes.ReplaceAll(id, []byte(`"`), []byte(`""`))...)
		return append(dst, '"'), nil
	case Lines:
		bad = " \t"
	}
	if bytes.ContainsAny(id, bad) {
		return nil, &dataset.Error{Msg: fmt.Sprintf("id %.40q has a separator of the output's form %q in it", id, string(f)), Hint: "--out-form csv quotes what it must"}
	}
	return append(dst, id...), nil
}
