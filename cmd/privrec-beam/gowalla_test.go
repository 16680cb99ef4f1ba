//go:build slow

package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"privrec/internal/graph"
	"privrec/internal/graph/gram"
)

// The Gram matrix of the 40,981 items of Gowalla's published training rows, of four packed files and
// five shards, is that of one machine, byte for byte.
func TestGowallaCounts(t *testing.T) {
	data := os.Getenv("PRIVREC_DATA")
	if data == "" {
		t.Skip("PRIVREC_DATA is not set: skipping the counts of the real Gowalla")
	}
	f, err := os.Open(filepath.Join(data, "gowalla", "train.txt.gz"))
	if os.IsNotExist(err) {
		t.Skipf("PRIVREC_DATA has no gowalla: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	const items = 40981
	dir := t.TempDir()
	var files [4]strings.Builder
	var edges []graph.Edge
	users := 0
	lines := bufio.NewScanner(z)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		for _, x := range fields[1:] {
			var item int32
			if _, err := fmt.Sscan(x, &item); err != nil {
				t.Fatal(err)
			}
			edges = append(edges, graph.Edge{User: int32(users), Item: item})
		}
		fmt.Fprintln(&files[users%len(files)], strings.Join(fields, " "))
		users++
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	for i := range files {
		writeGzip(t, filepath.Join(dir, fmt.Sprintf("in-%d.txt.gz", i)), files[i].String())
	}
	var ids strings.Builder
	for i := range items {
		fmt.Fprintln(&ids, i)
	}
	catalogue := filepath.Join(dir, "items.txt")
	if err := os.WriteFile(catalogue, []byte(ids.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	g, err := graph.NewBipartite(users, items, edges)
	if err != nil {
		t.Fatal(err)
	}
	var want bytes.Buffer
	if err := gram.Write(t.Context(), &want, g); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(dir, "g.gram")
	counted(t, "--input", filepath.Join(dir, "in-*"), "--output", out, "--catalogue", catalogue, "--shards", "5")
	got, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want.Bytes()) {
		t.Errorf("%d bytes are not the %d of one machine", len(got), want.Len())
	}
	t.Logf("%d users, %d interactions, %d bytes", users, len(edges), len(got))
}
