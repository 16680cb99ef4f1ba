// Package config reads strict YAML into typed configurations.
//
// A YAML library that is lenient by default turns a typing mistake into a wrong experiment.
// gopkg.in/yaml.v3 takes 1.5 for an integer as 1, a null as "keep the default", and the first
// of two documents as the whole file. Here each of these is an error that names file, line,
// column and key, and all problems of a file are reported at once.
//
// Errors are: unknown and duplicate keys; a value of the wrong type; a fraction or exponent for
// an integer; an integer with a leading zero (YAML 1.1 reads it as octal) or in other digits
// than plain decimal ones (0x10, 0o17, 0b11, 1_000); a number so small that it reads as 0; null
// (unless the field is a pointer, for which it is nil); NaN; infinity (unless the field is
// tagged `config:"inf"`); a second document; an empty file; anchors, aliases, merge keys,
// custom tags; and keys that are null or tagged.
//
// A field is named by its `yaml:"name"` tag, or by its lower-cased Go name. `yaml:",inline"`
// lifts a struct's fields one level up, and `yaml:"-"` hides a field. A key that is absent
// keeps the value of the default configuration. A list or map that is present replaces the
// default as a whole.
//
// To replace gopkg.in/yaml.v3 by its maintained fork go.yaml.in/yaml/v3, change one import path
// in this package, the only one that uses YAML.
package config
