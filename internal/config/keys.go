package config

import (
	"reflect"
)

// Key is one key of a configuration.
type Key struct {
	Path string // such as "train.epochs"
	Kind string // of its value: "a number", "true or false", "text" and so on
	List bool   // the value is a list of these
}

// Keys returns the keys of a configuration type down to its single values and lists, in the order of its fields.
func Keys[C any]() []Key {
	var out []Key
	keysOf(reflect.TypeFor[C](), "", &out)
	return out
}

// keysOf appends the keys at a path and below it. A map, whose keys are free, counts as one key.
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

// Nearest returns the known word closest to a mistyped one, or the first of several. It counts letters to insert,
// delete or replace, and pairs of neighbours to swap. It returns "" if half of the word would have to change.
func Nearest(word string, known []string) (best string) {
	least := len(word)/2 + 1
	for _, k := range known {
		if n := distance(word, k); n < least {
			best, least = k, n
		}
	}
	return best
}

// distance returns the Damerau-Levenshtein distance of two short words, in which no letter is
// edited twice.
func distance(a, b string) int {
	var before []int // row i-2
	last := make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range len(a) {
		row := make([]int, len(b)+1)
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			row[j+1] = min(last[j+1]+1, row[j]+1, last[j]+cost)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last = last, row
	}
	return last[len(b)]
}
