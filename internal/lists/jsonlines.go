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

// isJSON reports whether a line begins like one of JSON lines.
func isJSON(line []byte) bool { return bytes.HasPrefix(bytes.TrimLeft(line, " \t"), []byte("{")) }

// jsonLines reads a file with a JSON object in each line. An object is a row, as pandas writes it with
// orient="records", or a user with lists, as Spark writes recommendations. A list holds ids, or objects that each have
// an id.
func (p *parser) jsonLines() error {
	var r *rows
	err := p.in.EachRow(&format.Splitter{Sep: "\n"}, []string{"line"}, func(line [][]byte) error {
		o, err := readObject(line[0])
		if err != nil {
			return p.in.Fail("", err.Error(),
				`each line is one object, as pandas writes it with orient="records", lines=True`)
		}
		if o.noItems(r) {
			p.file.Empty++
			return nil
		}
		if r == nil {
			if r, err = p.begin(o.names, o.inLists(), p.in.Fail); err != nil {
				return err
			}
		}
		return r.object(o)
	})
	if err != nil || r == nil {
		return err
	}
	return r.end()
}

// object reads a line with the names and the lists of the first one.
func (r *rows) object(o *object) error {
	const alike = "give all lines the same names, in one order; null is a missing value"
	if !slices.Equal(o.names, r.header) {
		return r.in.Fail("", "the names "+strings.Join(o.names, ", ")+" are not those of the first line: "+
			strings.Join(r.header, ", "), alike)
	}
	for at, is := range o.inLists() {
		if is != r.inLists[at] {
			return r.in.Fail(r.header[at], "is a list in one line and none in another", alike)
		}
	}
	switch {
	case r.c.places != nil:
		return r.wide(o.values)
	case !r.listed:
		return r.one(o.values)
	}
	length := len(o.lists[r.c.item])
	for _, at := range r.c.used() {
		if list := o.lists[at]; list != nil && len(list) != length {
			return r.in.Fail(r.header[at], fmt.Sprintf("a list of %d values, beside one of %d", len(list), length), "")
		}
	}
	return r.many(o.values, o.lists, length)
}

// object holds a JSON object in flat form: a name has a value or a list of values. The fields of the objects of a list
// become lists.
type object struct {
	names  []string
	values [][]byte   // nil where the name has a list
	lists  [][][]byte // nil where the name has a value
}

// inLists returns which names have a list.
func (o *object) inLists() []bool {
	out := make([]bool, len(o.names))
	for i, l := range o.lists {
		out[i] = l != nil
	}
	return out
}

// noItems reports whether a line holds no item: its lists are empty and, if r knows the columns, items are in lists.
func (o *object) noItems(r *rows) bool {
	lists := 0
	for at, list := range o.lists {
		switch {
		case list == nil && r == nil && format.Item.Means(o.names[at]), len(list) > 0:
			return false
		case list != nil:
			lists++
		}
	}
	return lists > 0 && (r == nil || r.listed)
}

// put adds a name with its value or its list.
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
	if err := o.fields(d, "", 1); err != nil {
		return nil, notJSON(err)
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errors.New("more than one JSON object in a line")
	}
	return o, nil
}

// notJSON returns an explanation of an error of the decoder.
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

// mostNested is the largest nesting depth of objects.
const mostNested = 64

// fields reads the names and values of an object whose brace has been read, at a depth from 1. The names inside a
// nested object begin with that object's name.
func (o *object) fields(d *json.Decoder, of string, depth int) error {
	if depth > mostNested {
		return fmt.Errorf("objects are nested more than %d deep", mostNested)
	}
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
			err = o.fields(d, text+".", depth+1)
		case json.Delim('['):
			err = o.array(d, text, depth+1)
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

// array reads a list, of values or of objects of values, whose bracket has been read, at a depth from 1.
func (o *object) array(d *json.Decoder, name string, depth int) error {
	list, n := [][]byte{}, 0
	var first *object // of the list
	var columns [][][]byte
	unlike := fmt.Errorf("the elements of %s are not alike", dataset.Quote([]byte(name)))
	for ; d.More(); n++ {
		t, err := d.Token()
		if err != nil {
			return err
		}
		switch t {
		case json.Delim('['):
			return fmt.Errorf("%s holds lists of lists: write an object with an id and a score for each item",
				dataset.Quote([]byte(name)))
		case json.Delim('{'):
			e := &object{}
			if err := e.fields(d, "", depth); err != nil {
				return err
			}
			if first == nil {
				first, columns = e, make([][][]byte, len(e.names))
			}
			if len(list) > 0 || len(e.names) == 0 || !slices.Equal(e.names, first.names) ||
				slices.Contains(e.inLists(), true) {
				return unlike
			}
			for i, v := range e.values {
				columns[i] = append(columns[i], v)
			}
		default:
			if first != nil {
				return unlike
			}
			list = append(list, scalar(t))
		}
	}
	if _, err := d.Token(); err != nil { // the closing bracket
		return err
	}
	if first == nil {
		return o.put(name, nil, list)
	}
	for i, field := range first.names {
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
