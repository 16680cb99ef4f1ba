package config

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"gopkg.in/yaml.v3"
)

// Encode writes the effective configuration, including defaults, in canonical form: fields in
// the order of the type, map keys sorted, each number in the fewest digits that read back to
// it. Parsing the result gives c again.
func Encode(c any) ([]byte, error) {
	var b bytes.Buffer
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	if err := e.Encode(c); err != nil {
		return nil, fmt.Errorf("encode configuration: %w", err)
	}
	if err := e.Close(); err != nil {
		return nil, fmt.Errorf("encode configuration: %w", err)
	}
	return b.Bytes(), nil
}

// Hash returns the SHA-256 of the canonical encoding, in hexadecimal. Comments, key order and
// explicit defaults do not change it; any effective value does.
func Hash(c any) (string, error) {
	b, err := Encode(c)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:]), nil
}
