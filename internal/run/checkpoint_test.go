package run

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"privrec/internal/autograd"
	"privrec/internal/privacy"
	"privrec/internal/tensor"
	"privrec/internal/train"
)

func someTensors() []NamedTensor {
	big := make([]float32, 3*chunk+7)
	for i := range big {
		big[i] = float32(i) * 0.5
	}
	return []NamedTensor{
		{"big", []int{len(big)}, big},
		{"a \"quoted\" name", []int{2, 2}, []float64{1, math.Inf(1), math.Copysign(0, -1), math.SmallestNonzeroFloat64}},
		{"ints", []int{3}, []int64{-1, 0, math.MaxInt64}},
		{"none", []int{0, 5}, []float32{}},
		{"scalar", []int{}, []float64{2}},
	}
}

func encode(t testing.TB, tensors []NamedTensor, meta map[string]string) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := WriteSafetensors(&b, tensors, meta); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestSafetensorsRoundTrip(t *testing.T) {
	b := encode(t, someTensors(), map[string]string{"k": "v\n\"<&"})
	if !bytes.Equal(b, encode(t, someTensors(), map[string]string{"k": "v\n\"<&"})) {
		t.Error("equal input gave different bytes")
	}
	if n := binary.LittleEndian.Uint64(b); n%8 != 0 || b[8] != '{' {
		t.Errorf("header of %d bytes starts with %q", n, b[8])
	}
	got, meta, err := decodeSafetensors(bytes.NewReader(b), int64(len(b)), true)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(someTensors(), got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[string]string{"k": "v\n\"<&"}, meta); diff != "" {
		t.Error(diff)
	}
}

func decodeSafetensors(r io.Reader, size int64, keep bool) ([]NamedTensor, map[string]string, error) {
	d, err := decodeFile(r, size, keep)
	return d.tensors, d.meta, err
}

// file builds a safetensors file from a header and n data bytes.
func file(header string, n int) []byte {
	b := binary.LittleEndian.AppendUint64(nil, uint64(len(header)))
	return append(append(b, header...), make([]byte, n)...)
}

func TestSafetensorsRefusesDamage(t *testing.T) {
	good := encode(t, someTensors(), nil)
	flipped := bytes.Clone(good)
	flipped[len(flipped)-3] ^= 1
	for _, c := range []struct {
		name, want string
		data       []byte
	}{
		{"empty", "no header length", nil},
		{"short length", "no header length", good[:5]},
		{"no header", "truncated: header", good[:8]},
		{"half header", "truncated: header", good[:40]},
		{"data cut", "truncated or surplus data", good[:len(good)-1]},
		{"data added", "truncated or surplus data", append(bytes.Clone(good), 0)},
		{"bit flipped", "damaged: checksum", flipped},
		{"huge header", "not a safetensors file", bytes.Repeat([]byte{0xff}, 16)},
		{"not JSON", "header is not JSON", file("{nope", 0)},
		{"overlap", "gap or overlap", file(`{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"b":{"dtype":"F32","shape":[2],"data_offsets":[4,12]}}`, 12)},
		{"gap", "gap or overlap", file(`{"a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}}`, 8)},
		{"unknown type", "want F32, F64 or I64", file(`{"a":{"dtype":"BF16","shape":[2],"data_offsets":[0,4]}}`, 4)},
		{"shape and size", "has shape [3] in 8 bytes", file(`{"a":{"dtype":"F32","shape":[3],"data_offsets":[0,8]}}`, 8)},
		{"negative shape", "has shape [-2]", file(`{"a":{"dtype":"F32","shape":[-2],"data_offsets":[0,8]}}`, 8)},
		{"overflowing shape", "has shape", file(`{"a":{"dtype":"F32","shape":[4611686018427387904,4],"data_offsets":[0,0]}}`, 0)},
		{"negative offset", "has shape", file(`{"a":{"dtype":"F32","shape":[2],"data_offsets":[-8,0]}}`, 0)},
		{"unknown field", "unknown field", file(`{"a":{"dtype":"F32","shape":[0],"data_offsets":[0,0],"x":1}}`, 0)},
		{"bad metadata", "bad metadata", file(`{"__metadata__":{"a":1}}`, 0)},
	} {
		for _, keep := range []bool{true, false} {
			_, _, err := decodeSafetensors(bytes.NewReader(c.data), int64(len(c.data)), keep)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s, keep %t: got %v, want %q", c.name, keep, err, c.want)
			}
		}
	}
	for _, c := range []struct {
		want    string
		tensors []NamedTensor
	}{
		{"twice or reserved", []NamedTensor{{"a", []int{0}, []int64{}}, {"a", []int{0}, []int64{}}}},
		{"twice or reserved", []NamedTensor{{"__metadata__", []int{0}, []int64{}}}},
		{"data of type []int", []NamedTensor{{"a", []int{1}, []int{1}}}},
		{"has shape [2] and 1 elements", []NamedTensor{{"a", []int{2}, []int64{1}}}},
	} {
		if err := WriteSafetensors(new(bytes.Buffer), c.tensors, nil); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("write: got %v, want %q", err, c.want)
		}
	}
}

