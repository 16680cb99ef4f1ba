package budget

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// lived is a budget with every kind of line: three reservations, one done, one given back, one gone on with.
func lived(t *testing.T) string {
	path := made(t, Sum, 0, 0)
	a, b := begins(t, path), begins(t, path)
	nil0(t, a.releases(path, 0))
	nil0(t, Change(path, func(x *File) error { return x.End(b.id, b.next, nil, nil) }))
	nil0(t, a.goesOn(path, 0))
	nil0(t, a.releases(path, 0))
	if _, err := reserve(path, planOf(20, 0.25, 1e-6)); err != nil { // by a command that cannot go on
		t.Fatal(err)
	}
	done := planOf(10, 0.5, 1e-6).Releases
	done[0].Count = a.ledger.Releases
	nil0(t, Change(path, func(x *File) error { return x.End(a.id, a.next, done, nil) }))
	c := begins(t, path)
	nil0(t, c.releases(path, 0))
	return path
}

// bodies returns the objects of all lines without their checks, and again seals such objects anew, as anybody can.
func bodies(t testing.TB, text []byte) (all [][]byte) {
	for _, line := range bytes.SplitAfter(bytes.TrimSuffix(text, []byte("\n")), []byte("\n")) {
		body, ok := form.Body(line)
		if !ok {
			t.Fatalf("%q", line)
		}
		all = append(all, body)
	}
	return all
}

func again(all [][]byte) (text []byte) {
	check := ""
	for _, body := range all {
		var line []byte
		line, check = form.Seal(check, body)
		text = append(text, line...)
	}
	return text
}

// spentOf returns what a text says is spent.
func spentOf(path string, text []byte) (float64, error) {
	if err := os.WriteFile(path, text, 0o644); err != nil {
		return 0, err
	}
	b, err := Read(path)
	if err != nil {
		return 0, err
	}
	spent, _, err := b.Spent()
	return spent, err
}

// Lines with right checks that no writer writes are refused.
func TestSealedAndWrong(t *testing.T) {
	path := lived(t)
	text, err := os.ReadFile(path)
	nil0(t, err)
	all := bodies(t, text)
	if !bytes.Equal(again(all), text) {
		t.Fatal("the lines do not seal to themselves")
	}
	with := func(at int, old, new string) [][]byte {
		out := append([][]byte{}, all...)
		if !bytes.Contains(out[at], []byte(old)) {
			t.Fatalf("line %d has no %s: %s", at+1, old, out[at])
		}
		out[at] = bytes.Replace(out[at], []byte(old), []byte(new), 1)
		return out
	}
	after := func(more ...string) [][]byte {
		out := append([][]byte{}, all...)
		for _, m := range more {
			out = append(out, []byte(m))
		}
		return out
	}
	var end, attempt, show int
	for i, b := range all {
		switch {
		case bytes.HasPrefix(b, []byte(`{"end":{"id":1`)):
			end = i
		case bytes.HasPrefix(b, []byte(`{"attempt"`)):
			attempt = i
		case bytes.HasPrefix(b, []byte(`{"shown"`)):
			show = i
		}
	}
	zero := `{"epsilon":0,"delta":0}`
	for name, lines := range map[string][][]byte{
		"a second end":            after(`{"end":{"id":1,"state":"done","keeps":{"epsilon":0.5,"delta":0.000001}}}`),
		"a second end of nothing": after(`{"end":{"id":1,"state":"released nothing","keeps":` + zero + `}}`),
		"an end of the future":    after(`{"end":{"id":9,"state":"done","keeps":` + zero + `}}`),
		"an end after releases":   after(`{"end":{"id":4,"state":"released nothing","keeps":` + zero + `}}`),
		"doubled keys":            after(`{"end":{"id":3,"state":"done","state":"released nothing","keeps":` + zero + `}}`),
		"doubled costs":           with(end, `"epsilon":0.5`, `"epsilon":0.5,"epsilon":0`),
		"a doubled kind":          with(end, `{"end":`, `{"end":{"id":1,"state":"done","keeps":`+zero+`},"end":`),
		"another state":           with(end, `"done"`, `"whatever"`),
		"no state":                with(end, `"state":"done",`, ``),
		"an empty state":          with(end, `"done"`, `""`),
		"keeps less":              with(end, `0.5`, `0.25`),
		"keeps nothing":           with(end, `"keeps":{"epsilon":0.5,"delta":0.000001}`, `"keeps":`+zero),
		"no cost":                 with(end, `,"keeps":{"epsilon":0.5,"delta":0.000001}`, ``),
		"upper case":              with(end, `"state"`, `"State"`),
		"an unknown key":          with(end, `"id":1`, `"id":1,"note":1`),
		"a null":                  with(end, `"done"`, `null`),
		"a blank":                 with(end, `"id":1`, `"id": 1`),
		"another form of number":  with(end, `0.5`, `5e-1`),
		"other order of keys":     with(end, `"id":1,"state":"done"`, `"state":"done","id":1`),
		"a number as text":        with(end, `"id":1`, `"id":"1"`),
		"something after":         with(end, `}}`, `}} `),
		"two in one line":         with(end, `{"end":`, `{"shown":{"id":1,"attempt":1,"releases":9},"end":`),
		"nothing in a line":       after(`{}`),
		"a negative cost":         with(1, `"epsilon":0.5`, `"epsilon":-0.5`),
		"a divergence":            with(1, `"delta":0.000001}`, `"delta":0.000001,"divergence":1}`),
		"a delta beyond":          with(1, `"delta":0.000001`, `"delta":0.1`),
		"a reservation again":     with(2, `"id":2`, `"id":1`),
		"a mark again":            with(attempt, string(all[attempt][bytes.Index(all[attempt], []byte(`"mark"`)):][8:40]), markOf(all[1])),
		"no mark":                 with(attempt, `"mark":"`+markOf(all[attempt])+`"`, `"mark":""`),
		"an attempt skipped":      with(attempt, `"number":1`, `"number":2`),
		"an attempt with less":    with(attempt, `"releases":1`, `"releases":0`),
		"an attempt after an end": after(`{"attempt":{"id":1,"number":2,"mark":"` + strings.Repeat("0", 32) + `","chain":"","releases":2}}`),
		"shown less":              with(show, `"releases":1`, `"releases":0`),
		"shown by another":        with(show, `"attempt":0`, `"attempt":1`),
		"another budget":          after(string(all[0])),
		"an unknown version":      with(0, `privrec-budget/2`, `privrec-budget/3`),
	} {
		if spent, err := spentOf(path, again(lines)); err == nil {
			t.Errorf("%s was read, with %v spent", name, spent)
		}
	}
}

