package privacy_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"privrec/internal/privacy"
)

var (
	normal = privacy.Gaussian{Sigma: 3, Sensitivity: 1, Unit: privacy.Record, Neighbouring: privacy.AddRemove}
	spread = privacy.Laplace{Scale: 20, Sensitivity: 1, Unit: privacy.Record, Neighbouring: privacy.AddRemove}
)

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// small writes a ledger of four lines and the one that closes it, and returns its bytes and last state.
func small(t testing.TB, path string) ([]byte, privacy.LedgerState) {
	t.Helper()
	l := must(privacy.CreateLedger(path, privacy.Research, nil))
	check(t, l.Bound("sums", 2))
	check(t, l.Record("sums", normal, 5))
	check(t, l.Flush("epoch 1"))
	check(t, l.Record("sums", normal, 5))
	check(t, l.Record("tallies", spread, 1))
	check(t, l.Flush("epoch 2"))
	st := must(l.State())
	check(t, l.Close())
	return must(os.ReadFile(path)), st
}

// rule is how a line's check is made from the check before it and the line's own
// text. The documented one covers both.
type rule func(before, open string) string

func digest(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])[:16]
}

func documented(before, open string) string { return digest(before + open) }

// lines splits a file into the texts that the checks cover.
func lines(t testing.TB, file []byte) (open []string) {
	t.Helper()
	for _, line := range strings.SplitAfter(strings.TrimSuffix(string(file), "\n"), "\n") {
		text, _, found := strings.Cut(line, `,"chain":"`)
		if !found {
			t.Fatalf("no check in %q", line)
		}
		open = append(open, text)
	}
	return open
}

// sealed is a file of texts with their checks by a rule.
func sealed(r rule, open []string) []byte {
	var file, chain string
	for _, text := range open {
		chain = r(chain, text)
		file += text + `,"chain":"` + chain + "\"}\n"
	}
	return []byte(file)
}

// The chain is what the documentation says, computed here without the package:
// every check covers its line and all lines before it.
func TestChainIsRecomputed(t *testing.T) {
	file, st := small(t, filepath.Join(t.TempDir(), "a"))
	open := lines(t, file)
	if again := sealed(documented, open); !bytes.Equal(again, file) {
		t.Errorf("by hand:\n%s\nin the file:\n%s", again, file)
	}
	if last := bytes.LastIndexByte(file[:len(file)-1], '\n') + 1; st.Offset != int64(last) || !strings.HasSuffix(string(file[:last]), st.Chain+"\"}\n") {
		t.Errorf("state %+v before the closing line of\n%s", st, file)
	}
	if last := open[len(open)-1]; last != `{"end":{"entries":3}` {
		t.Errorf("closed by %s", last)
	}
	// A ledger in memory that holds the same has the same last check.
	m := must(privacy.NewLedger(privacy.Research))
	for _, e := range must(privacy.Reading{}.Parse(bytes.NewReader(file))).Entries() {
		if e.PerUnit > 0 {
			check(t, m.Bound(e.Purpose, e.PerUnit))
		}
		check(t, m.Record(e.Purpose, e.Event, e.Count))
		if e.Purpose == "tallies" || e.Period == "epoch 1" {
			check(t, m.Flush(e.Period))
		}
	}
	if got := must(m.State()).Chain; got != st.Chain {
		t.Errorf("in memory the last check is %s, on file %s", got, st.Chain)
	}
}

