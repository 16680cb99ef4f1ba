package format

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"privrec/internal/dataset"
	"privrec/internal/dataset/compress"
)

// streamed reads a text as a form and lists its rows.
func streamed(t testing.TB, form Form, text string) ([]string, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "in")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return streamFile(path, form)
}

func streamFile(path string, form Form) (rows []string, err error) {
	s, err := OpenStream(context.Background(), path, form)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	for s.Next() {
		mark := ""
		if s.Starts {
			mark = "+"
		}
		rows = append(rows, fmt.Sprintf("%s%s:%s@%d/%d", mark, s.User, s.Item, s.Time, s.Line()))
	}
	if s.Next() {
		return rows, errors.New("went on after the end")
	}
	return rows, s.Err()
}

func TestStreamForms(t *testing.T) {
	for _, c := range []struct {
		form Form
		text string
		want []string
	}{
		{TSV, "user_id\titem_id\na\tx\na\ty\nb\tx\n", []string{"+a:x@0/2", "a:y@0/3", "+b:x@0/4"}},
		{TSV, "timestamp\titem_id\tx\tuser_id\r\n5\ti\t.\tu\r\n5\tj\t.\tu\r\n4\ti\t.\tv\r\n", []string{"+u:i@5/2", "u:j@5/3", "+v:i@4/4"}},
		{CSV, "user_id,item_id,rating\n\"a,b\",i,x\n\"a,b\",j,x", []string{"+a,b:i@0/2", "a,b:j@0/3"}},
		{Atomic, "user_id:token\titem_id:token\ttimestamp:float\nu\ti\t3.0\n", []string{"+u:i@3/2"}},
		{Atomic, "user_id:token\titem_id:token\ttimestamp:float\nu\ti\t3.05\nu\tj\t3.1\nu\tk\t3.10\nu\tl\t4e0\nv\ti\t1700000000.123456789\nv\tj\t1700000000.123456790\n",
			[]string{"+u:i@3/2", "u:j@3/3", "u:k@3/4", "u:l@4/5", "+v:i@1700000000/6", "v:j@1700000000/7"}},
		{Lines, "a 1 2\nb\na 3 \n", []string{"+a:1@0/1", "a:2@0/1", "+b:@0/2", "+a:3@0/3"}},
		{TSV, "user_id\titem_id\na\tx\nb\ty\na\tx\n", []string{"+a:x@0/2", "+b:y@0/3", "+a:x@0/4"}},
	} {
		if got, err := streamed(t, c.form, c.text); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s %q: %q (%v), want %q", c.form, c.text, got, err, c.want)
		}
	}
}

// What is wrong is named with line and field.
func TestStreamRefuses(t *testing.T) {
	for _, c := range []struct {
		form Form
		text string
		line int
		want string
	}{
		{TSV, "", 0, "file is empty"},
		{TSV, "user_id\titem_id\n", 0, "no interactions"},
		{Lines, "\n", 0, "no interactions"},
		{TSV, "buyer\titem_id\na\tb\n", 1, `field "user_id": column is missing`},
		{TSV, "user_id\titem_id\tuser_id\na\tb\n", 1, "duplicate header"},
		{TSV, "user_id\titem_id\na\n", 2, "one field instead of 2"},
		{TSV, "user_id\titem_id\n\tb\n", 2, `field "user_id": empty`},
		{TSV, "user_id\titem_id\na\t\n", 2, `field "item_id": empty`},
		{TSV, "user_id\titem_id\ttimestamp\na\tb\t2\na\tc\t1\n", 3, "1 is before 2"},
		{Atomic, "user_id:token\titem_id:token\ttimestamp:float\na\tb\t2.10\na\tc\t2.09\n", 3, "2.09 is before 2.1 of the row above"},
		{Atomic, "user_id:token\titem_id:token\ttimestamp:float\na\tb\t2\na\tc\tnan\n", 3, `field "timestamp": not a 64-bit integer`},
		{Atomic, "user_id:token\titem_id:token\ttimestamp:float\na\tb\t-2.5\n", 2, `field "timestamp": not a time`},
		{Atomic, "user_id:token\titem_id:token\ttimestamp:float\na\tb\t1.5.5\n", 2, `field "timestamp": not a finite number`},
		{Atomic, "user_id:token\titem_id:token\ttimestamp:float\na\tb\t.5\n", 2, `field "timestamp": not a time`},
		{TSV, "user_id\titem_id\ttimestamp\na\tb\tsoon\n", 2, `field "timestamp"`},
		{TSV, "user_id\titem_id\na\tb\n\na\tb\n", 3, "blank line"},
		{CSV, "user_id,item_id\n\"a,b\n", 2, "no closing"},
		{Atomic, "user_id\titem_id\na\tb\n", 1, "no type"},
		{Lines, "a  b\n", 1, "two spaces"},
		{Lines, "a 1\n 2\n", 2, "not a user"},
		{Lines, "a\t1\n", 1, "separated by single spaces"},
		{Lines, "a 1\xff\n", 1, "UTF-8"},
		{"other", "a 1\n", 0, "unknown form"},
	} {
		_, err := streamed(t, c.form, c.text)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %q: %v, want %q", c.form, c.text, err, c.want)
			continue
		}
		var e *dataset.Error
		if c.form != "other" && (!errors.As(err, &e) || e.Line != c.line) {
			t.Errorf("%s %q: %v, want line %d", c.form, c.text, err, c.line)
		}
	}
	if _, err := OpenStream(context.Background(), filepath.Join(t.TempDir(), "none"), TSV); err == nil {
		t.Error("a file that is not there")
	}
}

