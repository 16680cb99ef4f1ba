package perturb

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"privrec/internal/rng"
)

// files makes files without a name in a folder.
func files(dir string) func() (*os.File, error) {
	return func() (*os.File, error) { return NamelessFile(dir) }
}

// Users in the order of CompareIDs whatever the memory, merged over several levels.
func TestSorter(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		n := rapid.IntRange(0, 300).Draw(r, "users")
		s := &Sorter{Compare: CompareIDs, file: files(t.TempDir()), most: rapid.SampledFrom([]int{1, 100, 1000, sortBytes}).Draw(r, "bytes"), ways: rapid.IntRange(2, 5).Draw(r, "ways")}
		st := rng.Seed(rapid.Uint64().Draw(r, "seed")).Stream("sorter")
		var ids []string
		for i := range n {
			id := fmt.Sprint(i * 37 % 1000)
			if i%3 == 0 {
				id = fmt.Sprintf("n%03d", i)
			}
			ids = append(ids, id)
		}
		st.Shuffle(n, func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
		cells := func(id string) []int32 {
			return []int32{int32(len(id)), int32(id[len(id)-1]), 0, math.MaxInt32}
		}
		items := Items()
		for _, id := range ids {
			if err := s.Add([]byte(id), func(dst []byte) []byte { return items.Append(dst, cells(id)) }); err != nil {
				r.Fatal(err)
			}
		}
		var got []string
		c := make([]int32, 4)
		err := s.Each(func(id, held []byte) error {
			items.Read(held, c)
			if !slices.Equal(c, cells(string(id))) {
				r.Fatalf("cells %v of %s", c, id)
			}
			got = append(got, string(id))
			return nil
		})
		if err := errors.Join(err, s.Close()); err != nil {
			r.Fatal(err)
		}
		slices.SortFunc(ids, func(a, b string) int { return CompareIDs([]byte(a), []byte(b)) })
		if !slices.Equal(got, ids) {
			r.Fatalf("%v, want %v", got, ids)
		}
	})
}

// A file that cannot be made or read back is an error, never a user less.
func TestSorterFails(t *testing.T) {
	one := func(dst []byte) []byte { return append(dst, 1) }
	s := &Sorter{Compare: CompareIDs, file: files(t.TempDir() + "/none"), most: 1, ways: 3}
	if err := errors.Join(s.Add([]byte("a"), one), s.Add([]byte("b"), one)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no folder: %v", err)
	}
	s = &Sorter{Compare: CompareIDs, file: files(t.TempDir()), most: 1, ways: 30}
	for i := range 9 {
		if err := s.Add(fmt.Appendf(nil, "user%d", i), func(dst []byte) []byte { return append(dst, 1, 2) }); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.levels[0].f.Truncate(s.levels[0].end - 1); err != nil {
		t.Fatal(err)
	}
	s.levels[0].end-- // the last piece is cut, and another follows it
	s.levels[0].pieces[len(s.levels[0].pieces)-1][1]--
	err := s.Each(func(id, held []byte) error { return nil })
	if !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("a record cut short: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

func TestOrderOfIDs(t *testing.T) {
	want := []string{"0", "7", "10", "99", "100", "", "007", "1a", "B", "a"}
	got := slices.Clone(want)
	slices.Reverse(got)
	slices.SortFunc(got, func(a, b string) int { return CompareIDs([]byte(a), []byte(b)) })
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}
