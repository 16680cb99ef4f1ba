package config

import (
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

// Setting holds one key of a configuration with its value as text. A list is one value.
type Setting struct{ Key, Value string }

// Settings returns the keys of a configuration file in its order, as paths ("train.epochs"). name stands for the file
// in messages. It needs no type: it reads the configuration of any task.
func Settings(name string, data []byte) ([]Setting, error) {
	d := &Document{file: name}
	root, errs := d.tree(data)
	if len(errs) > 0 {
		return nil, errs
	}
	var out []Setting
	var walk func(path string, n *yaml.Node)
	walk = func(path string, n *yaml.Node) {
		if n.Kind != yaml.MappingNode {
			out = append(out, Setting{path, flat(n)})
			return
		}
		for i := 0; i+1 < len(n.Content); i += 2 {
			key := n.Content[i].Value
			if path != "" {
				key = path + "." + key
			}
			walk(key, n.Content[i+1])
		}
	}
	walk("", root)
	return out, nil
}

// flat returns a value on one line. An alias is shown by its name, because it could refer to itself.
func flat(n *yaml.Node) string {
	switch n.Kind {
	case yaml.SequenceNode:
		items := make([]string, len(n.Content))
		for i, c := range n.Content {
			items[i] = flat(c)
		}
		return "[" + strings.Join(items, ", ") + "]"
	case yaml.MappingNode:
		var items []string
		for i := 0; i+1 < len(n.Content); i += 2 {
			items = append(items, n.Content[i].Value+": "+flat(n.Content[i+1]))
		}
		return "{" + strings.Join(items, ", ") + "}"
	case yaml.AliasNode:
		return "*" + n.Value
	}
	if n.Value == "" {
		return strconv.Quote(n.Value)
	}
	return n.Value
}
