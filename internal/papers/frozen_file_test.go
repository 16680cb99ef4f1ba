//go:build amd64 && !amd64.v3 && !f64

package papers

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// frozenNames are the files of a run whose bytes are kept: of frozenHeads the head alone.
var (
	frozenNames = []string{"metrics.json", "privacy.json", "result.txt", "ledger.jsonl", "result.json"}
	frozenHeads = []string{"ledger.jsonl", "result.json"}
)

// frozenText is the size in bytes up to which JSON is kept as text; beyond, its parts are
// kept as digests.
const frozenText = 20 << 10

// section is one file of one run as testdata/frozen keeps it, the folder of the data left
// out: a head with size and digest, which alone decide, and lines that show a difference.
type section struct{ head, body string }

// sections renders the kept files of the run in dir.
func sections(t *testing.T, j job, dir string) (all []section) {
	t.Helper()
	for _, name := range frozenNames {
		b := read(t, filepath.Join(dir, name))
		if data := os.Getenv("PRIVREC_DATA"); data != "" { // lies elsewhere on every machine
			b = bytes.ReplaceAll(b, []byte(filepath.Clean(data)), []byte("$PRIVREC_DATA"))
		}
		s := section{fmt.Sprintf("%s%s, %s: %d bytes, sha256 %x", sectionMark, j.Setting, name, len(b), sha256.Sum256(b)), string(b)}
		if slices.Contains(frozenHeads, name) {
			s.body = ""
		} else if strings.HasSuffix(name, ".json") && len(b) > frozenText {
			s.body = strings.Join(digests(t, "", b, 3), "")
		}
		all = append(all, s)
	}
	return all
}

// sectionMark begins the head of a section and no line of a run's file.
const sectionMark = "== "

// digests lists the parts of a JSON value, a line each: short ones as they are, others
// by size and digest, or by their own parts, down to a depth.
func digests(t *testing.T, path string, value json.RawMessage, depth int) (lines []string) {
	t.Helper()
	var short bytes.Buffer
	if err := json.Compact(&short, value); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	if short.Len() <= 300 {
		return []string{fmt.Sprintf("%s: %s\n", path, &short)}
	}
	var list []json.RawMessage
	if depth > 0 && json.Unmarshal(value, &list) == nil {
		for i, v := range list {
			lines = append(lines, digests(t, fmt.Sprintf("%s[%d]", path, i), v, depth-1)...)
		}
		return lines
	}
	var object map[string]json.RawMessage
	if depth > 0 && json.Unmarshal(value, &object) == nil {
		for _, k := range slices.Sorted(maps.Keys(object)) {
			lines = append(lines, digests(t, path+"."+k, object[k], depth-1)...)
		}
		return lines
	}
	return []string{fmt.Sprintf("%s: %d bytes, sha256 %.16x\n", path, short.Len(), sha256.Sum256(short.Bytes()))}
}

// compareFrozen demands that the runs of jobs beneath dir wrote the frozen bytes. With
// -update it writes the frozen files instead.
func compareFrozen(t *testing.T, jobs []job, dir string) {
	t.Helper()
	files := map[string][]section{}
	for _, j := range jobs {
		files[j.File] = append(files[j.File], sections(t, j, j.folder(dir))...)
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		path := filepath.Join(frozenDir, name)
		if *update {
			var b bytes.Buffer
			for _, s := range files[name] {
				fmt.Fprintf(&b, "%s\n%s", s.head, s.body)
			}
			if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // a new task has none yet
			t.Fatal(err)
		}
		kept := parseFrozen(string(text))
		for _, got := range files[name] {
			label, _, _ := strings.Cut(got.head, ":")
			i := slices.IndexFunc(kept, func(s section) bool { return strings.HasPrefix(s.head, label+":") })
			if i < 0 {
				t.Errorf("%s keeps nothing of %q: go test ./internal/papers -run TestFrozen -update writes it", path, label)
				continue
			}
			want := kept[i]
			kept = slices.Delete(kept, i, i+1)
			if got != want {
				t.Errorf("%s: %s differs from what is frozen (go test ./internal/papers -run TestFrozen -update rewrites it; "+
					"where results moved, raise the task's number in internal/run/results.go):\n%s",
					path, label, difference(want.body, got.body))
			}
		}
		if !testing.Short() { // which leaves settings out
			for _, s := range kept {
				t.Errorf("%s: %s is of no setting that there is", path, s.head)
			}
		}
	}
}

// parseFrozen cuts a file of testdata/frozen into its sections.
func parseFrozen(text string) (all []section) {
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, sectionMark) {
			all = append(all, section{head: strings.TrimSuffix(line, "\n")})
		} else if len(all) > 0 {
			all[len(all)-1].body += line
		}
	}
	return all
}

// difference shows the first lines that differ, and says how many do.
func difference(want, got string) string {
	a, b := strings.Split(want, "\n"), strings.Split(got, "\n")
	var out strings.Builder
	differ := 0
	for i := range max(len(a), len(b)) {
		x, y := at(a, i), at(b, i)
		if x == y {
			continue
		}
		if differ++; differ <= 8 {
			fmt.Fprintf(&out, "line %d\n\t-%s\n\t+%s\n", i+1, x, y)
		}
	}
	fmt.Fprintf(&out, "%d of %d lines differ", differ, len(a))
	return out.String()
}

// at is line i, empty beyond the end.
func at(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return ""
}

// read reads a file.
func read(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
