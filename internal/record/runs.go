package record

import (
	"bytes"
	"encoding/json"
	"maps"
)

// MarshalJSON writes a line for every run.
func (r runs) MarshalJSON() ([]byte, error) {
	var first map[string]json.RawMessage
	var b bytes.Buffer
	b.WriteByte('[')
	for i, x := range r {
		fields, err := fieldsOf(x)
		if err != nil {
			return nil, err
		}
		if i == 0 {
			first = fields
		} else {
			b.WriteByte(',')
			for key := range first {
				if _, ok := fields[key]; !ok {
					fields[key] = json.RawMessage("null")
				}
			}
			maps.DeleteFunc(fields, func(key string, v json.RawMessage) bool { return bytes.Equal(v, first[key]) })
		}
		line, err := json.Marshal(fields) // by key
		if err != nil {
			return nil, err
		}
		b.WriteByte('\n')
		b.Write(line)
	}
	b.WriteByte(']')
	return b.Bytes(), nil
}

func fieldsOf(x Run) (map[string]json.RawMessage, error) {
	b, err := json.Marshal(x)
	if err != nil {
		return nil, err
	}
	var fields map[string]json.RawMessage
	return fields, json.Unmarshal(b, &fields)
}

// UnmarshalJSON reads the output of MarshalJSON, and refuses unknown fields.
func (r *runs) UnmarshalJSON(b []byte) error {
	var all []map[string]json.RawMessage
	if err := json.Unmarshal(b, &all); err != nil {
		return err
	}
	*r = nil
	for i, own := range all {
		fields := own
		if i > 0 {
			fields = maps.Clone(all[0])
			maps.Copy(fields, own)
		}
		whole, err := json.Marshal(fields)
		if err != nil {
			return err
		}
		d := json.NewDecoder(bytes.NewReader(whole))
		d.DisallowUnknownFields()
		var x Run
		if err := d.Decode(&x); err != nil {
			return err
		}
		*r = append(*r, x)
	}
	return nil
}
