package format_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"privrec/internal/dataset/format"
	"privrec/internal/dataset/format/formattest"
)

func FuzzSequences(f *testing.F) {
	for _, s := range []string{"user\titems\nb\tx z x\na\ty\n", "user\titems\na\tx  y\n", "items\tuser\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		l, ok := formattest.Try(t, b, format.ParseSequences)
		if !ok || bytes.HasPrefix(b, []byte{0x1f, 0x8b}) || bytes.HasPrefix(b, []byte{0x28, 0xb5}) {
			return
		}
		if lines := bytes.Count(bytes.TrimSpace(b), []byte("\n")); len(l.UserIDs) > lines || l.Len() < len(l.UserIDs) {
			t.Fatalf("%d users and %d rows of %d lines", len(l.UserIDs), l.Len(), lines)
		}
	})
}

func FuzzInter(f *testing.F) {
	formattest.Seeds(f, ".inter")
	f.Fuzz(func(t *testing.T, b []byte) {
		if l, ok := formattest.Try(t, b, format.ParseInter); ok {
			formattest.RoundTrip(t, l)
		}
	})
}

func FuzzCSV(f *testing.F) {
	formattest.Seeds(f, ".csv")
	f.Fuzz(func(t *testing.T, b []byte) {
		if l, ok := formattest.Try(t, b, format.Table{Sep: ","}.Parse); ok {
			formattest.RoundTrip(t, l)
		}
	})
}

// FuzzJSONLine compares the walker with encoding/json: it takes exactly the lines that
// are one object without a wanted name twice, and finds the same values.
func FuzzJSONLine(f *testing.F) {
	for _, s := range []string{`{}`, ` { "user_id" : "a" } `, `{"a":[1,2,{"b":[]}],"user_id":null}`, `{"user_id":1,"user_id":2}`, `{"a":-0.0e+12}`,
		`{"a":01}`, `{"a":1.}`, `{"a":"\ud800\n"}`, `{"a":"\x"}`, `[1]`, `{"a":1}}`, `{"a":tru}`, `{,}`, `{"a":1,}`, "{\"a\":\"\t\"}", `{"\u0061":1}`, ``, `{"a":{}`} {
		f.Add([]byte(s))
	}
	formattest.Seeds(f, "review.json", "user.json")
	wanted := []string{"user_id", "stars"}
	f.Fuzz(func(t *testing.T, line []byte) {
		if !utf8.Valid(line) || bytes.IndexByte(line, '\n') >= 0 || bytes.Count(line, []byte("[")) > format.MaxDepth/2 || bytes.Count(line, []byte("{")) > format.MaxDepth/2 {
			return
		}
		raw := make([][]byte, len(wanted))
		err := format.Members(line, wanted, raw)
		var object map[string]json.RawMessage
		valid := json.Valid(line) && json.Unmarshal(line, &object) == nil && object != nil
		if err != nil {
			if valid && !strings.Contains(err.Error(), "twice") {
				t.Fatalf("refused: %v", err)
			}
			return
		}
		if !valid {
			t.Fatalf("took %q", line)
		}
		for i, name := range wanted {
			if escaped := bytes.Contains(line, []byte(`\u`)); !escaped && !bytes.Equal(raw[i], object[name]) {
				t.Fatalf("%s is %q, want %q", name, raw[i], object[name])
			}
		}
	})
}

func FuzzAdjacency(f *testing.F) {
	formattest.Seeds(f, ".txt", ".adj")
	f.Fuzz(func(t *testing.T, b []byte) {
		if l, ok := formattest.Try(t, b, format.ParseAdjacency); ok {
			formattest.RoundTrip(t, l)
		}
	})
}

func FuzzFeatures(f *testing.F) {
	formattest.Seeds(f, ".user", "user_info_format1.csv")
	f.Fuzz(func(t *testing.T, b []byte) {
		formattest.TryFeatures(t, b, format.ParseUserAtomic)
		formattest.TryFeatures(t, b, format.Table{Sep: ","}.ParseFeatures)
	})
}