// Every byte of a small file, changed in every bit, to a blank, a newline or a
// zero, left out or doubled: refused, on the line that it is in, by every reader
// it, and a run that resumes does not touch the file.
func TestEveryByteIsCovered(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a")
	file, st := small(t, path)
	line, tried := 1, 0
	for i, b := range file {
		variants := [][]byte{{}, {b, b}}
		for bit := range 8 {
			variants = append(variants, []byte{b ^ 1<<bit})
		}
		for _, other := range []byte{' ', '\n', 0, '"', '}', '0'} {
			if other != b {
				variants = append(variants, []byte{other})
			}
		}
		for v, with := range variants {
			bad := append(append(bytes.Clone(file[:i]), with...), file[i+1:]...)
			tried++
			_, err := privacy.Reading{}.Parse(bytes.NewReader(bad))
			here, next := fmt.Sprintf("line %d:", line), fmt.Sprintf("line %d:", line+1)
			if err == nil || !strings.HasPrefix(err.Error(), here) && !(b == '\n' && strings.HasPrefix(err.Error(), next)) {
				t.Fatalf("byte %d of line %d, %q for %q: %v", i, line, with, b, err)
			}
			if v%5 != 0 || i%7 != 0 {
				continue
			}
			check(t, os.WriteFile(path, bad, 0o644))
			if _, err := (privacy.Reading{}).File(path); err == nil || !strings.Contains(err.Error(), path+": line ") {
				t.Fatalf("byte %d: the file is not named in %v", i, err)
			}
			if int64(i) >= st.Offset { // the closing line, which a resumed run writes again
				check(t, must(privacy.ResumeLedger(path, st, nil)).Close())
				if again := must(os.ReadFile(path)); !bytes.Equal(again, file) {
					t.Fatalf("byte %d: resumed and closed as\n%s", i, again)
				}
				continue
			}
			if _, err := privacy.ResumeLedger(path, st, nil); err == nil || !strings.Contains(err.Error(), path) {
				t.Fatalf("byte %d, %q for %q: resumed, %v", i, with, b, err)
			}
			if left := must(os.ReadFile(path)); !bytes.Equal(left, bad) {
				t.Fatalf("byte %d: refusing to resume changed the file", i)
			}
		}
		if b == '\n' {
			line++
		}
	}
	if tried < 14*len(file) {
		t.Errorf("%d changes were tried of %d bytes", tried, len(file))
	}
}

// A file that ends early is refused wherever it ends: between lines because no line
// closes it, anywhere else because a line is cut, also where only its newline is
// missing. Of a run that has not ended it is read between lines.
func TestEveryCut(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a")
	file, st := small(t, path)
	whole := must(privacy.Reading{}.Parse(bytes.NewReader(file))).Entries()
	for n := range len(file) {
		cut := file[:n]
		lines := bytes.Count(cut, []byte("\n"))
		_, err := privacy.Reading{}.Parse(bytes.NewReader(cut))
		l, unfinished := privacy.Reading{Unfinished: true}.Parse(bytes.NewReader(cut))
		switch {
		case n == 0:
			if err == nil || !strings.Contains(err.Error(), "line 1: empty") || unfinished == nil {
				t.Errorf("an empty file: %v, of an unfinished run: %v", err, unfinished)
			}
		case cut[n-1] == '\n':
			if !errors.Is(err, privacy.ErrCut) || !strings.HasPrefix(err.Error(), fmt.Sprintf("line %d: no closing line", lines+1)) {
				t.Errorf("cut after line %d: %v", lines, err)
			}
			if unfinished != nil || !cmp.Equal(l.Entries(), append([]privacy.Entry(nil), whole[:lines-1]...)) {
				t.Errorf("cut after line %d, of an unfinished run: %v", lines, unfinished)
			}
			if s, closed := l.Seal(); closed || s.Entries != lines-1 {
				t.Errorf("cut after line %d: %+v, closed: %v", lines, s, closed)
			}
		default:
			for _, err := range []error{err, unfinished} {
				if err == nil || !strings.Contains(err.Error(), "cut off") {
					t.Errorf("cut at byte %d: %v", n, err)
				}
			}
		}
		check(t, os.WriteFile(path, cut, 0o644))
		if int64(n) >= st.Offset { // nothing that the checkpoint knows is lost
			check(t, must(privacy.ResumeLedger(path, st, nil)).Close())
			if again := must(os.ReadFile(path)); !bytes.Equal(again, file) {
				t.Errorf("cut at byte %d, resumed and closed as\n%s", n, again)
			}
			continue
		}
		if _, err := privacy.ResumeLedger(path, st, nil); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("%d bytes, the checkpoint was made at %d", n, st.Offset)) {
			t.Errorf("cut at byte %d and resumed: %v", n, err)
		}
	}
	s, closed := must(privacy.Reading{}.Parse(bytes.NewReader(file))).Seal()
	if !closed || s.Entries != 3 || !bytes.HasSuffix(file, []byte(s.Chain+"\"}\n")) {
		t.Errorf("the whole one: %+v, closed: %v", s, closed)
	}
}

