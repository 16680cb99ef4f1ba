package config

import (
	"fmt"
	"strconv"

	"gopkg.in/yaml.v3"
)

// Flat returns the single values of a configuration by their paths, such as "train.epochs": "10". An entry of a list
// has its index in its path. The text is a whole configuration from Encode.
func Flat(name string, text []byte) (map[string]string, error) {
	root, errs := (&Document{file: name, pos: map[string]position{}, sets: map[string]bool{}}).tree(text)
	if len(errs) > 0 {
		return nil, errs
	}
	out := map[string]string{}
	if err := leaves(root, "", out); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return out, nil
}

// leaves adds the values at a path and below it.
func leaves(n *yaml.Node, path string, out map[string]string) error {
	switch n.Kind {
	case yaml.ScalarNode:
		out[path] = n.Value
	case yaml.SequenceNode:
		for i, c := range n.Content {
			if err := leaves(c, join(path, strconv.Itoa(i)), out); err != nil {
				return err
			}
		}
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			if err := leaves(n.Content[i+1], join(path, n.Content[i].Value), out); err != nil {
				return err
			}
		}
	default:
		return fmt.Errorf("%s: want a value, a list or keys, found %s", path, describe(n))
	}
	return nil
}
