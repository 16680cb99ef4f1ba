package tensorboard

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

var noon = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)

func open(t *testing.T, path string) *File {
	t.Helper()
	f, err := Open(path, noon)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func add(t *testing.T, f *File, step int64, value float64) {
	t.Helper()
	if err := f.Add(noon, step, []Scalar{{"loss", value}, {"valid/Recall@20", value / 2}}); err != nil {
		t.Fatal(err)
	}
}

// The bytes are those that the RecordWriter of tensorboard 2.21 makes of the same event.
func TestBytes(t *testing.T) {
	got := fmt.Sprintf("%x", record(event(time.Unix(1700000000, 0), 3, []Scalar{{"loss", 0.5}})))
	want := "1a00000000000000129bd82d" + "0900000040fc54d94110032a0d0a0b0a046c6f7373150000003f" + "35f132ef"
	if got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

// A file that was interrupted, torn and continued from an earlier step has the bytes of one
// that was not.
func TestContinues(t *testing.T) {
	dir := t.TempDir()
	whole, parts := filepath.Join(dir, "whole"), filepath.Join(dir, "parts")
	f := open(t, whole)
	for step := range int64(6) {
		add(t, f, step+1, float64(step))
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	f = open(t, parts)
	for step := range int64(4) {
		add(t, f, step+1, 7) // of an attempt that is repeated
	}
	f.Close()
	b, err := os.ReadFile(parts)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(parts, b[:len(b)-5], 0o666); err != nil {
		t.Fatal(err)
	}
	for _, from := range []int64{1, 3} {
		f = open(t, parts)
		for step := from; step <= from+3; step++ {
			add(t, f, step, float64(step-1))
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	a, _ := os.ReadFile(whole)
	b, _ = os.ReadFile(parts)
	if len(a) == 0 || !bytes.Equal(a, b) {
		t.Errorf("a continued file of %d bytes is not the whole one of %d", len(b), len(a))
	}
}

func TestRefuses(t *testing.T) {
	dir := t.TempDir()
	good := filepath.Join(dir, "good")
	f := open(t, good)
	add(t, f, 1, 2)
	add(t, f, 2, 3)
	f.Close()
	b, err := os.ReadFile(good)
	if err != nil {
		t.Fatal(err)
	}
	damaged := bytes.Clone(b)
	damaged[len(b)/2] ^= 1
	for name, text := range map[string][]byte{
		"a text": []byte("epoch 1 loss 0.5\n"), "damaged": damaged, "another record": record([]byte("\x10\x01")),
		"not an event": record([]byte("\xff")),
	} {
		path := filepath.Join(dir, "bad")
		if err := os.WriteFile(path, text, 0o666); err != nil {
			t.Fatal(err)
		}
		if f, err := Open(path, noon); err == nil {
			f.Close()
			t.Errorf("%s is taken", name)
		}
		if left, _ := os.ReadFile(path); !bytes.Equal(left, text) {
			t.Errorf("%s was changed", name)
		}
	}
}

func FuzzOpen(f *testing.F) {
	f.Add(record(field(nil, 3, []byte(version))))
	f.Fuzz(func(t *testing.T, b []byte) {
		path := filepath.Join(t.TempDir(), "f")
		if err := os.WriteFile(path, b, 0o666); err != nil {
			t.Fatal(err)
		}
		if f, err := Open(path, noon); err == nil {
			add(t, f, 1, 1)
			f.Close()
			open(t, path).Close()
		}
	})
}
