package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

// set applies one override "a.b=value" to the tree. The value is YAML, so lists are written [1,
// 2]. Since it edits the tree, not the decoded struct, overrides pass every check that the file
// passes.
func (d *Document) set(root *yaml.Node, assignment string) *Error {
	path, text, ok := strings.Cut(assignment, "=")
	path = strings.TrimSpace(path)
	fail := func(message string) *Error {
		return &Error{Set: assignmentName(path, assignment), Message: message, Fix: "write --set key.sub=value"}
	}
	if !ok {
		return fail("no '=' in the override")
	}
	if path == "" || strings.Contains("."+path+".", "..") {
		return fail("empty key in the override")
	}
	value, err := parseValue(text)
	if err != nil {
		return fail("value " + strconv.Quote(text) + " is not YAML: " + syntaxError(err))
	}
	keys := strings.Split(path, ".")
	at := root
	for i, key := range keys[:len(keys)-1] {
		next := child(at, key)
		if next == nil {
			next = &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
			at.Content = append(at.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: key}, next)
			d.sets[strings.Join(keys[:i+1], ".")] = true
		}
		if next.Kind != yaml.MappingNode {
			return fail(strings.Join(keys[:i+1], ".") + " is " + describe(next) + ", which has no keys")
		}
		at = next
	}
	last := keys[len(keys)-1]
	d.sets[path] = true
	if old := child(at, last); old != nil {
		*old = *value
		return nil
	}
	at.Content = append(at.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: last}, value)
	return nil
}

func assignmentName(path, assignment string) string {
	if path == "" {
		return strconv.Quote(assignment)
	}
	return path
}

// parseValue parses the right side of an override. No text after '=' is the empty string, not null: "--set name=" sets
// name to "".
func parseValue(text string) (*yaml.Node, error) {
	if strings.TrimSpace(text) == "" {
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: ""}, nil
	}
	dec := yaml.NewDecoder(bytes.NewReader([]byte(text)))
	var n, more yaml.Node
	if err := safeDecode(dec, &n); err != nil {
		if errors.Is(err, io.EOF) {
			err = errors.New("only a comment")
		}
		return nil, err
	}
	if err := safeDecode(dec, &more); !errors.Is(err, io.EOF) {
		return nil, errors.New("more than one value")
	}
	if n.Kind != yaml.DocumentNode || len(n.Content) != 1 {
		return nil, errors.New("no value")
	}
	clearPositions(n.Content[0])
	return n.Content[0], nil
}

// clearPositions marks a subtree as coming from the command line, where line and column have no
// meaning.
func clearPositions(n *yaml.Node) {
	n.Line, n.Column = 0, 0
	for _, c := range n.Content {
		clearPositions(c)
	}
}

// child returns the value of key in a mapping; nil if absent.
func child(m *yaml.Node, key string) *yaml.Node {
	for i := 0; i+1 < len(m.Content); i += 2 {
		if m.Content[i].Value == key {
			return m.Content[i+1]
		}
	}
	return nil
}

// Diff returns the keys in which two configurations of one type differ, with b's value, such as "train.rate=0.01".
func Diff(a, b any) ([]string, error) {
	var flat [2]map[string]string
	var keys []string
	for i, c := range [][2]any{{a, b}, {b, a}} {
		text, err := encodeOver(c[0], c[1])
		if err != nil {
			return nil, err
		}
		var doc yaml.Node
		if err := yaml.Unmarshal(text, &doc); err != nil {
			return nil, fmt.Errorf("compare configurations: %w", err)
		}
		flat[i] = map[string]string{}
		if len(doc.Content) > 0 {
			flatten(doc.Content[0], "", flat[i], &keys)
		}
	}
	var out []string
	slices.Sort(keys)
	for _, k := range slices.Compact(keys) {
		if flat[0][k] != flat[1][k] {
			out = append(out, k+"="+flat[1][k])
		}
	}
	return out, nil
}

// words returns a list item on one line. Only mappings and lists within it have brackets.
func words(n *yaml.Node) string {
	var parts []string
	switch n.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			parts = append(parts, n.Content[i].Value+": "+words(n.Content[i+1]))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case yaml.SequenceNode:
		for _, item := range n.Content {
			parts = append(parts, words(item))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	}
	return n.Value
}

// flatten stores every value below n under its dotted path.
func flatten(n *yaml.Node, path string, into map[string]string, keys *[]string) {
	if n.Kind != yaml.MappingNode {
		items := []string{n.Value}
		if n.Kind == yaml.SequenceNode {
			items = nil
			for _, item := range n.Content {
				items = append(items, words(item))
			}
		}
		into[path] = strings.Join(items, ",")
		*keys = append(*keys, path)
		return
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i].Value
		if path != "" {
			key = path + "." + key
		}
		flatten(n.Content[i+1], key, into, keys)
	}
}