func FuzzSafetensors(f *testing.F) {
	f.Add(encode(f, someTensors()[1:], map[string]string{"a": "b"}))
	f.Add(file(`{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}`, 8))
	f.Fuzz(func(t *testing.T, data []byte) {
		tensors, meta, err := decodeSafetensors(bytes.NewReader(data), int64(len(data)), true)
		if _, _, check := decodeSafetensors(bytes.NewReader(data), int64(len(data)), false); (check == nil) != (err == nil) {
			t.Fatalf("read with %v, checked with %v", err, check)
		}
		if err != nil {
			return
		}
		again, _, err := decodeSafetensors(bytes.NewReader(encode(t, tensors, meta)), int64(len(encode(t, tensors, meta))), true)
		if err != nil || len(again) != len(tensors) {
			t.Fatalf("what was read cannot be written and read again: %v", err)
		}
	})
}

func newEnv(dir, hash string, resume bool) *Env {
	return &Env{Dir: dir, ConfigHash: hash, Resume: resume, Log: slog.New(slog.DiscardHandler), Progress: Silent{},
		opening: opening{purpose: running}}
}

func TestCheckpoint(t *testing.T) {
	dir := t.TempDir()
	e := newEnv(dir, "h1", false)
	open := privacy.Declaration{WithoutNoise: []privacy.Unprotected{{Unit: privacy.User, What: "x", Why: "y"}}}
	l, err := e.Ledger(privacy.Research, open)
	if err != nil {
		t.Fatal(err)
	}
	record := func(period string) {
		t.Helper()
		if err := errors.Join(l.Record("toy", privacy.Unprotected{Unit: privacy.User, What: "x", Why: "y"}, 1), l.Flush(period)); err != nil {
			t.Fatal(err)
		}
	}
	record("kept")
	want := Checkpoint{[]byte(`{"step":1}`), someTensors()}
	if err := e.SaveCheckpoint(want); err != nil {
		t.Fatal(err)
	}
	before, _ := os.ReadFile(filepath.Join(dir, "ledger.jsonl"))
	record("after the checkpoint")
	if _, err := e.books.close(false); err != nil {
		t.Fatal(err)
	}
	said, _ := os.ReadFile(filepath.Join(dir, LedgerName))

	again := newEnv(dir, "h1", true)
	if l, err = again.Ledger(privacy.Research, open); err != nil {
		t.Fatal(err)
	}
	if now, _ := os.ReadFile(filepath.Join(dir, LedgerName)); !bytes.Equal(now, said) {
		t.Errorf("the resumed ledger holds %q, before that %q", now, said)
	}
	record("another period")
	again.books.close(false)
	if now, _ := os.ReadFile(filepath.Join(dir, LedgerName)); !bytes.HasPrefix(now, before) || bytes.Count(now, []byte("\n")) != 4 || !bytes.Contains(now, []byte("another period")) {
		t.Errorf("ledger holds %q, want one line after %q", now, before)
	}
	got, ok, err := again.LoadCheckpoint()
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	var usage *UsageError
	if _, _, err := newEnv(dir, "h2", true).LoadCheckpoint(); !errors.As(err, &usage) || !strings.Contains(err.Error(), "another configuration") {
		t.Errorf("another configuration: %v", err)
	}
	if _, err := newEnv(dir, "h2", true).Ledger(privacy.Research, open); !errors.As(err, &usage) {
		t.Errorf("ledger of another configuration: %v", err)
	}
	if _, ok, err := newEnv(t.TempDir(), "h1", true).LoadCheckpoint(); ok || err != nil {
		t.Errorf("nothing saved: %v, %v", ok, err)
	}
	var h interface{ Hint() string }
	os.Truncate(filepath.Join(dir, "ledger.jsonl"), 2)
	if _, err := newEnv(dir, "h1", true).Ledger(privacy.Research, open); err == nil || !errors.As(err, &h) || !strings.Contains(err.Error(), "it has 2 bytes") {
		t.Errorf("shortened ledger: %v", err)
	}
	path := filepath.Join(dir, checkpointFile)
	info, _ := os.Stat(path)
	os.Truncate(path, info.Size()-1)
	_, _, err = newEnv(dir, "h1", true).LoadCheckpoint()
	if err == nil || !strings.Contains(err.Error(), path+": truncated") || !errors.As(err, &h) || h.Hint() == "" {
		t.Errorf("truncated checkpoint: %v", err)
	}
	if err := e.SaveCheckpoint(Checkpoint{State: []byte("{")}); err == nil {
		t.Error("a state that is not JSON was accepted")
	}
}