// attacks are changed files that can be made without the rule by moving whole
// lines and editing texts, and that no reader may accept.
func attacks(file, other []byte) map[string][]byte {
	split := bytes.SplitAfter(file, []byte("\n"))
	split = split[:len(split)-1]
	from := bytes.SplitAfter(other, []byte("\n"))
	list := map[string][]byte{}
	pick := func(name string, order ...int) {
		var out []byte
		for _, i := range order {
			out = append(out, split[i]...)
		}
		list[name] = out
	}
	pick("two lines swapped", 0, 2, 1, 3, 4)
	pick("the last two swapped", 0, 1, 3, 2, 4)
	pick("a line lost", 0, 2, 3, 4)
	pick("a later line lost", 0, 1, 3, 4)
	pick("the last release lost", 0, 1, 2, 4)
	pick("nothing but its ends", 0, 4)
	pick("a line twice", 0, 1, 1, 2, 3, 4)
	pick("the last line twice", 0, 1, 2, 3, 3, 4)
	pick("the end twice", 0, 1, 2, 3, 4, 4)
	pick("the end before the last line", 0, 1, 2, 4, 3)
	pick("a line after the end", 0, 1, 2, 3, 4, 3)
	pick("no header", 1, 2, 3, 4)
	pick("two headers", 0, 0, 1, 2, 3, 4)
	pick("a header at the end", 0, 1, 2, 3, 4, 0)
	list["a line of another ledger"] = bytes.Join([][]byte{split[0], from[1], split[2], split[3], split[4]}, nil)
	list["the last line of another ledger"] = bytes.Join([][]byte{split[0], split[1], split[2], from[3], split[4]}, nil)
	list["the end of another ledger"] = bytes.Join([][]byte{split[0], split[1], split[2], split[3], from[4]}, nil)
	list["the header of another ledger"] = append(bytes.Clone(from[0]), bytes.Join(split[1:], nil)...)
	for name, edit := range map[string][2]string{
		"a count in the first line": {`"sums","count":5`, `"sums","count":1`}, "a bound": {`"per_unit":2`, `"per_unit":1`}, "a noise mark": {"research noise", "secure"},
		"more noise": {`"sigma":3`, `"sigma":9`}, "a scale in the last line": {`"scale":20`, `"scale":99`}, "a unit": {"record", "cell"}, "a relation": {"add-remove", "zero-out"}, "the end's count": {`"entries":3`, `"entries":2`}, "a version": {"privrec/2", "privrec/0"},
	} {
		list["edited: "+name] = bytes.Replace(file, []byte(edit[0]), []byte(edit[1]), 1)
	}
	return list
}

// accepts is a reader written for any rule.
func accepts(t *testing.T, r rule, file []byte) bool {
	t.Helper()
	return bytes.Equal(sealed(r, lines(t, file)), file)
}

// Chains with a part left out are caught by the attacks that the real one
// withstands: one that forgets the line before, one that forgets the line itself,
// one whose check is of the length alone, one without a check.
func TestChainsThatForget(t *testing.T) {
	dir := t.TempDir()
	file, _ := small(t, filepath.Join(dir, "a"))
	l := must(privacy.CreateLedger(filepath.Join(dir, "b"), privacy.Secure, nil))
	check(t, errors.Join(l.Record("other", normal, 1), l.Flush("1"), l.Record("other", spread, 1), l.Flush("2"), l.Record("other", normal, 7), l.Close()))
	other := must(os.ReadFile(filepath.Join(dir, "b")))
	for name, bad := range attacks(file, other) {
		if bytes.Equal(bad, file) {
			t.Fatalf("%s changes nothing", name)
		}
		if l, err := (privacy.Reading{}).Parse(bytes.NewReader(bad)); err == nil {
			t.Errorf("%s: accepted with %d entries", name, len(l.Entries()))
		}
	}
	for name, r := range map[string]rule{
		"forgets the line before": func(_, open string) string { return digest(open) },
		"forgets the line itself": func(before, _ string) string { return digest(before + "next") },
		"of the lengths":          func(before, open string) string { return digest(before + fmt.Sprint(len(open))) },
		"none":                    func(string, string) string { return "0000000000000000" },
		"of the first half":       func(before, open string) string { return digest(before + open[:len(open)/2]) },
	} {
		passed := 0
		for _, bad := range attacks(sealed(r, lines(t, file)), sealed(r, lines(t, other))) {
			if accepts(t, r, bad) {
				passed++
			}
		}
		if passed == 0 {
			t.Errorf("a chain that is %s is not caught", name)
		}
	}
	passed := 0
	for _, bad := range attacks(file, other) {
		if accepts(t, documented, bad) {
			passed++
		}
	}
	if passed > 0 || !accepts(t, documented, file) {
		t.Errorf("the documented chain lets %d attacks pass", passed)
	}
}

