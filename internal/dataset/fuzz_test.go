package dataset

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// addSeeds feeds the good and the bad files whose name ends in suffix.
func addSeeds(f *testing.F, suffixes ...string) {
	for _, dir := range []string{goodDir, badDir} {
		entries, err := os.ReadDir(dir)
		if err != nil {
			f.Fatal(err)
		}
		for _, e := range entries {
			for _, s := range suffixes {
				if strings.HasSuffix(e.Name(), s) {
					b, err := os.ReadFile(filepath.Join(dir, e.Name()))
					if err != nil {
						f.Fatal(err)
					}
					f.Add(b)
				}
			}
		}
	}
}

// tryInput parses bytes as a file; an error must be an *Error that names the file and
// a line that exists.
func tryInput[T any](t *testing.T, b []byte, parse func(*input) (T, error)) (T, bool) {
	var got T
	in, err := newInput(t.Context(), "fuzzed", bytes.NewReader(b))
	if err == nil {
		defer in.close()
		got, err = parse(in)
	}
	if err == nil {
		return got, true
	}
	var e *Error
	if !errors.As(err, &e) || e.File != "fuzzed" || e.Msg == "" {
		t.Fatalf("error without a place: %v", err)
	}
	compressed := bytes.HasPrefix(b, []byte{0x1f, 0x8b}) || bytes.HasPrefix(b, []byte{0x28, 0xb5})
	if lines := bytes.Count(b, []byte("\n")) + 1; e.Line < 0 || !compressed && e.Line > lines {
		t.Fatalf("error names line %d of %d: %v", e.Line, lines, err)
	}
	return got, false
}

// roundTrip writes a log and reads it back. Ids with a tab or an odd end cannot be
// written in this format and are passed over.
func roundTrip(t *testing.T, l *Log) {
	if err := l.valid(); err != nil {
		t.Fatal(err)
	}
	for _, id := range append(append([]string(nil), l.UserIDs...), l.ItemIDs...) {
		if strings.ContainsAny(id, "\t\n\r") {
			return
		}
	}
	var b bytes.Buffer
	w := bufio.NewWriter(&b)
	writeInter(w, l)
	w.Flush()
	in, err := newInput(t.Context(), "again", &b)
	if err != nil {
		t.Fatal(err)
	}
	names, _, err := in.atomicHeader()
	if err != nil {
		t.Fatal(err)
	}
	table := Table{Rating: optional(names, "rating"), Time: optional(names, "timestamp")}
	again, err := table.rows(in, &splitter{sep: "\t"}, names)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(l, again, cmpopts.IgnoreFields(Log{}, "Hash", "Name", "Parts", "Ladder"), cmpopts.EquateEmpty()); d != "" {
		t.Fatal(d)
	}
}

func FuzzRatingsDat(f *testing.F) {
	addSeeds(f, "ratings.dat", "ratings.dat.gz", "ratings.dat.zst")
	f.Fuzz(func(t *testing.T, b []byte) {
		if l, ok := tryInput(t, b, ratingsDat.log); ok {
			roundTrip(t, l)
		}
	})
}

func FuzzUData(f *testing.F) {
	addSeeds(f, "u.data")
	f.Fuzz(func(t *testing.T, b []byte) {
		if l, ok := tryInput(t, b, uData.log); ok {
			roundTrip(t, l)
		}
	})
}

func FuzzInter(f *testing.F) {
	addSeeds(f, ".inter")
	f.Fuzz(func(t *testing.T, b []byte) {
		if l, ok := tryInput(t, b, parseInter); ok {
			roundTrip(t, l)
		}
	})
}

func FuzzCSV(f *testing.F) {
	addSeeds(f, ".csv")
	f.Fuzz(func(t *testing.T, b []byte) {
		if l, ok := tryInput(t, b, Table{Sep: ","}.parse); ok {
			roundTrip(t, l)
		}
	})
}

func FuzzYelpReviews(f *testing.F) { fuzzLog(f, parseYelpReviews, "review.json") }

func FuzzTmallLog(f *testing.F) {
	fuzzLog(f, TmallLog{Action: "0", From: 1101, To: 1107}.parse, "user_log_format1.csv")
}

func FuzzAmazonRatings(f *testing.F) { fuzzLog(f, parseAmazonRatings, "ratings_Books.csv") }

func FuzzZhihuRec(f *testing.F) { fuzzLog(f, parseZhihuRec, "inter_impression.csv") }

func FuzzMIND(f *testing.F) {
	fuzzLog(f, func(in *input) (*Log, error) {
		b, fun := logBuilder{times: []int64{}, parts: []Part{}}, newFunnel(RungRaw, "clicked")
		if err := in.mind(&b, fun, Train); err != nil {
			return nil, err
		}
		return in.finishFunnel(&b, fun)
	}, "behaviors.tsv")
}

// fuzzLog reads and, where the file is taken, writes and reads again. Where the reader
// begins the ladder, the ladder must shrink down to the rows that are there.
func fuzzLog(f *testing.F, parse func(*input) (*Log, error), suffix string) {
	addSeeds(f, suffix)
	f.Fuzz(func(t *testing.T, b []byte) {
		l, ok := tryInput(t, b, parse)
		if !ok {
			return
		}
		for i, r := range l.Ladder {
			if i > 0 && (r.Rows > l.Ladder[i-1].Rows || r.Users > l.Ladder[i-1].Users || r.Items > l.Ladder[i-1].Items) {
				t.Fatalf("ladder grows: %v", l.Ladder)
			}
			if last := l.Rung(r.Name); i == len(l.Ladder)-1 && r != last {
				t.Fatalf("the ladder ends at %v, the rows are %v", r, last)
			}
		}
		roundTrip(t, l)
	})
}

