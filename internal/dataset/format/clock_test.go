package format

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Times with fractions are counted in a unit in which all of them are whole, and their order stays.
func TestTimesWithFractions(t *testing.T) {
	for _, c := range []struct {
		name, times string // one a row
		want        []int64
		per         int64
		err         string
	}{
		{"whole", "3 1 2", []int64{3, 1, 2}, 0, ""},
		{"whole as floats", "3.0 1 2.", []int64{3, 1, 2}, 0, ""},
		{"tenths", "2.5 1 2.25", []int64{2500, 1000, 2250}, 1000, ""},
		{"later", "1 2 2.0001", []int64{1_000_000, 2_000_000, 2_000_100}, 1_000_000, ""},
		{"billionths", "1577836800.000000001 1577836800", []int64{1577836800_000000001, 1577836800_000000000}, 1_000_000_000, ""},
		{"milliseconds", "1577836800123.5 1577836800123", []int64{1577836800123_500, 1577836800123_000}, 1000, ""},
		{"ten digits", "1.0123456789", nil, 0, "10 digits after the point"},
		{"too large", "1577836800123456.000000001 1", nil, 0, "is too large, where other times have fractions of 9 digits"},
		{"two units", "1577836800 1577836801000", nil, 0,
			`:3: field "timestamp": times in two units: 1577836801000 is in milliseconds, and 1577836800`},
		{"small beside large", "1 1577836801000 1577836801", nil, 0, ":4: field"},
		{"one unit, and none", "0 99999999 1577836801000", []int64{0, 99999999, 1577836801000}, 0, ""},
		{"negative", "-1.5", nil, 0, "not a time"},
		{"negative whole", "-2 -1.0", []int64{-2, -1}, 0, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "x.csv")
			var b strings.Builder
			b.WriteString("user_id,item_id,timestamp\n")
			times := strings.Fields(c.times)
			for i, x := range times {
				b.WriteString("u" + string(rune('a'+i)) + ",i," + x + "\n")
			}
			if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
				t.Fatal(err)
			}
			l, err := Table{Sep: ","}.ReadKnown(t.Context(), path)
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) || !strings.Contains(err.Error(), "timestamp") {
					t.Fatalf("got %v, want %q", err, c.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(l.Times, c.want) || l.TimesPerUnit != c.per {
				t.Errorf("got %v, %d to the unit, want %v, %d", l.Times, l.TimesPerUnit, c.want, c.per)
			}
			var k Clock
			for i, x := range times {
				v, err := (&Input{file: "x"}).Float("t", []byte(x))
				if err != nil || !k.AddFloat(v) {
					t.Fatalf("number %d: %v", i, err)
				}
			}
			if got, err := k.Times("x", "t", k.PerUnit()); c.name != "billionths" && (err != nil || !slices.Equal(got, c.want)) {
				t.Errorf("as numbers: %v, %v", got, err)
			}
		})
	}
}
