package perturb_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"privrec/internal/dataset/format"
	"privrec/internal/perturb"
	"privrec/internal/privacy"
	"privrec/internal/report"
	"privrec/internal/run"
)

// features are rows of a table: a user and numbers. They are the Records of these tests.
type features struct {
	rows *format.Rows
	set  *perturb.Settings
}

func (r *features) Length() int             { return len(r.rows.Columns) - 1 }
func (r *features) Headers() []string       { return []string{strings.Join(r.rows.Columns, "\t") + "\n"} }
func (r *features) Digest() (string, error) { return r.rows.Digest() }
func (r *features) Close()                  { r.rows.Close() }

func (r *features) Read(b *perturb.Block[float64]) (ok bool, err error) {
	if !r.rows.Next() {
		return false, r.rows.Err()
	}
	row := b.Push(r.rows.Line(), r.rows.Fields[0])
	for i := range row {
		if row[i], err = r.rows.Float(i + 1); err != nil {
			return false, err
		}
	}
	return true, nil
}

func (r *features) Append(b *perturb.Block[float64], i int) (err error) {
	if b.Lines[0], err = r.set.OutForm.AppendField(b.Lines[0], b.ID(i, 0)); err != nil {
		return err
	}
	for _, x := range b.Cells(i) {
		b.Lines[0] = fmt.Appendf(b.Lines[0], "\t%g", x)
	}
	b.Lines[0] = append(b.Lines[0], '\n')
	return nil
}

// numbers are a codec of numbers.
func numbers() *perturb.Codec[float64] {
	return &perturb.Codec[float64]{
		Append: func(dst []byte, cells []float64) []byte {
			for _, x := range cells {
				dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(x))
			}
			return dst
		},
		Read: func(src []byte, cells []float64) {
			for i := range cells {
				cells[i] = math.Float64frombits(binary.LittleEndian.Uint64(src[8*i:]))
			}
		},
	}
}

// adding is a job that adds to every feature the number of its row: what a program without
// groups, tally and report gives. order is what it saw of the blocks.
func adding(t *testing.T, s *perturb.Settings, order *[]int) perturb.Job[float64] {
	event := privacy.PureLDP{Epsilon: 1, Unit: privacy.Feature}
	var ledger *privacy.Ledger
	return perturb.Job[float64]{
		Settings: s, Noun: "rows", Sort: numbers(),
		Open: func(ctx context.Context) (perturb.Records[float64], error) {
			rows, err := format.OpenRows(ctx, s.In, s.InForm)
			return &features{rows, s}, err
		},
		Release: func(l *privacy.Ledger, _ func() (*os.File, error)) error {
			ledger = l
			return l.Record(s.Purpose, event, 1)
		},
		Order: func(b *perturb.Block[float64], _ bool) error {
			*order = append(*order, b.Len())
			b.State = float64(b.First)
			return nil
		},
		Worker: func() (func(b *perturb.Block[float64]) error, error) {
			if list := ledger.Entries(); len(list) != 1 || list[0].Event != event {
				t.Errorf("noise before its event: the ledger has %v", list)
			}
			return func(b *perturb.Block[float64]) error {
				for i := range b.Len() {
					for k := range b.Cells(i) {
						b.Cells(i)[k] += b.State.(float64) + float64(i)
					}
				}
				return nil
			}, nil
		},
		Finish: func(*privacy.Ledger) error { return nil },
		Report: func(f perturb.Facts) (run.Result, error) { return f.Document("added", "", nil, nil), nil },
	}
}