func markOf(body []byte) string {
	_, rest, _ := strings.Cut(string(body), `"mark":"`)
	return rest[:markDigits]
}

// A budget with one thing changed in any place is refused, or says that no less is spent. What is changed: a bit, a
// byte, a line, or the order of two, with the checks as they were, and lines dropped, doubled, swapped or moved
// with the checks computed again. Lines that are missing at the end are beyond it: then the file is one that was.
func TestOneChange(t *testing.T) {
	path := lived(t)
	text, err := os.ReadFile(path)
	nil0(t, err)
	b, err := Read(path)
	nil0(t, err)
	want, _, err := b.Spent()
	nil0(t, err)
	all, copied := bodies(t, text), filepath.Join(t.TempDir(), "copy.jsonl")
	raw := bytes.SplitAfter(bytes.TrimSuffix(text, []byte("\n")), []byte("\n"))
	raw[len(raw)-1] = append(bytes.Clone(raw[len(raw)-1]), '\n')
	read, refused := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		out := bytes.Clone(text)
		what := rapid.SampledFrom([]string{"bit", "cut out", "doubled", "line dropped", "line doubled", "lines swapped", "resealed dropped", "resealed doubled",
			"resealed swapped", "resealed byte"}).Draw(t, "what")
		byteAt, lineAt := rapid.IntRange(0, len(text)-2).Draw(t, "byte"), rapid.IntRange(0, len(raw)-2).Draw(t, "line")
		lines := append([][]byte{}, raw...)
		if strings.HasPrefix(what, "resealed") {
			lines = append([][]byte{}, all...)
		}
		switch what {
		case "bit":
			out[byteAt] ^= 1 << rapid.IntRange(0, 7).Draw(t, "bit")
		case "cut out":
			out = append(out[:byteAt], text[byteAt+1:]...)
		case "doubled":
			out = append(out[:byteAt], text[max(0, byteAt-rapid.IntRange(0, 30).Draw(t, "of")):]...)
		case "line dropped", "resealed dropped":
			lines = append(lines[:lineAt], lines[lineAt+1:]...)
		case "line doubled", "resealed doubled":
			lines = append(lines[:lineAt+1], lines[lineAt:]...)
		case "lines swapped", "resealed swapped":
			other := rapid.IntRange(0, len(raw)-1).Draw(t, "other")
			lines[lineAt], lines[other] = lines[other], lines[lineAt]
		case "resealed byte": // of what is no number: those that anybody can seal anew say what they say
			line := bytes.Clone(lines[lineAt])
			i := rapid.IntRange(0, len(line)-1).Draw(t, "at")
			if bytes.ContainsAny(line[i:i+1], "0123456789.e-") {
				return
			}
			line[i] ^= 1 << rapid.IntRange(0, 6).Draw(t, "bit")
			lines[lineAt] = line
		}
		switch {
		case strings.HasPrefix(what, "resealed"):
			out = again(lines)
		case strings.HasPrefix(what, "line"):
			out = bytes.Join(lines, nil)
		}
		if bytes.Equal(out, text) {
			return
		}
		spent, err := spentOf(copied, out)
		if err != nil {
			refused++
			return
		}
		read++
		if spent < want {
			t.Fatalf("%s: read, and %v is spent of what was %v:\n%s", what, spent, want, out)
		}
	})
	t.Logf("%d read, %d refused", read, refused)
	if refused == 0 {
		t.Error("nothing was refused")
	}
}

// Any text is refused or read, and what is read is written on.
func FuzzRead(f *testing.F) {
	for _, name := range []string{"old-sum.jsonl", "old-renyi.jsonl"} {
		text, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
		f.Add(again(bodies(f, text)[:1]))
	}
	f.Add([]byte(`{"budget":"privrec-budget/1"}`))
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, text []byte) {
		path := filepath.Join(dir, fmt.Sprintf("%x.jsonl", len(text)))
		spent, err := spentOf(path, text)
		if err != nil {
			return
		}
		if spent < 0 {
			t.Errorf("spent %v", spent)
		}
		b, _ := Read(path)
		for _, r := range b.Reservations {
			if r.State == Begun && r.Mark != "" {
				if err := Change(path, func(b *File) error { return b.Shows(r.ID, r.Mark, r.Releases+1) }); err != nil {
					t.Error(err)
				}
				break
			}
		}
		if _, err := Read(path); err != nil {
			t.Error(err)
		}
	})
}
