package config

import "reflect"

// Field describes a key of a configuration, or a group of keys, and the Go field behind it.
type Field struct {
	Path  string // such as "train.epochs"; keys of the entries of a list are below "list[]"
	Kind  string // of its value, as Key has it; "" for a group
	List  bool   // the value is a list
	Group bool   // it has keys below it
	Spare bool   // it is left out of files where it is zero
	Of    string // type that has the field: import path, dot, name, without type parameters
	Name  string // of the field in that type
	Type  string // of the value: as Of, "" where it has no name
}

// Fields returns the keys and groups of a configuration type, each group before its keys.
func Fields[C any]() (out []Field) {
	fieldsOf(reflect.TypeFor[C](), "", &out)
	return out
}

func fieldsOf(t reflect.Type, path string, out *[]Field) {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	for i := range t.NumField() {
		f := t.Field(i)
		name, inline, ok := keyName(f)
		if !ok {
			continue
		}
		if inline {
			fieldsOf(f.Type, path, out)
			continue
		}
		x := Field{Path: join(path, name), Of: TypeName(t), Name: f.Name, Spare: leftOut(f)}
		of := f.Type
		if of.Kind() == reflect.Pointer {
			of = of.Elem()
		}
		if !isScalar(of) && of.Kind() == reflect.Slice {
			x.List, of = true, of.Elem()
		}
		x.Type = TypeName(of)
		switch below := x.Path; {
		case isScalar(of):
			x.Kind = want(of)
			*out = append(*out, x)
		case of.Kind() == reflect.Struct:
			x.Group = true
			*out = append(*out, x)
			if x.List {
				below += "[]"
			}
			fieldsOf(of, below, out)
		default:
			x.Kind = "keys and values"
			*out = append(*out, x)
		}
	}
}

// TypeName returns the import path and the name of a type, without type parameters; "" for a type
// without a name.
func TypeName(t reflect.Type) string {
	if t.Name() == "" || t.PkgPath() == "" {
		return ""
	}
	name := t.Name()
	for i, c := range name {
		if c == '[' {
			name = name[:i]
			break
		}
	}
	return t.PkgPath() + "." + name
}