// Lines with the right check and the wrong content: what a faulty writer would
// leave. Each is refused on its line, and says what is wrong.
func TestWellSealedAndWrong(t *testing.T) {
	file, _ := small(t, filepath.Join(t.TempDir(), "a"))
	open := lines(t, file)
	for name, c := range map[string]struct {
		line     int
		old, new string
		want     string
	}{
		"unknown event":        {2, `"kind":"gaussian"`, `"kind":"gauss"`, `line 2: unknown event kind "gauss"`},
		"unknown field":        {2, `"sigma"`, `"variance"`, `line 2: json: unknown field "variance"`},
		"no kind":              {3, `"kind":"gaussian",`, ``, `line 3: unknown event kind ""`},
		"no sigma":             {3, `"sigma":3,`, ``, "line 3: gaussian: sigma is 0"},
		"negative sensitivity": {2, `"sensitivity":1`, `"sensitivity":-1`, "line 2: gaussian: sensitivity is -1"},
		"unknown unit":         {4, `"unit":"record"`, `"unit":"row"`, `line 4: laplace: unknown unit "row"`},
		"unknown relation":     {4, `add-remove`, `bounded`, `line 4: laplace: unknown neighbouring relation "bounded"`},
		"no count":             {2, `"count":5,`, ``, "line 2: count is 0"},
		"negative count":       {2, `"count":5`, `"count":-5`, "line 2: count is -5"},
		"half a count":         {2, `"count":5`, `"count":5.5`, "line 2: json: cannot unmarshal number 5.5"},
		"too large a count":    {2, `"count":5`, `"count":9223372036854775808`, "line 2: json: cannot unmarshal number"},
		"negative bound":       {2, `"per_unit":2`, `"per_unit":-2`, "line 2: per_unit is -2"},
		"no bound, written":    {4, `"count":1`, `"count":1,"per_unit":0`, "line 4: not in canonical form"},
		"no purpose":           {2, `"purpose":"sums"`, `"purpose":""`, "line 2: no purpose"},
		"a long purpose":       {2, `sums`, strings.Repeat("s", 1025), "line 2: purpose has 1025 bytes, want at most 1024"},
		"a long period":        {2, `epoch 1`, strings.Repeat("e", 1025), "line 2: period has 1025 bytes"},
		"no period":            {2, `"period":"epoch 1",`, ``, "line 2: not in canonical form"},
		"a zero more":          {2, `"sigma":3`, `"sigma":3.0`, "line 2: not in canonical form"},
		"a blank":              {2, `"count":5`, `"count": 5`, "line 2: not in canonical form"},
		"an escape":            {2, `sums`, `\u0073ums`, "line 2: not in canonical form"},
		"another order":        {2, `"period":"epoch 1","purpose":"sums"`, `"purpose":"sums","period":"epoch 1"`, "line 2: not in canonical form"},
		"a key twice":          {2, `"count":5`, `"count":4,"count":5`, `line 2: key "count" comes twice`},
		"a key in capitals":    {2, `"count":5`, `"Count":5`, `line 2: unknown key "Count"`},
		"no event":             {2, `"event":{`, `"events":{`, `line 2: json: unknown field "events"`},
		"not utf-8":            {2, `sums`, "su\xffms", "line 2: not in canonical form"},
		"a version":            {1, `privrec/2`, `privrec/3`, `line 1: ledger version "privrec/3", want "privrec/2" or "privrec/1"`},
		"a mark":               {1, `research noise`, `safe`, `line 1: ledger: unknown noise "safe"`},
		"a header field":       {1, `"noise"`, `"sound"`, `line 1: not a ledger header: json: unknown field "sound"`},
		"a header's blank":     {1, `"ledger":`, `"ledger": `, "line 1: header not in canonical form"},
		"a header's key":       {1, `"noise":"research noise"`, `"noise":"research noise","key":"0123456789abcdef"`, "line 1: it was written under a key (0123456789abcdef)"},
		"an older end":         {1, `privrec/2`, `privrec/1`, "line 5: json: unknown field"},
		"too few at the end":   {5, `"entries":3`, `"entries":2`, "line 5: the ledger is closed with 2 entries, it has 3"},
		"no count at the end":  {5, `{"entries":3}`, `{}`, "line 5: not in canonical form"},
		"an end and more":      {5, `"entries":3`, `"entries":3,"holdings":0`, "line 5: json: unknown field"},
		"an end too early":     {3, open[2], `{"end":{"entries":1}`, "line 4: a line after the closing one"},
		"an open line":         {3, `{"period":"epoch 2"`, `{"period":"now"`, "line 4: a line after those of the open period"},
		"open at the end":      {4, `{"period":"epoch 2"`, `{"period":"now"`, "line 5: a line after those of the open period"},
		"an entry for header":  {1, open[0], open[1], "line 1: not a ledger header"},
		"a header for entry":   {3, open[2], open[0], "line 3: json: unknown field"},
	} {
		wrong := append([]string(nil), open...)
		if !strings.Contains(wrong[c.line-1], c.old) {
			t.Fatalf("%s: no %s in %s", name, c.old, wrong[c.line-1])
		}
		wrong[c.line-1] = strings.Replace(wrong[c.line-1], c.old, c.new, 1)
		if _, err := (privacy.Reading{}).Parse(bytes.NewReader(sealed(documented, wrong))); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// The longest entry that a ledger takes is one that it can read again, with names
// that grow sixfold in JSON and the largest counts; one byte more is refused when
// it is recorded, not when it is read.
func TestLongestLine(t *testing.T) {
	wide := strings.Repeat("<", 1024)
	long := func(n int) privacy.Event {
		return privacy.Unprotected{What: "w", Why: strings.Repeat("y", n), Unit: privacy.Interaction}
	}
	takes := func(n int) error { return must(privacy.NewLedger(privacy.Secure)).Record("p", long(n), 1) }
	lo, hi := 1, 1<<21 // accepted, refused
	for hi-lo > 1 {
		if mid := (lo + hi) / 2; takes(mid) == nil {
			lo = mid
		} else {
			hi = mid
		}
	}
	if lo < 1<<19 || lo > 1<<20 {
		t.Fatalf("the longest reason has %d bytes", lo)
	}
	if err := takes(hi); err == nil || !strings.Contains(err.Error(), "ledger: unprotected: a text of ") {
		t.Errorf("one byte more: %v", err)
	}
	path := filepath.Join(t.TempDir(), "a")
	l := must(privacy.CreateLedger(path, privacy.Secure, nil))
	check(t, errors.Join(l.Bound(wide, math.MaxInt64), l.Record(wide, long(lo), math.MaxInt64)))
	st := must(l.State())
	check(t, errors.Join(l.Flush(wide), l.Close()))
	want := []privacy.Entry{{Period: wide, Purpose: wide, Count: math.MaxInt64, PerUnit: math.MaxInt64, Event: long(lo)}}
	if got := must(privacy.Reading{}.File(path)).Entries(); !cmp.Equal(got, want) {
		t.Error("the longest line comes back as another one")
	}
	resumed := must(privacy.ResumeLedger(path, st, nil))
	check(t, errors.Join(resumed.Flush(wide), resumed.Close()))
	if got := must(privacy.Reading{}.File(path)).Entries(); !cmp.Equal(got, want) {
		t.Error("the longest line is resumed as another one")
	}
}

// Names that JSON would change, or that do not fit a line, are refused before
// anything is recorded under them: two bounds would become one.
func TestNamesAreWrittenAsTheyAre(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a")
	l := must(privacy.CreateLedger(path, privacy.Research, nil))
	check(t, l.Record("p", normal, 2))
	for what, name := range map[string]string{"not UTF-8": "a\xff", "is not UTF-8": "\xed\xa0\x80", "want at most 1024": strings.Repeat("n", 1025)} {
		bare := privacy.Unprotected{What: name, Why: "y"}
		for where, err := range map[string]error{
			"record": l.Record(name, normal, 1), "bound": l.Bound(name, 1), "flush": l.Flush(name),
			"what": l.Record("p", bare, 1), "why": l.Record("p", privacy.Unprotected{What: "w", Why: name}, 1),
		} {
			if len(name) > 1024 && (where == "what" || where == "why") {
				check(t, err) // a reason may be longer than a name
				continue
			}
			if err == nil || !strings.HasPrefix(err.Error(), "ledger: ") || !strings.Contains(err.Error(), what) {
				t.Errorf("%s %.5q: %v, want %q", where, name, err, what)
			}
		}
	}
	// The period stayed open, and can still be closed under a proper name.
	check(t, errors.Join(l.Flush("epoch\u2028 1 <ä\x00>"), l.Close()))
	got := must(privacy.Reading{}.File(path)).Entries()
	if len(got) != 3 || got[0].Period != "epoch\u2028 1 <ä\x00>" || got[0].Count+got[1].Count+got[2].Count != 4 {
		t.Errorf("%.200v", got)
	}
	for _, e := range got {
		if text := must(json.Marshal(e.Purpose)); !bytes.Equal(text, []byte(`"p"`)) {
			t.Errorf("purpose %s", text)
		}
	}
}
