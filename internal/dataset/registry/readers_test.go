package registry

import (
	"bytes"
	"context"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"privrec/internal/dataset"
	"privrec/internal/dataset/format"
	"privrec/internal/dataset/format/formattest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// compressions wraps a file's bytes in every form a reader takes.
var compressions = []struct {
	ext  string
	wrap func(io.Writer) io.WriteCloser
}{
	{"", func(w io.Writer) io.WriteCloser { return nopCloser{w} }},
	{".gz", func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) }},
	{".zst", func(w io.Writer) io.WriteCloser { z, _ := zstd.NewWriter(w); return z }},
}

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }

// inEveryForm copies a test file plain, gzipped and as zstd, and runs f on each.
func inEveryForm(t *testing.T, file string, f func(t *testing.T, path string)) {
	raw, err := os.ReadFile(filepath.Join(formattest.GoodDir, file))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range compressions {
		t.Run(file+c.ext, func(t *testing.T) {
			var b bytes.Buffer
			w := c.wrap(&b)
			w.Write(raw)
			w.Close()
			path := filepath.Join(t.TempDir(), file+c.ext)
			if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
				t.Fatal(err)
			}
			f(t, path)
		})
	}
}

func TestReadLogs(t *testing.T) {
	for _, c := range []struct {
		file string
		read func(context.Context, string) (*dataset.Log, error)
		want dataset.Log
	}{
		{"ratings.dat", ReadRatingsDat, dataset.Log{ // user 2 out of order and with a tie, 10 after 2
			UserIDs: []string{"1", "2", "10"}, ItemIDs: []string{"10", "20", "30"},
			Users: []int32{0, 0, 1, 1, 1, 2}, Items: []int32{0, 1, 1, 0, 2, 2},
			Times:  []int64{978300760, 978302109, 978298400, 978298413, 978298413, 978220179},
			Values: []float32{5, 3, 4, 4, 5, 1}}},
		{"u.data", ReadUData, dataset.Log{
			UserIDs: []string{"1", "2"}, ItemIDs: []string{"10", "20"},
			Users: []int32{0, 0, 1}, Items: []int32{0, 1, 0},
			Times: []int64{878887116, 891717742, 881250949}, Values: []float32{5, 3, 4}}},
		{"small.inter", format.ReadInter, dataset.Log{
			UserIDs: []string{"ana", "bob"}, ItemIDs: []string{"x", "y"},
			Users: []int32{0, 1, 1}, Items: []int32{1, 1, 0},
			Times: []int64{950000001, 949999999, 950000000}, Values: []float32{3.5, 1, 4}}},
		{"table.tsv", format.Table{User: "who", Item: "what", Time: "when"}.Read, dataset.Log{
			UserIDs: []string{"u1", "u2"}, ItemIDs: []string{"a", "b"},
			Users: []int32{0, 0, 1}, Items: []int32{0, 1, 0}, Times: []int64{6, 7, 5}}},
		{"table.csv", format.Table{Sep: ",", Rating: "rating"}.Read, dataset.Log{
			UserIDs: []string{"lee", "smith, j"}, ItemIDs: []string{"plain", `the "a" list`},
			Users: []int32{0, 1}, Items: []int32{0, 1}, Values: []float32{2.25, 4}}},
		{"train.txt", format.ReadAdjacency, dataset.Log{
			UserIDs: []string{"0", "1", "7"}, ItemIDs: []string{"0", "1", "2", "5"},
			Users: []int32{0, 0, 0, 1, 2, 2}, Items: []int32{1, 2, 3, 2, 0, 3}}},
		{"yelp_academic_dataset_review.json", ReadYelpReviews, dataset.Log{ // uB out of order and with a tie, an escaped id, dates with and without a time
			UserIDs: []string{"uA", "uB", "uC"}, ItemIDs: []string{"b1", "b2", "b3"},
			Users: []int32{0, 1, 1, 1, 2}, Items: []int32{0, 0, 2, 1, 0},
			Times: []int64{1484427255, 1464393600, 1464393600, 1531001351, 1531001351}, Values: []float32{5, 1, 3, 4, 2}}},
		{"user_log_format1.csv", TmallLog{Action: "0", From: 1101, To: 1107}.Read, dataset.Log{ // other days, a purchase; rows of a day in file order
			UserIDs: []string{"234512", "328862"}, ItemIDs: []string{"575153", "844400"},
			Users: []int32{0, 0, 1, 1, 1}, Items: []int32{1, 0, 1, 0, 1}, Times: []int64{1101, 1107, 1101, 1101, 1103},
			Ladder: dataset.Ladder{{Name: dataset.RungRaw, Users: 3, Items: 3, Rows: 8}, {Name: "clicks", Users: 3, Items: 3, Rows: 7}, {Name: "days 1101 to 1107", Users: 2, Items: 2, Rows: 5}}}},
		{"user_log_format1.csv", TmallLog{Action: "2", From: 511, To: 1112}.Read, dataset.Log{
			UserIDs: []string{"234512"}, ItemIDs: []string{"844400"}, Users: []int32{0}, Items: []int32{0}, Times: []int64{1107},
			Ladder: dataset.Ladder{{Name: dataset.RungRaw, Users: 3, Items: 3, Rows: 8}, {Name: "action 2", Users: 1, Items: 1, Rows: 1}, {Name: "days 0511 to 1112", Users: 1, Items: 1, Rows: 1}}}},
		{"ratings_Books.csv", ReadAmazonRatings, dataset.Log{
			UserIDs: []string{"A1TADCM7YWPQ8M", "A2IIIDRK3PRRZY", "AH2L9G3DQHHAJ"}, ItemIDs: []string{"0000000116", "0000000868", "000000112X"},
			Users: []int32{0, 1, 2, 2}, Items: []int32{1, 0, 2, 0}, Times: []int64{1031702400, 1395619200, 1005955200, 1019865600}, Values: []float32{4, 1, 5, 4}}},
		{"behaviors.tsv", func(ctx context.Context, path string) (*dataset.Log, error) { return ReadMIND(ctx, path) }, dataset.Log{ // an empty history, an item with a dash, midnight as 12 AM
			UserIDs: []string{"U13740", "U91836"}, ItemIDs: []string{"N-1", "N20495", "N55689", "N58114"},
			Users: []int32{0, 0, 1, 1}, Items: []int32{0, 2, 3, 1}, Times: []int64{1573257600, 1573463158, 1573582290, 1573582290}, Parts: []dataset.Part{0, 0, 0, 0},
			Ladder: dataset.Ladder{{Name: dataset.RungRaw, Users: 2, Items: 7, Rows: 8}, {Name: "clicked", Users: 2, Items: 4, Rows: 4}}}},
		{"inter_impression.csv", ReadZhihuRec, dataset.Log{ // in the order shown, not clicked; user 7 and answers 0 and 3 have no click
			UserIDs: []string{"0", "1"}, ItemIDs: []string{"1", "2"},
			Users: []int32{0, 0, 1}, Items: []int32{1, 0, 0}, Times: []int64{1525449650, 1525449700, 1525449600},
			Ladder: dataset.Ladder{{Name: dataset.RungRaw, Users: 3, Items: 4, Rows: 5}, {Name: "clicked", Users: 2, Items: 2, Rows: 3}}}},
	} {
		inEveryForm(t, c.file, func(t *testing.T, path string) {
			got, err := c.read(t.Context(), path)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(&c.want, got, cmpopts.IgnoreFields(dataset.Log{}, "Hash")); d != "" {
				t.Errorf("log differs (-want +got):\n%s", d)
			}
			file, err := format.HashFile(t.Context(), path)
			if err != nil || got.Hash != file.SHA256 {
				t.Errorf("hash %s, want that of the file %s (%v)", got.Hash, file.SHA256, err)
			}
		})
	}
}

