package registry

import (
	"bufio"
	"context"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"privrec/internal/dataset"
)

// sized writes about rows rows in the form of an owner: as many users as rows/8 and
// items as rows/50, which is near what Yelp has, so that ids take their share.
type sized struct {
	name string
	line func(b []byte, user, item, row int) []byte
	read func(ctx context.Context, path string) (*dataset.Log, error)
	head string
}

func appendPadded(b []byte, prefix string, n int) []byte {
	b = append(b, prefix...)
	for digits := 1_000_000_000_000; digits > n && digits > 1; digits /= 10 {
		b = append(b, '0')
	}
	return strconv.AppendInt(b, int64(n), 10)
}

// sizedForms are the forms whose files are large.
func sizedForms() []sized {
	const text = `","useful":0,"funny":0,"cool":0,"text":"We came on a Sunday and there was a line out of the door, \"no problem\" they said, and an hour later we sat. The eggs were cold, the coffee was not, and the waiter was kind enough to say so before we did. Would come again for the pie.","date":"2018-07-07 22:09:`
	return []sized{
		{"yelp", func(b []byte, user, item, row int) []byte {
			b = append(append(b, `{"review_id":"`...), "KU_O5udG6zpxOg-VcAEodg"...)
			b = appendPadded(append(b, `","user_id":"`...), "uuuuuuuuu", user)
			b = appendPadded(append(b, `","business_id":"`...), "bbbbbbbbb", item)
			b = append(append(b, `","stars":4.0,"votes":"`...), text...)
			return append(append(b, byte('0'+row/10%6), byte('0'+row%10)), "\"}\n"...)
		}, ReadYelpReviews, ""},
		{"tmall", func(b []byte, user, item, row int) []byte {
			b = strconv.AppendInt(b, int64(user), 10)
			b = strconv.AppendInt(append(b, ','), int64(item), 10)
			b = append(b, ",833,2882,2661,"...)
			b = strconv.AppendInt(b, int64(1101+row%7), 10)
			return append(b, ",0\n"...)
		}, TmallLog{Action: "0", From: 1101, To: 1107}.Read, "user_id,item_id,cat_id,seller_id,brand_id,time_stamp,action_type\n"},
		{"tmall-dropped", func(b []byte, user, item, row int) []byte {
			b = strconv.AppendInt(b, int64(user), 10)
			b = strconv.AppendInt(append(b, ','), int64(item), 10)
			b = append(b, ",833,2882,2661,"...)
			day := 829
			if row%10 == 0 {
				day = 1101
			}
			b = strconv.AppendInt(b, int64(day), 10)
			return append(b, ",0\n"...)
		}, TmallLog{Action: "0", From: 1101, To: 1107}.Read, "user_id,item_id,cat_id,seller_id,brand_id,time_stamp,action_type\n"},
		{"amazon", func(b []byte, user, item, row int) []byte {
			b = appendPadded(b, "A", user)
			b = append(appendPadded(append(b, ','), "", item), ",4.0,"...)
			return append(strconv.AppendInt(b, int64(1e9+row*86400%1e8), 10), '\n')
		}, ReadAmazonRatings, ""},
	}
}

// write makes the file and returns its path and size.
func (f sized) write(tb testing.TB, rows int) (string, int64) {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), f.name)
	out, err := os.Create(path)
	if err != nil {
		tb.Fatal(err)
	}
	w := bufio.NewWriterSize(out, 1<<20)
	w.WriteString(f.head)
	var b []byte
	size := int64(len(f.head))
	users, items := rows/8, rows/50
	for row := range rows {
		user := row % users
		if row >= users {
			user = row * 7919 % users
		}
		b = f.line(b[:0], user, row*31%items, row)
		size += int64(len(b))
		w.Write(b)
	}
	if err := w.Flush(); err != nil {
		tb.Fatal(err)
	}
	if err := out.Close(); err != nil {
		tb.Fatal(err)
	}
	return path, size
}

// BenchmarkRead reads a million rows; B/op over rows is what reading costs in all, and
// TestReadMemory looks at the peak.
func BenchmarkRead(b *testing.B) {
	const rows = 1_000_000
	for _, f := range sizedForms() {
		b.Run(f.name, func(b *testing.B) {
			path, size := f.write(b, rows)
			b.SetBytes(size)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := f.read(b.Context(), path); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(rows)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
		})
	}
}
