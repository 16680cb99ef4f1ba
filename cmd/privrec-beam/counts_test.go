package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"privrec/internal/graph"
	"privrec/internal/graph/gram"
	"privrec/internal/model/ease"
	"privrec/internal/tensor"
)

// counted runs the command.
func counted(t *testing.T, args ...string) {
	t.Helper()
	flags := flag.NewFlagSet("counts", flag.ContinueOnError)
	work := counts(flags)
	if err := flags.Parse(args); err != nil {
		t.Fatal(err)
	}
	if err := work(t.Context(), io.Discard, io.Discard); err != nil {
		t.Fatal(err)
	}
}

// The Gram matrix of shards is that of one machine, byte for byte, whatever the files and shards, with
// rows that come again; and EASE of it is EASE, to the bit.
func TestCountsAreThoseOfOneMachine(t *testing.T) {
	dir := t.TempDir()
	x := newTable(300, 3)
	users, seen := map[string]int32{}, map[graph.Edge]bool{}
	var edges []graph.Edge
	for _, row := range x.rows {
		u, ok := users[row[0]]
		if !ok {
			u = int32(len(users))
			users[row[0]] = u
		}
		i, err := strconv.Atoi(row[1])
		if err != nil {
			t.Fatal(err)
		}
		if e := (graph.Edge{User: u, Item: int32(i - 1)}); !seen[e] {
			seen[e] = true
			edges = append(edges, e)
		}
	}
	for i, text := range x.files {
		writeGzip(t, filepath.Join(dir, fmt.Sprintf("in-%d.tsv.gz", i)), head+text+"bad\n")
	}
	g, err := graph.NewBipartite(len(users), 60, edges)
	if err != nil {
		t.Fatal(err)
	}
	var want bytes.Buffer
	if err := gram.Write(context.Background(), &want, g); err != nil {
		t.Fatal(err)
	}
	for _, shards := range []string{"1", "4", "40"} {
		out := filepath.Join(t.TempDir(), "g.gram")
		counted(t, "--input", filepath.Join(dir, "in-*"), "--output", out, "--items", "60", "--shards", shards)
		got, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want.Bytes()) {
			t.Errorf("%s shards: another matrix", shards)
		}
		items, err := os.ReadFile(strings.TrimSuffix(out, ".gram") + ".items.tsv")
		if err != nil || !bytes.Contains(items, fmt.Appendf(nil, "\n7\t%d\n", len(g.UsersOf(6)))) {
			t.Errorf("%s shards: item 7 has %d users, and not in\n%s(%v)", shards, len(g.UsersOf(6)), items, err)
		}
		r, err := gram.NewReader(out, bytes.NewReader(got))
		if err != nil {
			t.Fatal(err)
		}
		a, err := ease.FitGram(t.Context(), g, 5, r)
		if err != nil {
			t.Fatal(err)
		}
		b, err := ease.Fit(t.Context(), g, 5)
		if err != nil {
			t.Fatal(err)
		}
		samples := make([]int32, g.Users)
		for u := range samples {
			samples[u] = int32(u)
		}
		x, y := tensor.NewTable(g.Users, g.Items), tensor.NewTable(g.Users, g.Items)
		if err := errors.Join(a.Score(nil, samples, x), b.Score(nil, samples, y)); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(x.Data, y.Data) {
			t.Errorf("%s shards: EASE of the matrix has other scores", shards)
		}
		a.Close()
		b.Close()
	}
}
