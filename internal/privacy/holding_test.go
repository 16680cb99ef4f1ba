package privacy_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"privrec/internal/privacy"
)

func cells(most int64) privacy.Holding {
	return privacy.Holding{Unit: privacy.User, Of: privacy.Cell, Most: most}
}

// A holding is a line before the releases of its period. A larger one is written
// again and counts, a smaller or equal one changes nothing.
func TestHoldingLines(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a")
	l := must(privacy.CreateLedger(path, privacy.Research, nil))
	check(t, errors.Join(l.Record("sums", normal, 5), l.Hold(cells(3)), l.Hold(privacy.Holding{Unit: privacy.User, Of: privacy.Edge, Most: 9}), l.Hold(cells(101)), l.Hold(cells(7))))
	check(t, l.Flush("epoch 1"))
	check(t, errors.Join(l.Hold(cells(101)), l.Hold(cells(100)), l.Record("sums", normal, 5), l.Flush("epoch 2")))
	check(t, errors.Join(l.Hold(cells(102)), l.Close()))
	want := []privacy.Holding{cells(102), {Unit: privacy.User, Of: privacy.Edge, Most: 9}}
	if got := l.Holdings(); !cmp.Equal(got, want) {
		t.Errorf("in memory %v, want %v", got, want)
	}
	file := must(os.ReadFile(path))
	read := must(privacy.Reading{}.File(path))
	if got := read.Holdings(); !cmp.Equal(got, want) {
		t.Errorf("on file %v, want %v", got, want)
	}
	if n := len(read.Entries()); n != 2 {
		t.Errorf("%d entries, want the two releases", n)
	}
	var stated []string
	for _, text := range lines(t, file) {
		if strings.HasPrefix(text, `{"holding"`) {
			stated = append(stated, text)
		}
	}
	if d := cmp.Diff([]string{
		`{"holding":{"unit":"user","of":"cell","most":101}`,
		`{"holding":{"unit":"user","of":"edge","most":9}`,
		`{"holding":{"unit":"user","of":"cell","most":102}`,
	}, stated); d != "" {
		t.Error(d)
	}
	if got := []int{read.Line(0), read.Line(1)}; !cmp.Equal(got, []int{4, 5}) {
		t.Errorf("the entries are on lines %v, want 4 and 5 of\n%s", got, file)
	}
	// Every byte of a statement is covered, as every byte of a release is.
	for i := range file {
		bad := bytes.Clone(file)
		bad[i] ^= 1
		if _, err := (privacy.Reading{}).Parse(bytes.NewReader(bad)); err == nil {
			t.Fatalf("byte %d changed: accepted", i)
		}
	}
}

// Who states first does not show, and a run that was killed between the statement
// and its line goes on to the same bytes.
func TestHoldingsAreDeterministic(t *testing.T) {
	dir := t.TempDir()
	all := []privacy.Holding{cells(4), cells(101), {Unit: privacy.User, Of: privacy.Interaction, Most: 50}, {Unit: privacy.Interaction, Of: privacy.Edge, Most: 2}}
	write := func(name string, stop bool) []byte {
		path := filepath.Join(dir, name)
		l := must(privacy.CreateLedger(path, privacy.Secure, nil))
		var wg sync.WaitGroup
		for i := range all {
			wg.Go(func() {
				if err := l.Hold(all[(i+len(name))%len(all)]); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if stop {
			saved := must(json.Marshal(must(l.State())))
			check(t, l.Close())
			var st privacy.LedgerState
			check(t, json.Unmarshal(saved, &st))
			l = must(privacy.ResumeLedger(path, st, nil))
			if again := must(json.Marshal(must(l.State()))); !bytes.Equal(again, saved) {
				t.Errorf("%s became %s", saved, again)
			}
			for _, h := range all { // a resumed run sets up again
				check(t, l.Hold(h))
			}
		}
		check(t, errors.Join(l.Record("sums", normal, 1), l.Flush("1"), l.Close()))
		return must(os.ReadFile(path))
	}
	want := write("a", false)
	for _, name := range []string{"bc", "def", "ghij"} {
		if got := write(name, len(name)%2 == 0); !bytes.Equal(got, want) {
			t.Errorf("%s\nwant\n%s", got, want)
		}
	}
}

// What cannot be a holding is refused when it is stated and when it is read.
func TestHoldingRefused(t *testing.T) {
	l := must(privacy.NewLedger(privacy.Research))
	for name, h := range map[string]privacy.Holding{
		"none": {}, "no unit": {Of: privacy.Cell, Most: 1}, "no part": {Unit: privacy.User, Most: 1}, "of itself": {Unit: privacy.User, Of: privacy.User, Most: 1},
		"zero": cells(0), "negative": cells(-1), "an unknown unit": {Unit: "row", Of: privacy.Cell, Most: 1},
	} {
		if err := l.Hold(h); err == nil || !strings.HasPrefix(err.Error(), "ledger: ") {
			t.Errorf("%s: %v", name, err)
		}
	}
	check(t, l.Hold(cells(3)))
	check(t, l.Close())
	if err := l.Hold(cells(5)); err == nil || len(l.Holdings()) != 1 || l.Holdings()[0] != cells(3) {
		t.Errorf("stated after the end: %v, %v", err, l.Holdings())
	}
	path := filepath.Join(t.TempDir(), "a")
	l = must(privacy.CreateLedger(path, privacy.Research, nil))
	check(t, errors.Join(l.Hold(cells(3)), l.Record("sums", normal, 1), l.Flush("1")))
	st := must(l.State())
	check(t, l.Close())
	file := must(os.ReadFile(path))
	for name, c := range map[string]struct{ old, new, want string }{
		"a unit":        {`"unit":"user","of"`, `"unit":"row","of"`, `unknown unit "row"`},
		"a part":        {`"of":"cell"`, `"of":"row"`, `unknown unit "row"`},
		"itself":        {`"of":"cell"`, `"of":"user"`, "of itself"},
		"none":          {`"most":3`, `"most":0`, "most is 0"},
		"a field":       {`"most":3`, `"most":3,"least":1`, "unknown field"},
		"half":          {`"most":3`, `"most":3.5`, "cannot unmarshal"},
		"a key twice":   {`"most":3`, `"most":2,"most":3`, "not in canonical form"},
		"a blank":       {`"most":3`, `"most": 3`, "not in canonical form"},
		"beside it":     {`"most":3}`, `"most":3},"period":"1"`, "unknown field"},
		"nothing":       {`{"unit":"user","of":"cell","most":3}`, `null`, "unknown unit"},
		"another order": {`"of":"cell","most":3`, `"most":3,"of":"cell"`, "not in canonical form"},
	} {
		open := lines(t, file)
		if !strings.Contains(open[1], c.old) {
			t.Fatalf("%s: no %s in %s", name, c.old, open[1])
		}
		open[1] = strings.Replace(open[1], c.old, c.new, 1)
		if _, err := (privacy.Reading{}).Parse(bytes.NewReader(sealed(documented, open))); err == nil || !strings.HasPrefix(err.Error(), "line 2: ") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	st.Holdings = []privacy.Holding{cells(0)}
	if _, err := privacy.ResumeLedger(path, st, nil); err == nil || !strings.Contains(err.Error(), "checkpoint: holding") {
		t.Errorf("a checkpoint with a holding of nothing: %v", err)
	}
}
