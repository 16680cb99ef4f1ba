package lists

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"privrec/internal/dataset"
	"privrec/internal/dataset/format"
)

// isJSON reports whether a line begins as one of JSON lines does.
func isJSON(line []byte) bool { return bytes.HasPrefix(bytes.TrimLeft(line, " \t"), []byte("{")) }

// jsonLines reads a file with a JSON object in each line: a row, as pandas writes it with orient="records", or a user
// with lists, as Spark writes recommendations. A list holds ids, or objects of which each has an id.
func (p *parser) jsonLines() error {
	var r *rows
	var v [][]byte
	err := p.in.EachRow(&format.Splitter{Sep: "\n"}, []string{"line"}, func(fields [][]byte) error {
		line := fields[0]
		o, err := readObject(line)
		if err != nil {
			return p.in.Fail("", err.Error(), "each line is one object, as pandas writes it with orient=\"records\", lines=True")
		}
		if r == nil {
			if r, err = p.beginLists(o.names, o.inLists(), p.in.Fail); err != nil {
				return err
			}
		}
		if !slices.Equal(o.names, r.header) {
			return p.in.Fail("", "the names "+strings.Join(o.names, ", ")+" are not those of the first line: "+strings.Join(r.header, ", "), "give all lines the same names, in one order; null is a missing value")
		}
		length, one := 1, true
		for _, at := range r.used() {
			if list := o.lists[at]; list != nil {
				if !one && len(list) != length {
					return p.in.Fail(r.header[at], fmt.Sprintf("a list of %d values, beside one of %d", len(list), length), "")
				}
				length, one = len(list), false
			}
		}
		if length == 0 {
			p.file.Empty++
		}
		for k := range length {
			v = v[:0]
			for at, text := range o.values {
				if list := o.lists[at]; list != nil {
					if text = nil; k < len(list) {
						text = list[k]
					}
				}
				v = append(v, text)
			}
			if r.place = 0; !one && r.ordered() {
				r.place = int64(k + 1)
			}
			if err := r.one(v); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil || r == nil {
		return err
	}
	return r.end()
}

// beginLists finds the columns of rows that may hold lists. inLists says which columns do.
func (p *parser) beginLists(header []string, inLists []bool, fail func(field, msg, hint string) error) (*rows, error) {
	r, err := p.begin(header, fail)
	if err != nil {
		return nil, err
	}
	if inLists[r.c.user] {
		return nil, fail(header[r.c.user], "holds lists of users", "a row is about one user")
	}
	r.listed = inLists[r.c.item]
	for _, at := range r.used() {
		if inLists[at] && !r.listed {
			return nil, fail(header[at], "holds lists, and "+header[r.c.item]+" does not", "a list has a value for each item of a row")
		}
	}
	if r.ordered() {
		p.file.Ranked, r.c.orders = true, nil
		r.seen = newSeen(header, r.c)
	}
	return r, nil
}

// used lists the columns that are read.
func (r *rows) used() (at []int) {
	for _, i := range []int{r.c.user, r.c.item, r.c.rank, r.c.score, r.c.relevance, r.c.time} {
		if i >= 0 {
			at = append(at, i)
		}
	}
	return at
}

// ordered reports whether the place of an item within its row is its rank.
func (r *rows) ordered() bool {
	return r.listed && r.kind == Recommended && r.c.rank < 0 && r.c.score < 0
}

// object is a JSON object, flat: a name has a value or a list of values. The fields of the objects of a list are lists.
type object struct {
	names  []string
	values [][]byte   // nil where the name has a list
	lists  [][][]byte // nil where the name has a value
}

func (o *object) inLists() []bool {
	out := make([]bool, len(o.names))
	for i, l := range o.lists {
		out[i] = l != nil
	}
	return out
}

func (o *object) put(name string, value []byte, list [][]byte) error {
	if slices.Contains(o.names, name) {
		return fmt.Errorf("the name %s is twice in one object", dataset.Quote([]byte(name)))
	}
	o.names, o.values, o.lists = append(o.names, name), append(o.values, value), append(o.lists, list)
	return nil
}

// readObject reads a line that must be one object.
func readObject(line []byte) (*object, error) {
	d := json.NewDecoder(bytes.NewReader(line))
	d.UseNumber()
	o := &object{}
	t, err := d.Token()
	if err != nil || t != json.Delim('{') {
		return nil, errors.New("not a JSON object: " + dataset.Quote(line))
	}
	if err := o.fields(d, ""); err != nil {
		return nil, notJSON(err)
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errors.New("more than one JSON object in a line")
	}
	return o, nil
}

// notJSON explains an error of the decoder.
func notJSON(err error) error {
	var s *json.SyntaxError
	switch {
	case errors.As(err, &s):
		return fmt.Errorf("not JSON at byte %d: %w", s.Offset, err)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("the JSON object ends too early: was the file cut?")
	}
	return err
}

// fields reads the names and values of an object whose brace has been read. The names of an object within one begin
// with its name.
func (o *object) fields(d *json.Decoder, of string) error {
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return err
		}
		text := of + name.(string)
		t, err := d.Token()
		if err != nil {
			return err
		}
		switch t {
		case json.Delim('{'):
			err = o.fields(d, text+".")
		case json.Delim('['):
			err = o.array(d, text)
		default:
			err = o.put(text, scalar(t), nil)
		}
		if err != nil {
			return err
		}
	}
	_, err := d.Token() // the closing brace
	return err
}

// array reads a list whose bracket has been read: of values, or of objects of values.
func (o *object) array(d *json.Decoder, name string) error {
	list := [][]byte{}
	var fields *object // of the first element that is an object
	columns := [][][]byte{}
	for n := 0; d.More(); n++ {
		t, err := d.Token()
		if err != nil {
			return err
		}
		switch t {
		case json.Delim('['):
			return fmt.Errorf("%s holds lists of lists: write an object with an id and a score for each item", dataset.Quote([]byte(name)))
		case json.Delim('{'):
			e := &object{}
			if err := e.fields(d, ""); err != nil {
				return err
			}
			if fields == nil {
				fields, columns = e, make([][][]byte, len(e.names))
			}
			if n != len(columns[0]) || !slices.Equal(e.names, fields.names) || slices.Contains(e.inLists(), true) {
				return fmt.Errorf("the elements of %s are not alike", dataset.Quote([]byte(name)))
			}
			for i, v := range e.values {
				columns[i] = append(columns[i], v)
			}
		default:
			if fields != nil {
				return fmt.Errorf("the elements of %s are not alike", dataset.Quote([]byte(name)))
			}
			list = append(list, scalar(t))
		}
	}
	if _, err := d.Token(); err != nil { // the closing bracket
		return err
	}
	if fields == nil {
		return o.put(name, nil, list)
	}
	if len(list) > 0 {
		return fmt.Errorf("the elements of %s are not alike", dataset.Quote([]byte(name)))
	}
	for i, field := range fields.names {
		if err := o.put(field, nil, columns[i]); err != nil {
			return err
		}
	}
	return nil
}

// scalar returns the text of a value; null is empty.
func scalar(t json.Token) []byte {
	switch t := t.(type) {
	case string:
		return []byte(t)
	case json.Number:
		return []byte(t)
	case bool:
		if t {
			return []byte("true")
		}
		return []byte("false")
	}
	return []byte{}
}
