package config

import (
	"fmt"
	"slices"

	"gopkg.in/yaml.v3"
)

// Diff lists the keys in which two configurations of one type differ, with b's value, such as
// "train.rate=0.01".
func Diff(a, b any) ([]string, error) {
	var flat [2]map[string]string
	var keys []string
	for i, c := range []any{a, b} {
		text, err := Encode(c)
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

// flatten stores every value below n under its dotted path.
func flatten(n *yaml.Node, path string, into map[string]string, keys *[]string) {
	if n.Kind != yaml.MappingNode {
		text := n.Value
		for i, item := range n.Content {
			if i > 0 {
				text += ","
			}
			text += item.Value
		}
		into[path] = text
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
