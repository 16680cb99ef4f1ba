// Package configs holds the settings that ship with the program, so that an
// installed one finds them without a checkout: one YAML a setting in a folder a
// paper, and in tables one grid a printed table.
package configs

import "embed"

//go:embed */*.yaml
var files embed.FS

// Files are the settings, by paths such as "dipsgnn/ml-1m.yaml".
func Files() embed.FS { return files }
