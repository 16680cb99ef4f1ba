package record

import (
	"strings"
	"testing"
)

func fillExample(t *testing.T, source string) (*filler, *filled) {
	t.Helper()
	f := &filler{records: map[string]*File{"file": example()}, used: map[string]bool{}}
	p, err := f.fill("page", source)
	if err != nil {
		t.Fatal(err)
	}
	return f, p
}

const examplePage = `# Page

| X | {{row "file/x" "Recall@20; floor random|Recall@20:m"}} |
{{sweep "x old" "Recall@20" "a row" "file/*"}}
From {{v "file/x#1" "Recall@20:1"}} to {{show "1" (sub (get "file/x" "Recall@20") (get "file/old" "Recall@20"))}} and 3.14.
`

func TestFill(t *testing.T) {
	_, p := fillExample(t, examplePage)
	const want = `# Page

| X | 13.00 (0.71) | 1.00 |
| a row | **13.00** (0.71) | **12.37** |
From 12.5 to 0.6 and 3.14.
`
	if p.text != want {
		t.Errorf("the page is\n%s\nwant\n%s", p.text, want)
	}
	for _, s := range p.spans {
		if p.text[s.from:s.to] == "" || strings.ContainsAny(p.text[s.from:s.to], begin+middle+end) {
			t.Errorf("a span is %q", p.text[s.from:s.to])
		}
	}
	if got := strings.Join(p.byHand("page", nil), "\n"); !strings.Contains(got, "page:5: 3.14") || strings.Contains(got, "\n") {
		t.Errorf("typed by hand: %s", got)
	}
	if got := p.byHand("page", map[string]string{"3.14": "pi", "2.72": "e"}); len(got) != 1 || !strings.Contains(got[0], "no typed 2.72") {
		t.Errorf("with a list: %v", got)
	}
}

// Every digit of every filled number, changed by hand, is found with its record, field and line.
func TestChangedDigits(t *testing.T) {
	_, p := fillExample(t, examplePage)
	changed := 0
	for _, s := range p.spans {
		for at := s.from; at < s.to; at++ {
			if c := p.text[at]; c < '0' || c > '9' {
				continue
			}
			digit := string('0' + (p.text[at]-'0'+1)%10)
			got := strings.Join(p.differences("page", p.text[:at]+digit+p.text[at+1:]), "\n")
			line := strings.Count(p.text[:at], "\n") + 1
			for _, part := range []string{"page:" + string('0'+rune(line)) + ":", s.where, "docs/results/records/file.json"} {
				if !strings.Contains(got, part) {
					t.Fatalf("byte %d of %q changed: %q does not say %q", at, s.text, got, part)
				}
			}
			changed++
		}
	}
	if changed < 20 {
		t.Fatalf("%d digits were changed", changed)
	}
}

func TestRecordsThatAreGoneOrUnused(t *testing.T) {
	f, _ := fillExample(t, examplePage)
	if got := f.unused(); len(got) != 1 || !strings.Contains(got[0], "record speed") {
		t.Errorf("unused: %v", got)
	}
	f.records["file"].Records = f.records["file"].Records[1:]
	if _, err := f.fill("page", examplePage); err == nil || !strings.Contains(err.Error(), "has no record x") || !strings.Contains(err.Error(), "page:3") {
		t.Errorf("without a record: %v", err)
	}
	delete(f.records, "file")
	if _, err := f.fill("page", examplePage); err == nil || !strings.Contains(err.Error(), "records/file.json is gone") {
		t.Errorf("without the file: %v", err)
	}
}