// FuzzJSONLine compares the walker with encoding/json: it takes exactly the lines that
// are one object without a wanted name twice, and finds the same values.
func FuzzJSONLine(f *testing.F) {
	for _, s := range []string{`{}`, ` { "user_id" : "a" } `, `{"a":[1,2,{"b":[]}],"user_id":null}`, `{"user_id":1,"user_id":2}`, `{"a":-0.0e+12}`,
		`{"a":01}`, `{"a":1.}`, `{"a":"\ud800\n"}`, `{"a":"\x"}`, `[1]`, `{"a":1}}`, `{"a":tru}`, `{,}`, `{"a":1,}`, "{\"a\":\"\t\"}", `{"\u0061":1}`, ``, `{"a":{}`} {
		f.Add([]byte(s))
	}
	addSeeds(f, "review.json", "user.json")
	wanted := []string{"user_id", "stars"}
	f.Fuzz(func(t *testing.T, line []byte) {
		if !utf8.Valid(line) || bytes.IndexByte(line, '\n') >= 0 || bytes.Count(line, []byte("[")) > maxDepth/2 || bytes.Count(line, []byte("{")) > maxDepth/2 {
			return
		}
		raw := make([][]byte, len(wanted))
		err := (&input{file: "fuzzed", num: 1}).members(line, wanted, raw)
		var object map[string]json.RawMessage
		valid := json.Valid(line) && json.Unmarshal(line, &object) == nil && object != nil
		if err != nil {
			if valid && !strings.Contains(err.Error(), "twice") {
				t.Fatalf("refused: %v", err)
			}
			return
		}
		if !valid {
			t.Fatalf("took %q", line)
		}
		for i, name := range wanted {
			if escaped := bytes.Contains(line, []byte(`\u`)); !escaped && !bytes.Equal(raw[i], object[name]) {
				t.Fatalf("%s is %q, want %q", name, raw[i], object[name])
			}
		}
	})
}

func FuzzAdjacency(f *testing.F) {
	addSeeds(f, ".txt", ".adj")
	f.Fuzz(func(t *testing.T, b []byte) {
		if l, ok := tryInput(t, b, parseAdjacency); ok {
			roundTrip(t, l)
		}
	})
}

func FuzzUsers(f *testing.F) {
	addSeeds(f, "users.dat", "u.user", ".user", "user.json", "user_info_format1.csv")
	parsers := []func(*input) (*Features, error){
		func(in *input) (*Features, error) { return usersDat.features(in, nil) },
		func(in *input) (*Features, error) { return uUser.features(in, map[string]Kind{"age": Numeric}) },
		func(in *input) (*Features, error) { return in.userAtomic(nil) },
		func(in *input) (*Features, error) { return in.yelpUsers(nil) },
		func(in *input) (*Features, error) { return in.yelpUsers([]string{"uA", "uB"}) },
		Table{Sep: ","}.parseFeatures,
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, parse := range parsers {
			u, ok := tryInput(t, b, parse)
			if !ok {
				continue
			}
			if _, err := u.For(u.UserIDs, nil); err != nil {
				t.Fatal(err)
			}
			for _, c := range u.Columns {
				if max(len(c.Codes), len(c.Numbers)) != len(u.UserIDs) {
					t.Fatalf("column %q has %d rows of %d", c.Name, max(len(c.Codes), len(c.Numbers)), len(u.UserIDs))
				}
			}
		}
	})
}

// FuzzCacheEntry decodes damaged payloads behind a right checksum: it must refuse or
// return a valid log, never panic or allocate what the payload cannot hold.
func FuzzCacheEntry(f *testing.F) {
	l := logOf([4]int{1, 7, 1, 5}, [4]int{2, 8, 2, 3})
	feat := &Features{UserIDs: []string{"1", "2"}, Columns: []Column{{Name: "a", Kind: Numeric, Numbers: []float64{1, 2}}, {Name: "b", Codes: []int32{0, -1}, Levels: []string{"x"}}}}
	f.Add(encodeEntry(&entry{log: l, ladder: Ladder{l.Rung(RungRaw)}}))
	f.Add(encodeEntry(&entry{log: l, ladder: Ladder{l.Rung(RungRaw)}, features: feat}))
	f.Fuzz(func(t *testing.T, b []byte) {
		e, err := decodeEntry(b)
		if err != nil {
			return
		}
		if err := e.log.valid(); err != nil {
			t.Fatal(err)
		}
		again, err := decodeEntry(encodeEntry(e))
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(e, again, cmp.AllowUnexported(entry{}), cmpopts.EquateNaNs()); d != "" {
			t.Fatal(d)
		}
	})
}

// FuzzCacheFile opens damaged cache files: only the bytes that were sealed come back.
func FuzzCacheFile(f *testing.F) {
	var whole bytes.Buffer
	w := bufio.NewWriter(&whole)
	l := logOf([4]int{1, 7, 1, 5}, [4]int{2, 8, 2, 3})
	sealEntry(&entry{log: l, ladder: Ladder{l.Rung(RungRaw)}})(w)
	w.Flush()
	sealed := whole.Bytes()
	f.Add(sealed)
	f.Add(sealed[:len(sealed)-1])
	f.Add(append(bytes.Clone(sealed), 0))
	f.Add([]byte(cacheVersion))
	f.Fuzz(func(t *testing.T, b []byte) {
		e, err := openEntry(b)
		if err != nil {
			return
		}
		var again bytes.Buffer
		w := bufio.NewWriter(&again)
		sealEntry(e)(w)
		w.Flush()
		if back, err := openEntry(again.Bytes()); err != nil {
			t.Fatal(err)
		} else if d := cmp.Diff(e, back, cmp.AllowUnexported(entry{}), cmpopts.EquateNaNs()); d != "" {
			t.Fatal(d)
		}
	})
}
