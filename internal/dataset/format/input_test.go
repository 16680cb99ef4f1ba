package format

import (
	"bytes"
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"privrec/internal/dataset"
)

func TestReadErrors(t *testing.T) {
	dir := t.TempDir()
	for _, path := range []string{filepath.Join(dir, "none.dat"), dir} {
		_, err := Table{}.Read(t.Context(), path)
		var e *dataset.Error
		if !errors.As(err, &e) || e.File != path {
			t.Errorf("%s: error %v", path, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	path := filepath.Join(dir, "long.dat")
	os.WriteFile(path, append([]byte("user_id\titem_id\n"), bytes.Repeat([]byte("1\t2\n"), 5000)...), 0o600)
	if _, err := (Table{}).Read(ctx, path); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled read gives %v", err)
	}
	os.WriteFile(path, bytes.Repeat([]byte("a"), maxLine+1<<18), 0o600)
	if _, err := (Table{}).Read(t.Context(), path); err == nil {
		t.Error("a line without end was read")
	}
	line := []byte("0")
	for i := range 100000 { // longer than any buffer
		line = append(line, " "+strconv.Itoa(i)...)
	}
	os.WriteFile(path, append(line, "\n1 5\n"...), 0o600)
	if l, err := ReadAdjacency(t.Context(), path); err != nil || l.Len() != 100001 {
		t.Errorf("long line: %v", err)
	}
}

// TestTimestamps reads whole numbers of up to 64 bits exactly.
func TestTimestamps(t *testing.T) {
	for text, want := range map[string]int64{
		"978300760": 978300760, "-5": -5, "1700000000123456789": 1700000000123456789, "9223372036854775807": math.MaxInt64,
		"-1700000000123456789": -1700000000123456789, "978300760.0": 978300760, "1e9": 1e9,
	} {
		if got, err := new(Input).Timestamp("timestamp", []byte(text)); err != nil || got != want {
			t.Errorf("%s: %d, %v", text, got, err)
		}
	}
	for _, text := range []string{"9223372036854775808", "99999999999999999999", "1e300", "1.5", "", "-"} {
		if got, err := new(Input).Timestamp("timestamp", []byte(text)); err == nil {
			t.Errorf("%q: %d", text, got)
		}
	}
}

// TestJSONDepth checks that nesting is bounded, so that a line of brackets cannot
// exhaust the stack.
func TestJSONDepth(t *testing.T) {
	for _, c := range []struct {
		depth int
		ok    bool
	}{{maxDepth, true}, {maxDepth + 1, false}, {1 << 20, false}} {
		line := `{"a":` + strings.Repeat("[", c.depth) + strings.Repeat("]", c.depth) + `}`
		err := (&Input{file: "deep", num: 1}).members([]byte(line), []string{"user_id"}, make([][]byte, 1))
		if (err == nil) != c.ok {
			t.Errorf("depth %d: %v", c.depth, err)
		}
	}
}
