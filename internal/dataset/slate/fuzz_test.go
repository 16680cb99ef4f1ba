package slate

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"privrec/internal/dataset"
	"privrec/internal/dataset/format"
	"privrec/internal/dataset/registry"
)

// addSeeds adds the bad files whose names end in suffix, and some good ones, to the fuzz corpus.
func addSeeds(f *testing.F, suffix string, good ...string) {
	for _, g := range good {
		f.Add([]byte(g))
	}
	entries, err := os.ReadDir(badDir)
	if err != nil {
		f.Fatal(err)
	}
	for _, e := range entries {
		if strings.HasSuffix(strings.TrimSuffix(e.Name(), ".gz"), suffix) {
			b, err := os.ReadFile(filepath.Join(badDir, e.Name()))
			if err != nil {
				f.Fatal(err)
			}
			f.Add(b)
		}
	}
}

// try parses bytes as a file; an error must be a *dataset.Error that names the file and
// a line that exists.
func try(t *testing.T, dir string, b []byte, columns []string, parse func(path string) error) bool {
	path := filepath.Join(dir, "fuzzed")
	if err := os.WriteFile(path, b, 0o666); err != nil {
		t.Fatal(err)
	}
	err := parse(path)
	if err == nil {
		return true
	}
	var e *dataset.Error
	if !errors.As(err, &e) || e.File != path || e.Msg == "" {
		t.Fatalf("error without a place: %v", err)
	}
	compressed := bytes.HasPrefix(b, []byte{0x1f}) || bytes.HasPrefix(b, []byte{0x28, 0xb5})
	if n := bytes.Count(b, []byte("\n")) + 1; e.Line < 0 || !compressed && e.Line > n {
		t.Fatalf("error names line %d of %d: %v", e.Line, n, err)
	}
	if e.Field != "" && !slices.Contains(columns, e.Field) {
		t.Fatalf("error names column %q: %v", e.Field, err)
	}
	return false
}

// built sends what a parser took through the builder.
func built(t *testing.T, s *Set, err error) {
	var e *dataset.Error
	if err != nil {
		if !errors.As(err, &e) {
			t.Fatalf("error without a place: %v", err)
		}
		return
	}
	if err := s.valid(); err != nil {
		t.Fatal(err)
	}
	if err := s.disjoint(); err != nil {
		t.Fatal(err)
	}
}

func FuzzZhihu(f *testing.F) {
	addSeeds(f, "inter_impression.csv", zhihuLog("1", "2", "3"))
	fuzzLog(f, zhihuColumns, ReadZhihu)
}

func FuzzGeneric(f *testing.F) {
	addSeeds(f, "impressions.tsv", strings.Join(genericColumns, "\t")+"\n"+strings.ReplaceAll(zhihuLog("1", "2", "3"), ",", "\t"))
	fuzzLog(f, genericColumns, func(ctx context.Context, path string) (*Log, error) {
		return ReadGeneric(ctx, path, format.TSV, registry.Columns{})
	})
}

func fuzzLog(f *testing.F, columns []string, read func(ctx context.Context, path string) (*Log, error)) {
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, b []byte) {
		var l *Log
		if !try(t, dir, b, columns, func(path string) (err error) { l, err = read(t.Context(), path); return err }) {
			return
		}
		for row := range l.Users {
			if l.Shown[row] < 1 || l.Clicked[row] < 0 || l.UserIDs[l.Users[row]] == "" || l.ItemIDs[l.Items[row]] == "" {
				t.Fatalf("row %d: %q was shown %q at %d, clicked at %d", row, l.UserIDs[l.Users[row]], l.ItemIDs[l.Items[row]], l.Shown[row], l.Clicked[row])
			}
		}
		s, err := Build(l, Options{T: 2, L: 1})
		built(t, s, err)
	})
}

func FuzzMIND(f *testing.F) {
	addSeeds(f, "behaviors.tsv", mindLogs("U1", "U2", "U3"))
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, b []byte) {
		var m *Impressions
		if !try(t, dir, b, mindColumns, func(path string) (err error) { m, err = ReadMIND(t.Context(), path); return err }) {
			return
		}
		for _, pairing := range []string{PairIndex, PairLog} {
			s, err := BuildMIND(m, Options{T: 2, L: 1, Pairing: pairing})
			built(t, s, err)
		}
	})
}

// FuzzTables reads the extracted tables, one after the other by the first byte.
func FuzzTables(f *testing.F) {
	for i, suffix := range []string{"val.tsv", "train_reconstructed.tsv", "sequence2user.tsv", "vocab.tsv", "user_items.tsv"} {
		entries, err := os.ReadDir(badDir)
		if err != nil {
			f.Fatal(err)
		}
		for _, e := range entries {
			if strings.HasSuffix(e.Name(), suffix) {
				b, err := os.ReadFile(filepath.Join(badDir, e.Name()))
				if err != nil {
					f.Fatal(err)
				}
				f.Add(append([]byte{byte(i)}, b...))
			}
		}
	}
	f.Add([]byte("\x00seq_id\tuser\tcomplete\texposure\thistory\n-1\t3\t1\t4,5,6,7,8,9,10,11,12,13\t4,5,6,7,8\n0\t3\t0\t\t\n"))
	f.Add([]byte("\x01row\tuser\texposure_approx\thistory\n0\t1\t4,5,6,7,8,9,10,11,12,13\t4,5,6,7,8\n"))
	f.Add([]byte("\x04user\tshown_in_order\tclicked_set\n0\t4,5,6\t\n1\t\t6,6,4\n"))
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) == 0 {
			return
		}
		path := filepath.Join(dir, "fuzzed")
		if err := os.WriteFile(path, b[1:], 0o666); err != nil {
			t.Fatal(err)
		}
		tab := &tables{ctx: t.Context(), folder: dir, vocab: 20}
		var tokens [][]int32
		var err error
		switch b[0] % 5 {
		case 0:
			var rows []pairRow
			rows, err = tab.pairs("fuzzed")
			for _, r := range rows {
				tokens = append(tokens, r.slate, r.behaviour)
			}
		case 1:
			var rows []trainRow
			rows, err = tab.training("fuzzed", 3)
			for _, r := range rows {
				tokens = append(tokens, r.slate, r.behaviour)
			}
		case 2:
			_, err = tab.owners("fuzzed")
		case 3:
			tab.vocab = 0
			err = tab.vocabulary("fuzzed")
		case 4:
			var shown, clicked [][]int32
			_, shown, clicked, err = tab.logged("fuzzed")
			tokens = append(shown, clicked...)
		}
		var e *dataset.Error
		if err != nil && (!errors.As(err, &e) || e.File != path || e.Line > bytes.Count(b, []byte("\n"))+1 && b[1] != 0x1f && b[1] != 0x28) {
			t.Fatalf("error without a place: %v", err)
		}
		for _, x := range slices.Concat(tokens...) {
			if x < FirstItem || x > 19 {
				t.Fatalf("token %d", x)
			}
		}
	})
}