// The training loop's view of a checkpoint gives back what it was given.
func TestTrainStore(t *testing.T) {
	e := newEnv(t.TempDir(), "h", true)
	if err := declaresNothing(e); err != nil {
		t.Fatal(err)
	}
	m := tensor.New(3, 4)
	for i := range m.Data {
		m.Data[i] = tensor.Float(i)
	}
	want := &train.Checkpoint{State: []byte(`{"a":1}`), Tensors: []autograd.NamedTensor{{Name: "param/x", Value: m}}}
	if _, ok, err := e.TrainStore().Load(); ok || err != nil {
		t.Fatal(ok, err)
	}
	if err := e.TrainStore().Save(want); err != nil {
		t.Fatal(err)
	}
	got, ok, err := e.TrainStore().Load()
	if !ok || err != nil {
		t.Fatal(ok, err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

type lastLine struct {
	Silent
	begun, done int
	line        string
}

func (l *lastLine) Begin(what string, total int) { l.begun, l.done = total, 0 }
func (l *lastLine) Add(n int)                    { l.done += n }
func (l *lastLine) End(s string)                 { l.line = s }

// A resumed epoch counts from where it went on, and the line of an epoch shows
// one value a measure.
func TestTrainHooks(t *testing.T) {
	var p lastLine
	var log bytes.Buffer
	e := newEnv("", "", false)
	e.Progress, e.writing.lines = &p, slog.New(slog.NewJSONHandler(&log, nil))
	h := e.TrainHooks()
	h.OnStep(train.StepInfo{Epoch: 1, Epochs: 3, Batch: 4, Batches: 10})
	h.OnStep(train.StepInfo{Epoch: 1, Epochs: 3, Batch: 10, Batches: 10})
	if p.begun != 10 || p.done != 10 {
		t.Errorf("stretch of %d, %d done", p.begun, p.done)
	}
	h.OnEpoch(train.EpochInfo{EpochRecord: train.EpochRecord{Epoch: 1, Loss: 2.5, LR: 0.01, Scores: []train.Score{
		{Name: "valid Recall@5", Value: 0.1}, {Name: "valid Recall@20", Value: 0.2}, {Name: "valid MRR@20", Value: 0.05}}}, TrainSeconds: 1})
	if want := "epoch 2  loss 2.5000  lr 0.01  valid Recall@20 0.2000  valid MRR@20 0.0500  (1.0s)"; p.line != want {
		t.Errorf("got %q, want %q", p.line, want)
	}
	if !strings.Contains(log.String(), `"valid Recall@5":0.1`) {
		t.Errorf("the log lacks a score: %s", &log)
	}
}

func TestMatrixTensors(t *testing.T) {
	m := tensor.New(3, 2)
	for i := range m.Data {
		m.Data[i] = tensor.Float(i)
	}
	view := tensor.ColsView(m, 1, 2)
	nt := MatrixTensor("v", view)
	if diff := cmp.Diff([]tensor.Float{1, 3, 5}, nt.Data); diff != "" {
		t.Error(diff)
	}
	to := tensor.New(3, 1)
	if err := nt.CopyTo(to); err != nil || to.Data[2] != 5 {
		t.Error(err, to)
	}
	if err := nt.CopyTo(m); err == nil || !strings.Contains(err.Error(), "has shape [3 1], want (3, 2)") {
		t.Error(err)
	}
	var other any = []float64{1}
	if floatName == "float64" {
		other = []float32{1}
	}
	if err := (NamedTensor{"o", []int{1, 1}, other}).CopyTo(tensor.New(1, 1)); err == nil || !strings.Contains(err.Error(), "this build computes in "+floatName) {
		t.Error(err)
	}
}