func TestReadFeatures(t *testing.T) {
	cat := func(name string, levels []string, codes ...int32) dataset.Column {
		return dataset.Column{Name: name, Levels: levels, Codes: codes}
	}
	num := func(name string, x ...float64) dataset.Column {
		return dataset.Column{Name: name, Kind: dataset.Numeric, Numbers: x}
	}
	for _, c := range []struct {
		file string
		read func(context.Context, string) (*dataset.Features, error)
		want dataset.Features
	}{
		{"users.dat", ReadUsersDat, dataset.Features{UserIDs: []string{"1", "2", "10"}, Columns: []dataset.Column{
			cat("gender", []string{"F", "M"}, 0, 1, 1), cat("age", []string{"1", "25", "56"}, 0, 2, 1),
			cat("occupation", []string{"10", "15", "16"}, 0, 2, 1), cat("zip", []string{"48067", "55117-1234", "70072"}, 0, 2, 1)}}},
		{"u.user", ReadUUser, dataset.Features{UserIDs: []string{"1", "2", "10"}, Columns: []dataset.Column{
			{Name: "age", Kind: dataset.Numeric, Numbers: []float64{24, 53, 33}}, cat("gender", []string{"F", "M"}, 1, 0, 1),
			cat("occupation", []string{"other", "technician", "writer"}, 1, 0, 2), cat("zip", []string{"85711", "94043", "T8H1N"}, 0, 1, 2)}}},
		{"small.user", func(ctx context.Context, p string) (*dataset.Features, error) {
			return format.ReadUserAtomic(ctx, p, nil)
		},
			dataset.Features{UserIDs: []string{"ana", "bob"}, Columns: []dataset.Column{
				{Name: "age", Kind: dataset.Numeric, Numbers: []float64{31.5, math.NaN()}}, cat("city", []string{"Rome"}, 0, -1)}}},
		{"yelp_academic_dataset_user.json", readYelpUsers, dataset.Features{UserIDs: []string{"uA", "uB", "uC", "uX"}, Columns: []dataset.Column{
			num("review_count", 1, 1, 585, 1), num("useful", 0, 0, 7217, 0), num("funny", 0, 1259, 0, 0),
			num("cool", 5994, 0, 0, 0), num("fans", 267, 0, 0, 0), num("average_stars", 3.5, 3.5, 3.91, 3.5)}}},
		{"user_info_format1.csv", ReadTmallUsers, dataset.Features{UserIDs: []string{"7", "99", "234512", "328862"}, Columns: []dataset.Column{
			cat("age_range", []string{"0", "5", "6"}, 1, 0, -1, 2), cat("gender", []string{"0", "1", "2"}, 2, -1, 0, 1)}}},
		{"table.tsv", format.Table{User: "who", Kinds: map[string]dataset.Kind{"when": dataset.Numeric}}.ReadFeatures, dataset.Features{}},
	} {
		inEveryForm(t, c.file, func(t *testing.T, path string) {
			got, err := c.read(t.Context(), path)
			if c.file == "table.tsv" { // user u1 occurs twice: not one row a user
				if err == nil {
					t.Errorf("read %v", got)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(&c.want, got, cmpopts.EquateNaNs()); d != "" {
				t.Errorf("features differ (-want +got):\n%s", d)
			}
		})
	}
}

func TestJoinKeepsPartsAndFileOrder(t *testing.T) {
	l, _, err := readSplitAdjacency(t.Context(), []string{filepath.Join(formattest.GoodDir, "train.txt"), filepath.Join(formattest.GoodDir, "test.txt")})
	if err != nil {
		t.Fatal(err)
	}
	want := &dataset.Log{UserIDs: []string{"0", "1", "7"}, ItemIDs: []string{"0", "1", "2", "3", "5"},
		Users: []int32{0, 0, 0, 0, 1, 2, 2, 2, 2}, Items: []int32{1, 2, 4, 3, 2, 0, 4, 1, 2},
		Parts: []dataset.Part{dataset.Train, dataset.Train, dataset.Train, dataset.Test, dataset.Train, dataset.Train, dataset.Train, dataset.Test, dataset.Test}}
	if d := cmp.Diff(want, l, cmpopts.IgnoreFields(dataset.Log{}, "Hash")); d != "" {
		t.Errorf("log differs (-want +got):\n%s", d)
	}
}

// TestCutFiles cuts a compressed file at every byte: no cut may pass for a whole file.
func TestCutFiles(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join(formattest.GoodDir, "ratings.dat"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range compressions[1:] {
		var b bytes.Buffer
		w := c.wrap(&b)
		w.Write(raw)
		w.Close()
		for n := range b.Len() {
			if l, ok := formattest.Try(t, b.Bytes()[:n], ratingsDat.log); ok {
				t.Errorf("%s: the first %d of %d bytes give %d rows", c.ext, n, b.Len(), l.Len())
			}
		}
		if _, ok := formattest.Try(t, append(b.Bytes(), "scrap"...), ratingsDat.log); ok {
			t.Errorf("%s: bytes after the end were passed over", c.ext)
		}
	}
}

// BenchmarkReadRatingsDat reads a million rows of MovieLens' form from memory.
func BenchmarkReadRatingsDat(b *testing.B) {
	var file bytes.Buffer
	for i := range 1000000 {
		file.WriteString(strconv.Itoa(1+i/166) + "::" + strconv.Itoa(1+i*7919%3706) + "::" + strconv.Itoa(1+i%5) + "::" + strconv.Itoa(956703932+i*31%90000000) + "\n")
	}
	b.SetBytes(int64(file.Len()))
	b.ReportAllocs()
	for b.Loop() {
		in, err := format.NewInput(context.Background(), "bench", bytes.NewReader(file.Bytes()))
		if err != nil {
			b.Fatal(err)
		}
		if _, err := ratingsDat.log(in); err != nil {
			b.Fatal(err)
		}
	}
}

func readYelpUsers(ctx context.Context, path string) (*dataset.Features, error) {
	return format.ReadFile(ctx, path, func(in *format.Input) (*dataset.Features, error) { return parseYelpUsers(in, nil) })
}
