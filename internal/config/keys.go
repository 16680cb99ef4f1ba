package config

import "reflect"

// Key is one key of a configuration.
type Key struct {
	Path string // such as "train.epochs"
	Kind string // of its value: "a number", "true or false", "text" and so on
	List bool   // the value is a list of these
}

// Keys lists the keys of a configuration type down to its single values and lists, in the order
// of its fields.
func Keys[C any]() []Key {
	var out []Key
	keysOf(reflect.TypeFor[C](), "", &out)
	return out
}

// keysOf lists the keys at a path and below it. A map, whose keys are free, counts as one key.
func keysOf(t reflect.Type, path string, out *[]Key) {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case isScalar(t):
		*out = append(*out, Key{Path: path, Kind: want(t)})
	case t.Kind() == reflect.Slice && isScalar(t.Elem()):
		*out = append(*out, Key{Path: path, Kind: want(t.Elem()), List: true})
	case t.Kind() == reflect.Struct:
		for i := range t.NumField() {
			f := t.Field(i)
			name, inline, ok := keyName(f)
			switch {
			case !ok:
			case inline:
				keysOf(f.Type, path, out)
			default:
				keysOf(f.Type, join(path, name), out)
			}
		}
	default:
		*out = append(*out, Key{Path: path, Kind: "keys and values"})
	}
}
