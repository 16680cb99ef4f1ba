package printed

import (
	"strings"
	"sync"

	"privrec/configs"
)

// builtInValues returns the numbers of all files that come with the program. It reads them once. A test reads every
// file, so that this cannot fail in a program that was built.
var builtInValues = sync.OnceValue(func() []Value {
	files, err := Load(configs.Files())
	if err != nil {
		return nil
	}
	all := Values(files)
	for _, f := range files {
		all = append(all, f.stated()...)
	}
	return all
})

// Of lists what a paper prints: the numbers of its tables, and statistics of data that stand in a sentence alone.
func Of(paper string) (out []Value) {
	for _, v := range builtInValues() {
		if v.Paper == paper {
			out = append(out, v)
		}
	}
	return out
}

// Word returns a word of a number by its key: table (0 for a sentence), data, method, column, over, or a key of its
// setting. It returns "" where the number has none.
func (v Value) Word(key string) Word {
	switch key {
	case "table":
		return Word(itoa(v.Table))
	case "data":
		return Word(v.Data)
	case "method":
		return Word(v.Method)
	case "column":
		return Word(v.Column)
	case "over":
		return Word(v.Over)
	}
	return v.Setting[key]
}

// Having returns the numbers that have all of the words.
func Having(among []Value, words Setting) (out []Value) {
	for _, v := range among {
		has := true
		for key, word := range words {
			has = has && v.Word(key) == word
		}
		if has {
			out = append(out, v)
		}
	}
	return out
}

// Find lists what a paper prints in a table for a method on a data set: numbers, without dashes and improvements. A
// data set has its registered name, or else its printed one. All of setting must be that of a number. method and data
// are empty where the table names none.
func Find(paper string, table int, method, data string, setting Setting) (found []Value) {
	for _, v := range builtInValues() {
		if v.Paper != paper || v.Table != table || v.Improvement || v.Number.Value == nil {
			continue
		}
		if v.Method != method || data != v.Data && (data != v.Taken || v.Taken == "") {
			continue
		}
		same := true
		for key, word := range setting {
			same = same && v.Setting[key] == word
		}
		if same {
			found = append(found, v)
		}
	}
	return found
}

// Share returns a number as a share, where it is printed in percent.
func (v Value) Share() float64 {
	if v.Metric.Unit == Percent {
		return *v.Number.Value / 100
	}
	return *v.Number.Value
}

// Shares returns numbers by the names of their metrics, which a word may precede; nil where there are none.
func Shares(found []Value, word string) map[string]float64 {
	if len(found) == 0 {
		return nil
	}
	out := make(map[string]float64, len(found))
	for _, v := range found {
		out[strings.TrimSpace(word+" "+v.Metric.Is)] = v.Share()
	}
	return out
}
