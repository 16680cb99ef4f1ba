package chain

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
)

var forms = []Form{{Name: "check"}, {Name: "chain", Secret: []byte("sixteen bytes...")}}

// A sealed line opens to what was sealed, after its own check only, and no byte of it can change.
func TestSealAndOpen(t *testing.T) {
	for _, f := range forms {
		line, check := f.Seal("before", []byte(`{"a":1}`))
		text := bytes.TrimSuffix(line, []byte("\n"))
		if body, got, err := f.Open("before", text); err != nil || string(body) != `{"a":1}` || got != check {
			t.Errorf("%s: %s, %s, %v", f.Name, body, got, err)
		}
		if body, ok := f.Body(line); !ok || string(body) != `{"a":1}` {
			t.Errorf("%s: the body is %s", f.Name, body)
		}
		if body, ok := f.Unkeyed(text); !ok || string(body) != `{"a":1}` {
			t.Errorf("%s: without its key the body is %s", f.Name, body)
		}
		if _, _, err := f.Open("other", text); err == nil {
			t.Errorf("%s: it opened after another line", f.Name)
		}
		for i := range text {
			for bit := range 8 {
				bad := bytes.Clone(text)
				bad[i] ^= 1 << bit
				if body, _, err := f.Open("before", bad); err == nil {
					t.Errorf("%s: byte %d changed opened to %s", f.Name, i, body)
				}
			}
			if _, _, err := f.Open("before", text[:i]); err == nil {
				t.Errorf("%s: %d bytes of it opened", f.Name, i)
			}
		}
	}
	if _, _, err := forms[1].Open("", []byte(`{"a":1,"chain":"0123456789abcdef"}`)); err == nil {
		t.Error("a plain check opened under a key")
	}
}

// Read takes what json.Marshal writes, and nothing else.
func TestRead(t *testing.T) {
	type inner struct {
		X float64 `json:"x"`
	}
	type line struct {
		A  int    `json:"a"`
		In *inner `json:"in,omitempty"`
	}
	for _, good := range []string{`{"a":1}`, `{"a":1,"in":{"x":0.5}}`} {
		if err := Read([]byte(good), new(line)); err != nil {
			t.Errorf("%s: %v", good, err)
		}
	}
	for _, bad := range []string{``, `{}`, `null`, `[]`, `{"a":1}{}`, `{"a":1} `, ` {"a":1}`, `{"a":1,"a":1}`, `{"A":1}`, `{"a":1.0}`, `{"a":01}`, `{"a":1,"b":2}`,
		`{"a":1,"in":null}`, `{"a":1,"in":{}}`, `{"a":1,"in":{"x":0.5,"x":0.5}}`, `{"a":1,"in":{"X":0.5}}`, `{"a":1,"in":{"x":5e-1}}`, `{"in":{"x":0.5},"a":1}`, `{"a":null}`} {
		if err := Read([]byte(bad), new(line)); err == nil {
			t.Errorf("%s was read", bad)
		}
	}
}

func TestReadLine(t *testing.T) {
	in := bufio.NewReader(strings.NewReader("one\n\ntwo"))
	for _, want := range []string{"one", ""} {
		if got, err := ReadLine(in); err != nil || string(got) != want {
			t.Errorf("%q, %v, want %q", got, err, want)
		}
	}
	if _, err := ReadLine(in); !errors.Is(err, ErrCut) {
		t.Errorf("a line without its end: %v", err)
	}
	if _, err := ReadLine(in); err != io.EOF {
		t.Errorf("after the last: %v", err)
	}
	if _, err := ReadLine(bufio.NewReader(strings.NewReader(strings.Repeat("x", MaxLine+1)))); err == nil || errors.Is(err, ErrCut) {
		t.Errorf("a line that is too long: %v", err)
	}
}
