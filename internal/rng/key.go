package rng

import (
	"crypto/hmac"
	cryptorand "crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
)

// Key is a secret from which streams are derived. A Seed is a number that people choose and repeat; a Key has 256 bits
// that nobody can guess. It prints as a placeholder, so that no message, log or result contains its bytes by accident.
type Key struct{ b [32]byte }

// NewKey returns a key of the operating system's random bytes.
func NewKey() (k Key) {
	cryptorand.Read(k.b[:]) // fills it or ends the program: it never returns an error
	return k
}

// Key returns the key of a seed. Whoever knows the seed knows the key.
func (s Seed) Key() (k Key) {
	k.b = sha256.Sum256(binary.LittleEndian.AppendUint64([]byte("privrec key of a seed\x00"), uint64(s)))
	return k
}

// Stream returns the stream of the fields under the key, at its start. Its identity is the first
// 128 bits of the HMAC-SHA-256 of the fields, each after its length: no two lists of fields give
// the same bytes, and without the key the streams of two lists are unrelated, even where an
// attacker chose the lists.
func (k Key) Stream(fields ...string) Stream {
	sum := k.mac("stream", fields...)
	return Stream{id: identity{
		binary.LittleEndian.Uint32(sum[0:]), binary.LittleEndian.Uint32(sum[4:]),
		binary.LittleEndian.Uint32(sum[8:]), binary.LittleEndian.Uint32(sum[12:]),
	}}
}

// mac returns the HMAC-SHA-256 of a use and its fields, each after its length, under the key.
func (k Key) mac(use string, fields ...string) []byte {
	h := hmac.New(sha256.New, k.b[:])
	var b []byte
	for _, f := range append([]string{use}, fields...) {
		b = append(binary.LittleEndian.AppendUint64(b[:0], uint64(len(f))), f...)
		h.Write(b)
	}
	return h.Sum(nil)
}

// Check returns a checksum that shows whether a copy of the key and the fields are intact. It reveals nothing about the
// key.
func (k Key) Check(fields ...string) string { return hex.EncodeToString(k.mac("check", fields...)) }

// Reveal returns the key in hexadecimal, for the one file that keeps it.
func (k Key) Reveal() string { return hex.EncodeToString(k.b[:]) }

// ReadKey returns the key from the text that Reveal returned.
func ReadKey(text string) (k Key, err error) {
	b, err := hex.DecodeString(text)
	if err != nil || len(b) != len(k.b) {
		return k, errors.New("not a key of 64 hexadecimal digits")
	}
	copy(k.b[:], b)
	return k, nil
}

// Format prints the placeholder under every verb.
func (Key) Format(f fmt.State, _ rune) { io.WriteString(f, "(secret key)") }

// MarshalText always fails: a key must be in no file but its own.
func (Key) MarshalText() ([]byte, error) { return nil, errors.New("a secret key is not written") }
