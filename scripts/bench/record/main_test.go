package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"privrec/internal/record"
)

const example = `{"machine": {"processor": {"name": "AMD EPYC", "cores": 4}, "threads": 2, "seconds": 3, "rounds": 3,
 "load_before": 0.1, "load_after": 0.25, "stolen": 0, "others": 0.5, "minutes": 40, "date": "2026-11-23",
 "build": {"version": "v1", "go": "go1.26", "os": "linux", "arch": "amd64", "float": "float32", "simd": "avx512", "commit": "1234567"},
 "gather": [{"name": "gather_18mb", "gflops": 161.23456}], "gemm": {"torch-2.15": {"peer": "torch 2.15.0", "products": 32, "ratio of medians": 1.25}}},
 "rows": [{"key": "dipsgnn-2810", "columns": {"privrec": {"median_s": 0.002, "min_s": 0.0015, "mb": 61},
   "privrec-avx2": {"median_s": 0.004, "min_s": 0.003, "mb": 61},
   "torch-2.15 installed": {"median_s": 0.01, "min_s": 0.009, "mb": 700, "way": ""}, "torch-2.15 avx2": {"median_s": 0.012, "min_s": 0.012, "mb": 700}}}]}`

func TestRecord(t *testing.T) {
	dir := t.TempDir()
	in, out := filepath.Join(dir, "bench.json"), filepath.Join(dir, "speed.json")
	if err := os.WriteFile(in, []byte(example), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time replaces
		if err := write([]string{in, out}); err != nil {
			t.Fatal(err)
		}
	}
	f, err := record.Read(out)
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Records) != 3 || !strings.Contains(f.About, "AMD EPYC") {
		t.Fatalf("%d records about %q, want 3", len(f.Records), f.About)
	}
	for _, c := range []struct {
		record, field string
		want          float64
	}{
		{"machine", "gather 18mb GB/s", 161.2},
		{"machine", "load after", 0.25},
		{"machine", "others percent", 0.5},
		{"gemm-torch-2.15", "ratio of medians", 1.25},
		{"dipsgnn-2810", "privrec ms", 2},
		{"dipsgnn-2810", "privrec-avx2 least ms", 3},
		{"dipsgnn-2810", "torch-2.15 installed ratio", 5},
		{"dipsgnn-2810", "torch-2.15 installed ratio of minima", 6},
		{"dipsgnn-2810", "torch-2.15 avx2 ratio", 3}, // to ours with AVX2
	} {
		r := f.Find(c.record)
		if r == nil {
			t.Fatalf("no record %s", c.record)
		}
		if v, err := r.Value(c.field); err != nil || v.Mean != c.want {
			t.Errorf("%s, %s: %v, %v, want %v", c.record, c.field, v.Mean, err, c.want)
		}
	}
}

func TestRecordRefuses(t *testing.T) {
	dir := t.TempDir()
	in := filepath.Join(dir, "bench.json")
	for text, want := range map[string]string{
		"": "unexpected end", "{}": "has no rows", `{"rows": 1}`: "cannot unmarshal",
		strings.Replace(example, `"others": 0.5, `, "", 1):           "does not say what other programs took",
		strings.Replace(example, `"others": 0.5`, `"others": 40`, 1): "other programs took 40.0 %",
		strings.Replace(example, `"stolen": 0`, `"stolen": 4.5`, 1):  "and the host 4.5 %",
	} {
		if err := os.WriteFile(in, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		err := write([]string{in, filepath.Join(dir, "out.json")})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	if err := write(nil); err == nil {
		t.Error("no files were named")
	}
}