// featureTable are rows in descending order of their users.
func featureTable(t *testing.T, n int) (path string) {
	t.Helper()
	var b strings.Builder
	b.WriteString("user_id\tage\tincome\n")
	for i := range n {
		fmt.Fprintf(&b, "%d\t0.25\t%d\n", n-i, i)
	}
	path = filepath.Join(t.TempDir(), "in.tsv")
	if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// A job over rows of numbers: every row comes out once, with what its number in the file
// makes of it, sorted or in the order of the file, in batches or not, by any number of
// workers. Its event is in the ledger before a worker begins.
func TestJobOverFeatures(t *testing.T) {
	const n = 20_000
	in := featureTable(t, n)
	for _, c := range []struct {
		sorted  bool
		batch   int
		workers int
		sizes   func(list []int) bool // of the blocks
	}{
		{true, 0, 1, func(list []int) bool { return slices.Max(list) == 512 && list[0] == 512 }},
		{true, 0, 4, func(list []int) bool { return slices.Max(list) == 512 }},
		{false, 0, 3, func(list []int) bool { return slices.Max(list) == 512 }},
		{false, 3000, 2, func(list []int) bool { return slices.Equal(list, []int{3000, 3000, 3000, 3000, 3000, 5000}) }},
	} {
		s := &perturb.Settings{In: in, Out: filepath.Join(t.TempDir(), "out.tsv"), Workers: c.workers}
		if err := errors.Join(s.Check("features"), s.FindForms("", false)); err != nil {
			t.Fatal(err)
		}
		var sizes []int
		j := adding(t, s, &sizes)
		j.Batch = c.batch
		if !c.sorted {
			j.Sort = nil
		}
		if err := perturb.Run(t.Context(), j); err != nil {
			t.Fatal(err)
		}
		var want strings.Builder
		want.WriteString("user_id\tage\tincome\n")
		for i := range n {
			at := i
			if c.sorted {
				at = n - 1 - i
			}
			fmt.Fprintf(&want, "%d\t%g\t%d\n", n-at, 0.25+float64(at), 2*at)
		}
		if got, err := os.ReadFile(s.Out); err != nil || string(got) != want.String() {
			t.Errorf("%+v: other rows (%v)", c, err)
		}
		if !c.sizes(sizes) {
			t.Errorf("%+v: blocks of %v", c, sizes)
		}
		left, err := os.ReadDir(filepath.Dir(s.Out))
		if err != nil || len(left) != 4 {
			t.Errorf("%+v: left %v (%v)", c, left, err)
		}
	}
}

// Whatever step fails, its error comes out, nothing is left, and a release that was begun
// and not ended is abandoned, once.
func TestJobThatFails(t *testing.T) {
	in := featureTable(t, 3000)
	boom := errors.New("boom")
	for _, where := range []string{"open", "release", "order", "worker", "perturb", "finish", "report"} {
		s := &perturb.Settings{In: in, Out: filepath.Join(t.TempDir(), "out.tsv"), Workers: 2}
		if err := errors.Join(s.Check("features"), s.FindForms("", false)); err != nil {
			t.Fatal(err)
		}
		var sizes []int
		j := adding(t, s, &sizes)
		begun, abandoned := false, 0
		release := j.Release
		j.Release = func(l *privacy.Ledger, spill func() (*os.File, error)) error {
			begun = where != "release"
			return errors.Join(release(l, spill), fails(where, "release", boom))
		}
		j.Abandon = func() error { abandoned++; return nil }
		switch where {
		case "open":
			j.Open = func(context.Context) (perturb.Records[float64], error) { return nil, boom }
		case "order":
			j.Order = func(*perturb.Block[float64], bool) error { return boom }
		case "worker":
			j.Worker = func() (func(b *perturb.Block[float64]) error, error) { return nil, boom }
		case "perturb":
			j.Worker = func() (func(b *perturb.Block[float64]) error, error) {
				return func(b *perturb.Block[float64]) error { return boom }, nil
			}
		case "finish":
			j.Finish = func(*privacy.Ledger) error { return boom }
		case "report":
			j.Report = func(perturb.Facts) (run.Result, error) { return &report.Document{}, boom }
		}
		err := perturb.Run(t.Context(), j)
		var usage *run.UsageError
		if refused := errors.As(err, &usage) && usage.Message == "boom"; refused != (where == "release") || !refused && !errors.Is(err, boom) {
			t.Errorf("%s: %v", where, err)
		}
		want := 0
		if begun && where != "finish" && where != "report" {
			want = 1
		}
		if abandoned != want {
			t.Errorf("%s: abandoned %d times, want %d", where, abandoned, want)
		}
		if left, err := os.ReadDir(filepath.Dir(s.Out)); err != nil || len(left) != 0 {
			t.Errorf("%s: left %v (%v)", where, left, err)
		}
	}
}

// fails is the error of a step that is to fail.
func fails(where, step string, err error) error {
	if where == step {
		return err
	}
	return nil
}

// One stem names all files of a set, packed or not.
func TestNamesOfASet(t *testing.T) {
	for out, want := range map[string]string{
		"o.tsv":      "o.empty.tsv o.ledger.jsonl o.report.json o.report.txt o.tsv",
		"o.b.csv.gz": "o.b.csv.gz o.b.empty.tsv.gz o.b.ledger.jsonl o.b.report.json o.b.report.txt",
		"o.dat.zst":  "o.dat.zst o.empty.tsv.zst o.ledger.jsonl o.report.json o.report.txt",
		"o":          "o o.empty.tsv o.ledger.jsonl o.report.json o.report.txt",
	} {
		dir := t.TempDir()
		s := &perturb.Settings{In: featureTable(t, 9), Out: filepath.Join(dir, out), OutForm: format.TSV, Workers: 1}
		if err := errors.Join(s.Check("features"), s.FindForms("", false)); err != nil {
			t.Fatal(err)
		}
		var sizes []int
		j := adding(t, s, &sizes)
		j.Beside = []perturb.Output{{Name: "empty", Path: ".empty.tsv"}}
		open := j.Open
		j.Open = func(ctx context.Context) (perturb.Records[float64], error) {
			r, err := open(ctx)
			return withEmpty{r}, err
		}
		if err := perturb.Run(t.Context(), j); err != nil {
			t.Fatal(err)
		}
		left, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, e := range left {
			names = append(names, e.Name())
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("%s: %s, want %s", out, got, want)
		}
	}
}

// withEmpty has a second table, without rows.
type withEmpty struct{ perturb.Records[float64] }

func (r withEmpty) Headers() []string { return append(r.Records.Headers(), "user_id\n") }
