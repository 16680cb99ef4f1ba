// Package data carries the list of data sources inside the program, so that an
// installed binary knows where every set comes from without its repository.
package data

import _ "embed"

// Sources is the text of sources.yaml, the file beside this one. It is read by
// internal/fetch, strictly.
//
//go:embed sources.yaml
var Sources []byte
