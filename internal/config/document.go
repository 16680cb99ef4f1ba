package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"sort"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// maxBytes is the largest size of a configuration file. A real one has a few thousand bytes.
const maxBytes = 4 << 20

// Document holds the origin of every key of a configuration, so that a later check of values can point at a line.
type Document struct {
	file string
	most int                 // bytes of a text; 0: maxBytes
	pos  map[string]position // key path -> place of its value
	sets map[string]bool     // key paths that came from --set
}

type position struct{ line, column int }

// Load returns the configuration in the file at path, over the defaults def, with the overrides sets ("a.b=c") applied
// to the file. An empty path stands for a file that sets nothing: only defaults and overrides. Problems are an Errors;
// def is then returned unchanged.
func Load[C any](path string, sets []string, def C) (C, *Document, error) {
	if path == "" {
		return Parse("defaults", []byte("{}"), sets, def)
	}
	data, err := readFile(path)
	if err != nil {
		return def, nil, openError(path, err)
	}
	return Parse(path, data, sets, def)
}

// readFile returns the content of a file. Of a file that is too large it returns just enough to show that.
func readFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxBytes+1))
}

func openError(path string, err error) error {
	var pe *os.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	return Errors{{File: path, Message: "cannot read the configuration: " + err.Error(), Fix: "check the path"}}
}

// Top returns the text at a top-level key of a YAML file, "" if it has none. It decodes nothing else of the file.
func Top(path, key string) (string, error) {
	b, err := readFile(path)
	if err != nil {
		return "", openError(path, err)
	}
	root, errs := (&Document{file: path}).tree(b)
	if len(errs) > 0 {
		return "", errs
	}
	for i := 0; i+1 < len(root.Content); i += 2 {
		if k, v := root.Content[i], root.Content[i+1]; k.Value == key && v.Kind == yaml.ScalarNode {
			return v.Value, nil
		}
	}
	return "", nil
}

// Parse returns the configuration in data, like Load; name stands for the file in messages.
func Parse[C any](name string, data []byte, sets []string, def C) (C, *Document, error) {
	return ParseUpTo(maxBytes, name, data, sets, def)
}

// ParseUpTo returns the configuration in data, like Parse, for a text of at most most bytes. It is for files that are
// not configurations.
func ParseUpTo[C any](most int, name string, data []byte, sets []string, def C) (C, *Document, error) {
	doc := &Document{file: name, most: most, pos: map[string]position{}, sets: map[string]bool{}}
	root, errs := doc.tree(data)
	if len(errs) > 0 {
		return def, doc, errs
	}
	for _, s := range sets {
		if e := doc.set(root, s); e != nil {
			errs = append(errs, e)
		}
	}
	out, more := decode(doc, root, def)
	errs = append(errs, more...)
	if len(errs) > 0 {
		return def, doc, errs
	}
	return out, doc, nil
}

// tree parses one YAML document into its root mapping.
func (d *Document) tree(data []byte) (*yaml.Node, Errors) {
	fail := func(line, column int, fix, format string, args ...any) (*yaml.Node, Errors) {
		return nil, Errors{{File: d.file, Line: line, Column: column, Message: fmt.Sprintf(format, args...), Fix: fix}}
	}
	empty := func() (*yaml.Node, Errors) { return fail(1, 1, "write {} to take every default", "the file is empty") }
	malformed := func(err error) (*yaml.Node, Errors) {
		msg := syntaxError(err)
		line := faultLine(data, msg)
		fix := ""
		if tabbed(data, line) {
			fix = "indent with spaces, YAML takes no tabs"
		}
		return fail(line, 0, fix, "%s", msg)
	}
	most := d.most
	if most == 0 {
		most = maxBytes
	}
	if len(data) > most {
		return fail(0, 0, "", "larger than %d bytes, not a configuration", most)
	}
	if i := invalidUTF8(data); i >= 0 {
		line, column := lineColumn(data, i)
		return fail(line, column, "save the file as UTF-8 text", "invalid UTF-8")
	}
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var n yaml.Node
	switch err := safeDecode(dec, &n); {
	case errors.Is(err, io.EOF):
		return empty()
	case err != nil:
		return malformed(err)
	}
	var second yaml.Node
	switch err := safeDecode(dec, &second); {
	case errors.Is(err, io.EOF):
	case err != nil:
		return malformed(err)
	default:
		return fail(second.Line, second.Column, "keep one document in a file",
			"a second document starts here, only one is read")
	}
	if n.Kind != yaml.DocumentNode || len(n.Content) != 1 {
		return empty()
	}
	root := n.Content[0]
	if root.Kind == yaml.ScalarNode && root.Tag == "!!null" {
		return empty()
	}
	if root.Kind != yaml.MappingNode {
		return fail(root.Line, root.Column, "", "want keys and values at the top, found %s", describe(root))
	}
	return root, nil
}

