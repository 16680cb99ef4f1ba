package eventlog

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"

	"privrec/internal/rng"
)

// key is a key of a line of YAML.
var key = regexp.MustCompile(`([a-z_]+):( |$)`)

// A changed log is refused by an error with the name of the file, or is read the same: where a key has another name,
// stands twice, has no number in the place of one, or bytes are of another encoding, nothing is left out in silence.
func TestMutants(t *testing.T) {
	lines := strings.SplitAfter(example, "\n")
	read := func(text string) (any, error) {
		path := filepath.Join(t.TempDir(), "mutant.yaml")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := Read(path)
		if err != nil {
			return nil, err
		}
		return meant(t, f), nil
	}
	right, err := read(example)
	if err != nil {
		t.Fatal(err)
	}
	stream := rng.Seed(1).Stream("mutants of logs")
	draws := &stream
	var refused, same int
	for range 2000 {
		text, did, must := strings.Join(lines, ""), "", false
		at := draws.IntN(len(lines))
		keys := key.FindAllStringSubmatchIndex(lines[at], -1)
		comment := strings.HasPrefix(strings.TrimSpace(lines[at]), "#")
		change := func(line string) string {
			return strings.Join(lines[:at], "") + line + strings.Join(lines[at+1:], "")
		}
		switch n := draws.IntN(9); {
		case n == 0:
			text, did = "\ufeff"+text, "a byte order mark"
		case n == 1:
			text, did = strings.ReplaceAll(text, "\n", "\r\n"), "CRLF"
		case n == 2:
			var b strings.Builder
			b.WriteString("\xff\xfe")
			for _, u := range utf16.Encode([]rune(text)) {
				b.WriteByte(byte(u))
				b.WriteByte(byte(u >> 8))
			}
			text, did = b.String(), "UTF-16"
		case len(keys) == 0 || comment || strings.Contains(lines[at][:keys[0][0]], "#"):
			continue
		case n == 3: // a key of another name
			k := keys[draws.IntN(len(keys))]
			if strings.Contains(lines[at][:k[0]], "#") {
				continue
			}
			text, did, must = change(lines[at][:k[3]]+"x"+lines[at][k[3]:]), "key "+lines[at][k[2]:k[3]]+" called otherwise", true
		case n == 4: // twice
			if strings.HasPrefix(strings.TrimSpace(lines[at]), "-") {
				continue
			}
			if strings.HasSuffix(strings.TrimSpace(lines[at]), ":") {
				continue // its block would follow the second one alone
			}
			text, did, must = change(lines[at]+lines[at]), "the line twice: "+lines[at], true
		case n == 5: // no number
			value := regexp.MustCompile(`: [0-9.e-]+`).FindStringIndex(lines[at])
			if value == nil || strings.Contains(lines[at][:value[0]], "#") {
				continue
			}
			bad := []string{"NaN", ".inf", "-1", "many", "1e400", `"1.1"x`, "[1]", ""}[draws.IntN(8)]
			text, did, must = change(lines[at][:value[0]]+": "+bad+lines[at][value[1]:]), "a number is "+bad+": "+lines[at], bad != ""
		case n == 6: // a tab for indentation
			if !strings.HasPrefix(lines[at], " ") {
				continue
			}
			text, did, must = change("\t"+strings.TrimLeft(lines[at], " ")), "a tab", true
		case n == 7: // bytes that are no text
			text, did, must = change(strings.Replace(lines[at], ": ", ": \x00", 1)), "NUL", strings.Contains(lines[at], ": ")
		default:
			text, did = change(strings.TrimRight(lines[at], "\n")+"   \n"), "blanks at the end"
		}
		got, err := read(text)
		switch {
		case err != nil:
			if refused++; !strings.Contains(err.Error(), "mutant.yaml") {
				t.Errorf("%s: the error does not name the file: %v", did, err)
			}
		case must:
			t.Errorf("%s: read without a word", did)
		case cmp.Equal(got, right):
			same++
		default:
			if !strings.HasPrefix(did, "a number is :") { // a key without a value is as if it were not there
				t.Errorf("%s: read as another log: %s", did, cmp.Diff(right, got))
			}
		}
	}
	t.Logf("%d refused, %d read the same", refused, same)
	if refused < 200 || same < 200 {
		t.Error("the changes are too much alike")
	}
}

// meant is what a log says, as text.
func meant(t *testing.T, f *File) string {
	t.Helper()
	b, err := json.Marshal(f)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
