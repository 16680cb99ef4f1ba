package main

import (
	"context"
	"flag"
	"fmt"
	"io"

	"privrec/internal/dataset/format"
	"privrec/internal/graph"
	"privrec/internal/graph/gram"
	"privrec/internal/papers/pricdsr"
	"privrec/internal/perturb"
	"privrec/internal/perturb/histories"
	"privrec/internal/run"
)

// countsKind is the name of the command that counts.
const countsKind = "counts"

// countRows counts the items and the pairs of items of a shard's users, on a worker.
type countRows struct {
	historyRows
	edges []graph.Edge // each pair of user and item once
	has   map[int32]bool
}

func (c *countRows) begin(string) error {
	c.has = map[int32]bool{}
	return nil
}

func (c *countRows) user([]byte) error {
	c.n++
	clear(c.has)
	return nil
}

func (c *countRows) held(_, item []byte) error {
	i, err := c.fresh(c.has, item)
	if err == nil && i >= 0 {
		c.edges = append(c.edges, graph.Edge{User: int32(c.n - 1), Item: i})
	}
	return err
}

// fresh returns the index of an item in the catalogue, from 0, and records that its user has it. It returns -1 for a
// row without an item, and if the user has the item already.
func (h *historyRows) fresh(has map[int32]bool, item []byte) (int32, error) {
	if len(item) == 0 {
		return -1, nil
	}
	cell, ok := histories.Cell(h.cat, item)
	if !ok {
		return -1, fmt.Errorf("item %q was accepted and is not in the catalogue", item)
	}
	if has[cell] {
		return -1, nil
	}
	has[cell] = true
	return cell - 1, nil
}

func (c *countRows) end() error { return nil }

// write stores the Gram matrix of the shard where the driver finds it.
func (c *countRows) write(ctx context.Context, work string, note *shardNote) error {
	g, err := graph.NewBipartite(int(c.n), c.cat.Size, c.edges)
	if err != nil {
		return err
	}
	c.edges = nil
	note.Gram = join(work, fmt.Sprintf("gram-%05d-%s", note.Shard, attempt()))
	return putFile(ctx, note.Gram, false, func(w io.Writer) error { return gram.Write(ctx, w, g) })
}

// counts returns the command that counts items and pairs of items.
func counts(flags *flag.FlagSet) func(ctx context.Context, stdout, stderr io.Writer) error {
	var f ioFlags
	var s perturb.Settings
	var r releaseFlags
	f.add(flags)
	r.add(flags)
	flags.Lookup("output").Usage = "file to write: the Gram matrix, for the key model.gram of privrec train ease; " +
		"beside it NAME.items.tsv"
	flags.IntVar(&s.Items, "items", 0, "number M of items, of ids 1 to M")
	flags.StringVar(&s.Catalogue, "catalogue", "",
		"file with the ids of all items, in the order of the matrix, which all workers see")
	return func(ctx context.Context, stdout, stderr io.Writer) (err error) {
		if (s.Items > 0) == (s.Catalogue != "") {
			return &run.UsageError{Message: "want one of --items and --catalogue",
				Fix: "--items M where the ids are 1 to M"}
		}
		if s.Catalogue, err = absolute(s.Catalogue); err != nil {
			return err
		}
		cat, err := perturb.OpenCatalogue(ctx, &s, "an id a line")
		if err != nil {
			return err
		}
		s.OutForm = format.CSV
		if r.task != "" {
			return r.released(ctx, &f, s, cat, stdout, stderr)
		}
		if err := r.alone(); err != nil {
			return err
		}
		inputs, err := f.open(ctx, f.input)
		if err != nil {
			return err
		}
		defer f.close()
		bad := outputs{whole: f.output}.job("bad.tsv")
		items := perturb.Shard{}.Beside(f.output, "items.tsv")
		for _, name := range []string{f.output, items, bad} {
			if !f.force && there(ctx, name) {
				return &run.UsageError{Message: name + " is there already",
					Fix: "choose another --output, or --force to replace what is there"}
			}
		}
		all, err := runPerturb(ctx, job{Kind: countsKind, Histories: &pricdsr.Options{Settings: s}, Inputs: inputs,
			Shards: f.shards, Work: f.work})
		if err != nil {
			return err
		}
		h, err := sumShards(ctx, all, f.output)
		if err != nil {
			return err
		}
		if err := writeItems(ctx, f.output, items, cat); err != nil {
			return err
		}
		if err := (outputs{whole: f.output}).bad(ctx, all); err != nil {
			return err
		}
		n := int64(0)
		for _, x := range all.Files {
			n += x.Bad
		}
		_, err = fmt.Fprintf(stdout, "%d items, %d users, %d interactions: %s, %s; %d bad rows: %s\n", h.Items, h.Users,
			h.Interactions, f.output, items, n, bad)
		return err
	}
}

// sumShards writes the sum of the matrices of all shards. Each user is in one.
func sumShards(ctx context.Context, all notes, to string) (h gram.Header, err error) {
	var parts []*gram.Reader
	for _, n := range all.Shards {
		if n.Gram == "" {
			continue
		}
		f, err := openFile(ctx, n.Gram)
		if err != nil {
			return h, err
		}
		defer f.Close()
		r, err := gram.NewReader(n.Gram, f)
		if err != nil {
			return h, err
		}
		parts = append(parts, r)
		h.Items, h.Users, h.Interactions = r.Items, h.Users+r.Users, h.Interactions+r.Interactions
	}
	if len(parts) == 0 {
		return h, &run.UsageError{Message: "no row of the input can be used"}
	}
	return h, writeFile(ctx, to, func(w io.Writer) error { return gram.Sum(ctx, w, parts...) })
}

// writeItems writes the number of users of each item, in the form that privrec perturb exposure --catalogue reads.
func writeItems(ctx context.Context, matrix, to string, cat *perturb.Catalogue) error {
	f, err := openFile(ctx, matrix)
	if err != nil {
		return err
	}
	defer f.Close()
	r, err := gram.NewReader(matrix, f)
	if err != nil {
		return err
	}
	return writeFile(ctx, to, func(w io.Writer) error {
		if _, err := io.WriteString(w, "item_id\tcount\n"); err != nil {
			return err
		}
		var line []byte
		for i := range r.Items {
			own := int64(0)
			err := r.Row(func(j int, n int64) {
				if j == i {
					own = n
				}
			})
			if err != nil {
				return err
			}
			line, err = cat.Append(line[:0], format.TSV, int32(i))
			if err != nil {
				return err
			}
			if _, err := fmt.Fprintf(w, "%s\t%d\n", line, own); err != nil {
				return err
			}
		}
		return r.End()
	})
}