// A table that a Log holds is the same as a stream, row by row.
func TestStreamAgreesWithLog(t *testing.T) {
	var b strings.Builder
	b.WriteString("user_id\titem_id\ttimestamp\n")
	for u := range 50 {
		for i := range 1 + u%5 {
			fmt.Fprintf(&b, "%d\t%d\t%d\n", u, (u*7+i)%13, i/2)
		}
	}
	path := filepath.Join(t.TempDir(), "own.tsv")
	if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	l, err := Table{Time: "timestamp"}.Read(context.Background(), path)
	if err != nil {
		t.Fatal(err)
	}
	s, err := OpenStream(context.Background(), path, TSV)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	n := 0
	for ; s.Next(); n++ {
		if string(s.User) != l.UserIDs[l.Users[n]] || string(s.Item) != l.ItemIDs[l.Items[n]] || s.Time != l.Times[n] {
			t.Fatalf("row %d: %s %s %d", n, s.User, s.Item, s.Time)
		}
	}
	if digest, err := s.Digest(); s.Err() != nil || n != l.Len() || err != nil || digest != l.Hash {
		t.Errorf("%d rows of %d, digest %s of %s (%v, %v)", n, l.Len(), digest, l.Hash, s.Err(), err)
	}
}

func TestStreamStopsWithItsContext(t *testing.T) {
	path := filepath.Join(t.TempDir(), "in.txt")
	if err := os.WriteFile(path, []byte("a"+strings.Repeat(" 1", 5000)+"\n"), 0o644); err != nil { // one line
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	s, err := OpenStream(ctx, path, Lines)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	cancel()
	n := 0
	for s.Next() {
		n++
	}
	if !errors.Is(s.Err(), context.Canceled) || n > 1024 {
		t.Errorf("%d rows (%v)", n, s.Err())
	}
}

// Blocks compressed one by one read as one file, for any packer; bytes are repeated.
func TestPackedBlocksAreOneFile(t *testing.T) {
	text := "user_id\titem_id\n" + strings.Repeat("u\ti\n", 3000)
	for _, kind := range []compress.Kind{compress.Plain, compress.Gzip, compress.Zstd} {
		var files [2][]byte
		for i := range files {
			p, err := compress.NewPacker(kind)
			if err != nil {
				t.Fatal(err)
			}
			for block := range slices.Chunk([]byte(text), 4099) {
				if i == 1 { // another packer a block
					if p, err = compress.NewPacker(kind); err != nil {
						t.Fatal(err)
					}
				}
				if files[i], err = p.Append(files[i], block); err != nil {
					t.Fatal(err)
				}
			}
		}
		if !bytes.Equal(files[0], files[1]) {
			t.Errorf("%s: other bytes", kind)
		}
		path := filepath.Join(t.TempDir(), "in")
		if err := os.WriteFile(path, files[0], 0o644); err != nil {
			t.Fatal(err)
		}
		if rows, err := streamFile(path, TSV); err != nil || len(rows) != 3000 {
			t.Errorf("%s: %d rows (%v)", kind, len(rows), err)
		}
		if err := os.WriteFile(path, files[0][:len(files[0])-7], 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := streamFile(path, TSV); kind != compress.Plain && !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%s, cut: %v", kind, err)
		}
	}
	if _, err := compress.NewPacker("rar"); err == nil {
		t.Error("an unknown compression")
	}
}

func TestNamesTellForms(t *testing.T) {
	for name, want := range map[string]string{
		"a.tsv": "tsv ", "x/a.csv.gz": "csv gzip", "a.inter.zst": "inter zstd", "a.txt": "lines ", "a.b.txt.gz": "lines gzip", "a": " ", "a.gz": " gzip", "tsv": " ", "a.json": " ",
	} {
		f, ok := Of(name)
		if got := string(f) + " " + string(compress.Of(name)); got != want || ok != (f != "") {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

func TestReadIDs(t *testing.T) {
	read := func(form Form, text string) ([]string, error) {
		path := filepath.Join(t.TempDir(), "ids")
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return ReadIDs(context.Background(), path, form, "item_id")
	}
	for form, text := range map[Form]string{
		Lines: "b\na c\n7\n", TSV: "title\titem_id\nB\tb\nA\ta c\n7\t7\n", CSV: "item_id,x\nb,\n\"a c\",\n7,\n", Atomic: "item_id:token\tx:float\nb\t1\na c\t2\n7\t3\n",
	} {
		if ids, err := read(form, text); err != nil || !slices.Equal(ids, []string{"b", "a c", "7"}) {
			t.Errorf("%s: %q (%v)", form, ids, err)
		}
	}
	for _, c := range []struct {
		form       Form
		text, want string
	}{
		{Lines, "a\nb\na\n", `:3: field "item_id": second row of "a"`}, {TSV, "thing\na\n", "column is missing"}, {TSV, "item_id\n", "no ids"},
		{Lines, "", "file is empty"}, {TSV, "item_id\tx\n\ty\n", "empty"},
		{Lines, "a\nb\tc\n", `:2: field "item_id": a tab in the line: "b\tc"`},
		{Lines, "a\n\"b\"\n", `:2: field "item_id": an id in quotes: "\"b\""`},
		{TSV, "item_id\tx\n\"b\"\ty\n", ":2: field \"item_id\": an id in quotes"},
		{TSV, "\"item_id\"\t\"x\"\n", ":1: a name in quotes"}, {Lines, "a\rb\rc\r", ":1: its lines end in CR alone"},
		{Lines, "\ufeffa\n\ufeffb\n", ":2: a byte order mark inside the file"},
		{"other", "a\n", "unknown form"},
	} {
		if _, err := read(c.form, c.text); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %q: %v, want %q", c.form, c.text, err, c.want)
		}
	}
}

// Lines of users and items that are a table, or have ids in quotes, are refused with their place.
func TestLinesThatAreATable(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"a 1 2\nuser_id item_1 item_2\n", `:2: field "user": the header of a table: "user_id item_1 item_2"`},
		{"userId,movieId\n1,2\n", `:1: field "user": the header of a table`},
		{"a 1 2\n\"b\" 1 2\n", `:2: an id in quotes: "\"b\""`},
		{"a 1 \"2\"\n", `:1: an id in quotes`},
		{"NaN 1 2\n", `:1: field "user": "NaN" is how pandas writes`},
		{"a 1 nan\n", `:1: field "item": "nan" is how pandas`},
		{"a 1\rb 2\r", ":1: its lines end in CR alone"},
	} {
		if _, err := streamed(t, Lines, c.text); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %q", c.text, err, c.want)
		}
	}
	if rows, err := streamed(t, Lines, "user 1 x\"y\nid 2\n"); err != nil || len(rows) != 3 {
		t.Errorf("%q (%v)", rows, err)
	}
}

