package stream

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"privrec/internal/bench"
	"privrec/internal/privacy/correlated"
	"privrec/internal/rng"
)

// BenchSizes returns a service whose 1,000 items are all in the matrix, and whose users begin with 50 of them.
func BenchSizes() bench.Sizes { return bench.Sizes{Users: 20_000, Items: 1000, Edges: 1_000_000} }

// Bench measures a night of a private stream: one call opens the folder, releases, and closes it.
func Bench(ctx context.Context, o bench.Options) (all []bench.Result, err error) {
	dir, err := os.MkdirTemp("", "privrec-bench-stream-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	s := o.Sizes
	if s == (bench.Sizes{}) {
		s = BenchSizes()
	}
	rows := filepath.Join(dir, "rows.csv")
	if err := drawRows(rows, s); err != nil {
		return nil, err
	}
	night := func(name string, number int, secure bool) bench.Case {
		label := "stream_" + name
		if secure {
			label += "_secure"
		}
		shape := fmt.Sprintf("users=%d items=%d %s %d", s.Users, s.Items, name, number)
		return bench.Case{Name: label, Shape: shape, Prepare: func() (func() error, error) {
			folder := filepath.Join(dir, label)
			settings := Default()
			settings.Secure = secure
			if settings.Design, err = Design(name, settings.Horizon, number, secure); err != nil {
				return nil, err
			}
			ids := make([]string, s.Items)
			for i := range ids {
				ids[i] = fmt.Sprint(i)
			}
			if err := Create(ctx, folder, settings, ids, Start{}); err != nil {
				return nil, err
			}
			add := func(f *Folder) error {
				_, err := f.Add(ctx, rows, "", false)
				return err
			}
			release := func(f *Folder) error {
				_, err := f.Release()
				return err
			}
			return func() error { return onFolder(ctx, folder, release) }, onFolder(ctx, folder, add)
		}}
	}
	return bench.Run(ctx, o, []bench.Case{night(correlated.NameBuffered, DefaultBuffers, false),
		night(correlated.NameBanded, 64, false), night(correlated.NameBanded, 16, true)})
}

// onFolder opens a stream, does something with it, and closes it.
func onFolder(ctx context.Context, folder string, do func(*Folder) error) error {
	f, err := Open(ctx, folder, false)
	if err != nil {
		return err
	}
	return errors.Join(do(f), f.Close())
}

// drawRows writes a table of rows, as many for each user, of random items.
func drawRows(path string, s bench.Sizes) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f)
	fmt.Fprintln(w, "user_id,item_id")
	draw := rng.Seed(1).Stream("bench.stream")
	for range s.Edges {
		fmt.Fprintf(w, "%d,%d\n", draw.IntN(s.Users), draw.IntN(s.Items))
	}
	return errors.Join(w.Flush(), f.Close())
}