// safeDecode decodes a document. It returns a panic of the YAML library, which malformed input can cause, as an error.
func safeDecode(dec *yaml.Decoder, n *yaml.Node) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("yaml: malformed: %v", r)
		}
	}()
	return dec.Decode(n)
}

var yamlLine = regexp.MustCompile(`^(?:yaml: )?(?:line \d+: )?`)

// syntaxError returns the first line of a YAML error without its line number. That number may be of the fault, of the
// line before or of the beginning of the surrounding block, and some errors have none.
func syntaxError(err error) string {
	text, _, _ := strings.Cut(err.Error(), "\n")
	return yamlLine.ReplaceAllString(text, "")
}

// faultLine returns the line, counted from 1, of a syntax error: the first line for which the text up to its end fails
// in the same way. An unclosed bracket or quote counts where it opens.
func faultLine(data []byte, msg string) int {
	var ends []int // of each line
	for i, c := range data {
		if c == '\n' {
			ends = append(ends, i+1)
		}
	}
	if len(ends) == 0 || ends[len(ends)-1] < len(data) {
		ends = append(ends, len(data))
	}
	line := sort.Search(len(ends)-1, func(i int) bool {
		dec := yaml.NewDecoder(bytes.NewReader(data[:ends[i]]))
		for range 2 { // no further documents are read
			if err := safeDecode(dec, new(yaml.Node)); err != nil {
				return !errors.Is(err, io.EOF) && syntaxError(err) == msg
			}
		}
		return false
	})
	return line + 1
}

// tabbed reports whether a line, counted from 1, is indented with a tab.
func tabbed(data []byte, line int) bool {
	lines := bytes.Split(data, []byte{'\n'})
	if line < 1 || line > len(lines) {
		return false
	}
	text := lines[line-1]
	return bytes.IndexByte(text[:len(text)-len(bytes.TrimLeft(text, " \t"))], '\t') >= 0
}

func invalidUTF8(data []byte) int {
	for i := 0; i < len(data); {
		r, n := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && n <= 1 {
			return i
		}
		i += n
	}
	return -1
}

func lineColumn(data []byte, at int) (int, int) {
	before := data[:at]
	line := bytes.Count(before, []byte{'\n'}) + 1
	column := at - (bytes.LastIndexByte(before, '\n') + 1) + 1
	return line, column
}

// OneOf returns nil if x, the value at a key path, is one of the allowed words, and otherwise a
// problem that lists them and names the closest.
func (d *Document) OneOf(path, x string, allowed ...string) *Error {
	if slices.Contains(allowed, x) {
		return nil
	}
	e := d.Errorf(path, "must be one of %s, got %q", strings.Join(allowed, ", "), x)
	if best := Nearest(x, allowed); best != "" {
		e.Fix = fmt.Sprintf("did you mean %q?", best)
	}
	return e
}

// Errorf returns a problem with the value at a key path. It points at the line that set the
// value, at the --set that did, or at the file for a default value.
func (d *Document) Errorf(path, format string, args ...any) *Error {
	e := &Error{Path: path, Message: fmt.Sprintf(format, args...)}
	if d == nil {
		return e
	}
	e.File = d.file
	for p := path; p != ""; p = parent(p) {
		if d.sets[p] {
			e.Set = p
			return e
		}
		if at, ok := d.pos[p]; ok {
			e.Line, e.Column = at.line, at.column
			return e
		}
	}
	return e
}

// Given reports whether the file or an override set the key path, so that it is not at its
// default.
func (d *Document) Given(path string) bool {
	if d == nil {
		return false
	}
	_, ok := d.pos[path]
	return ok || d.sets[path]
}

// Overridden reports whether the key path itself was set by an override.
func (d *Document) Overridden(path string) bool { return d != nil && d.sets[path] }

// File returns the name of the configuration in messages.
func (d *Document) File() string {
	if d == nil {
		return ""
	}
	return d.file
}

func parent(path string) string {
	i := strings.LastIndexByte(path, '.')
	if i < 0 {
		return ""
	}
	return path[:i]
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}