// A log in order of time is refused at the first user who comes again, with the command that sorts it.
func TestStreamOfALogInOrderOfTime(t *testing.T) {
	for name, want := range map[string]string{
		"my log.csv": "cat 'my log.csv' | (read -r h; echo \"$h\"; LC_ALL=C sort -s -t ',' -k2,2 -k1,1n) > SORTED",
		"log.tsv":    "cat log.tsv | (read -r h; echo \"$h\"; LC_ALL=C sort -s -t $'\\t' -k2,2 -k1,1n) > SORTED",
	} {
		t.Chdir(t.TempDir())
		form, _ := Of(name)
		sep := map[Form]string{CSV: ",", TSV: "\t"}[form]
		text := "timestamp,user_id,item_id\n1,a,x\n2,b,y\n3,a,z\n"
		if err := os.WriteFile(name, []byte(strings.ReplaceAll(text, ",", sep)), 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := OpenStream(t.Context(), name, form)
		if err != nil {
			t.Fatal(err)
		}
		s.Together = true
		for s.Next() {
		}
		s.Close()
		var e *dataset.Error
		if err := s.Err(); !errors.As(err, &e) || e.Line != 4 || !strings.Contains(e.Hint, want) ||
			!strings.Contains(e.Hint, "privrec-beam") {
			t.Errorf("%s: %v", name, err)
			continue
		}
		_, command, _ := strings.Cut(e.Hint, ": ")
		command, _, _ = strings.Cut(command, "; privrec-beam")
		sort := exec.Command("bash", "-c", command)
		if out, err := sort.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", sort, err, out)
		}
		if s, err = OpenStream(t.Context(), "SORTED", form); err != nil {
			t.Fatal(err)
		}
		n := 0
		for s.Next() {
			n++
		}
		if s.Err() != nil || n != 3 {
			t.Errorf("sorted: %d rows, %v", n, s.Err())
		}
		s.Close()
	}
}
