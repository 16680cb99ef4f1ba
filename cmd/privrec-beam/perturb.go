package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"privrec/internal/dataset/format"
	"privrec/internal/papers/exposure/protect"
	"privrec/internal/papers/gerai/features"
	"privrec/internal/papers/pricdsr"
	"privrec/internal/perturb"
	columns "privrec/internal/perturb/features"
	"privrec/internal/privacy"
	"privrec/internal/privacy/mechanism/sequence"
	"privrec/internal/rng"
	"privrec/internal/run"
)

// ioFlags holds every command's flags for its files.
type ioFlags struct {
	input, output, work string
	shards              int
	force, keep         bool
}

func (f *ioFlags) add(flags *flag.FlagSet) {
	flags.StringVar(&f.input, "input", "",
		"files to read, as a pattern such as 'logs/*.tsv.gz': .tsv, .csv, .inter, .txt, then .gz or .zst, or .parquet")
	flags.StringVar(&f.output, "output", "", "name of the whole; shard 2 of 7 of p.tsv is p.shard-2-of-7.tsv")
	flags.StringVar(&f.input, "in", "", "the same as --input")
	flags.StringVar(&f.output, "out", "", "the same as --output")
	flags.StringVar(&f.work, "work", "",
		"folder that all workers see, for what is passed on; default: beside the output")
	flags.IntVar(&f.shards, "shards", 8, "parts to make; a worker makes one at a time")
	flags.BoolVar(&f.force, "force", false, "replace files of the same name")
	flags.BoolVar(&f.keep, "keep-work", false, "leave the working folder")
}

// open finds the input and makes the working folder.
func (f *ioFlags) open(ctx context.Context, pattern string) (inputs []string, err error) {
	switch {
	case f.input == "":
		return nil, &run.UsageError{Message: "--input is missing"}
	case f.output == "":
		return nil, &run.UsageError{Message: "--output is missing"}
	case f.shards < 1 || f.shards > 10000:
		return nil, &run.UsageError{Message: fmt.Sprintf("--shards is %d, want 1 to 10000", f.shards)}
	}
	if inputs, err = f.files(ctx, "input", pattern); err != nil {
		return nil, err
	}
	if f.work == "" {
		f.work = f.output + ".work-" + attempt()
	} else {
		f.work = join(f.work, "privrec-"+attempt())
	}
	if isLocal(f.work) {
		if f.work, err = filepath.Abs(f.work); err != nil {
			return nil, err
		}
		err = os.MkdirAll(f.work, 0o700) // it holds true rows
	}
	return inputs, err
}

// files returns the files that match a pattern, in order, by paths that all workers see.
func (f *ioFlags) files(ctx context.Context, name, pattern string) (inputs []string, err error) {
	if inputs, err = matches(ctx, pattern); err != nil {
		return nil, err
	}
	if len(inputs) == 0 {
		return nil, &run.UsageError{Message: "--" + name + ": no file matches " + pattern}
	}
	for i, file := range inputs {
		form, ok := format.Of(file)
		first, _ := format.Of(inputs[0])
		if !ok && !strings.HasSuffix(file, ".parquet") {
			return nil, &run.UsageError{Message: fmt.Sprintf("--%s: the name of %s does not tell its form", name, file),
				Fix: "names end in .tsv, .csv, .inter or .txt, then .gz or .zst, or in .parquet"}
		}
		if i > 0 && (form == format.Lines) != (first == format.Lines) {
			return nil, &run.UsageError{Message: fmt.Sprintf("--%s: %s has lines of items and %s has not", name, file,
				inputs[0]), Fix: "give files of one kind"}
		}
	}
	for i, name := range inputs {
		if isLocal(name) {
			if inputs[i], err = filepath.Abs(name); err != nil {
				return nil, err
			}
		}
	}
	return inputs, nil
}

// close removes the working folder, with leftovers of attempts that no shard was made of.
func (f *ioFlags) close() {
	switch {
	case f.keep:
	case isLocal(f.work):
		os.RemoveAll(f.work)
	default:
		removeFiles(context.Background(), join(f.work, "*"), join(join(f.work, "*"), "*"))
	}
}

// noiseFlags holds the noise flags of every command that perturbs.
type noiseFlags struct {
	s    *perturb.Settings
	seed *uint64
	free bool // there is no epsilon to state
}

func (f *noiseFlags) add(flags *flag.FlagSet, s *perturb.Settings, purpose string) {
	f.s = s
	flags.StringVar(&s.Purpose, "purpose", purpose, "name of the release in the ledger")
	flags.BoolVar(&s.Secure, "secure", false, "cryptographic bits, for data to release")
	f.seed = flags.Uint64("seed", 0, "seed of research noise")
}

// check completes the settings.
func (f *noiseFlags) check(flags *flag.FlagSet, output, line string) (err error) {
	given := map[string]bool{}
	flags.Visit(func(x *flag.Flag) { given[x.Name] = true })
	switch {
	case given["seed"] == f.s.Secure:
		return &run.UsageError{Message: "want one of --seed and --secure",
			Fix: "--seed 1 for research, --secure for data to release"}
	case !given["epsilon"] && !f.free:
		return &run.UsageError{Message: "--epsilon is missing"}
	}
	f.s.Seed, f.s.Workers, f.s.Out = rng.Seed(*f.seed), 1, filepath.Base(output)
	f.s.OutForm, err = perturb.FormOf("output", output, line, "")
	return err
}

// perturbPricdsr returns the command that perturbs histories.
func perturbPricdsr(flags *flag.FlagSet) func(ctx context.Context, stdout, stderr io.Writer) error {
	var f ioFlags
	var n noiseFlags
	var o pricdsr.Options
	f.add(flags)
	n.add(flags, &o.Settings, "sequences")
	flags.Float64Var(&o.Epsilon, "epsilon", 0, "epsilon of one cell, or of what the mechanism protects")
	flags.StringVar((*string)(&o.Variant), "mechanism", string(sequence.SDPFixed),
		"sdp-fixed, sdp-lengths, sdp-user, set, sdp-paper or rr")
	flags.IntVar(&o.Items, "items", 0, "size M of the public catalogue, of ids 1 to M")
	flags.StringVar(&o.Catalogue, "catalogue", "", "file with the public ids of all items, which all workers see")
	flags.IntVar(&o.Length, "length", 0, "number L of cells in a row")
	flags.BoolVar(&o.Strict, "strict", false, "an item that comes again for its user is a bad row, not only counted")
	flags.BoolVar(&o.Small, "small", false, "accept fewer items than cells")
	return func(ctx context.Context, stdout, stderr io.Writer) (err error) {
		if err := n.check(flags, f.output, "a line a user"); err != nil {
			return err
		}
		if o.Catalogue, err = absolute(o.Catalogue); err != nil {
			return err
		}
		inputs, err := f.open(ctx, f.input)
		if err != nil {
			return err
		}
		defer f.close()
		j := job{Kind: pricdsr.Kind, Histories: &o, Out: filepath.Base(f.output), Inputs: inputs, Shards: f.shards,
			Work: f.work}
		return f.perturb(ctx, j, stdout, stderr)
	}
}

// perturbFeatures returns the command that perturbs user features.
func perturbFeatures(flags *flag.FlagSet) func(ctx context.Context, stdout, stderr io.Writer) error {
	var f ioFlags
	var n noiseFlags
	var o features.FileOptions
	f.add(flags)
	n.add(flags, &o.Settings, "features")
	flags.Float64Var(&o.Epsilon, "epsilon", 0, "epsilon of a user's whole row; with --each of every feature")
	ratings := flags.String("ratings", "", "files of ratings, to send statistics of, as a pattern")
	flags.IntVar(&o.Items, "items", 0, "size M of the public catalogue, with --ratings")
	flags.IntVar(&o.Draw, "draw", 0, "features that each user sends; default: epsilon/2.5, rounded down")
	flags.BoolVar(&o.Each, "each", false, "every user sends every feature")
	flags.BoolVar(&o.Missing, "missing", false, "accept empty fields: no value, which is hidden like any other")
	for _, x := range []struct {
		name, usage string
		read        func(text string) (columns.Column, error)
	}{
		{"number", "a number, as NAME=LOW..HIGH; once for each", columns.Number},
		{"category", "a category, as NAME=LEVEL,LEVEL,...; once for each", columns.Category},
		{"bands", "a number in groups, as NAME=BORDER,BORDER,...; once for each", columns.Bands},
	} {
		flags.Func(x.name, x.usage, func(text string) error {
			c, err := x.read(text)
			o.Columns = append(o.Columns, c)
			return err
		})
	}
	return func(ctx context.Context, stdout, stderr io.Writer) (err error) {
		if err := n.check(flags, f.output, "a line a user"); err != nil {
			return err
		}
		inputs, err := f.open(ctx, f.input)
		if err != nil {
			return err
		}
		defer f.close()
		j := job{Kind: features.Kind, Features: &o, Out: filepath.Base(f.output), Shards: f.shards, Work: f.work}
		o.Attributes, o.AttributesForm = "features.csv", format.CSV
		if *ratings != "" {
			more, err := f.files(ctx, "ratings", *ratings)
			if err != nil {
				return err
			}
			inputs, j.Ratings = append(inputs, more...), len(more)
			o.In, o.InForm = "ratings.csv", format.CSV
		}
		j.Inputs = inputs
		return f.perturb(ctx, j, stdout, stderr)
	}
}

// settings returns the settings that all perturbations have.
func (j *job) settings() *perturb.Settings {
	switch j.Kind {
	case features.Kind:
		return &j.Features.Settings
	case protect.Kind:
		return &j.Slates.Settings
	}
	return &j.Histories.Settings
}

// newThrowaway returns a ledger in memory, for a worker, whose releases are in the ledger of the driver.
func newThrowaway(s *perturb.Settings) *privacy.Ledger {
	l, err := privacy.NewLedger(s.Noise())
	if err != nil {
		panic(err) // Noise returns a mark that ledgers know
	}
	return l
}

// declare records the release of the job.
func (j *job) declare(ctx context.Context, l *privacy.Ledger) error {
	var err error
	switch j.Kind {
	case features.Kind:
		err = j.Features.Declare(l)
	case protect.Kind:
		_, err = j.Slates.Declare(ctx, l)
	default:
		_, err = j.Histories.Declare(ctx, l)
	}
	return err
}

// whole says how to join the parts.
func (j *job) whole() perturb.Whole {
	switch j.Kind {
	case features.Kind:
		return features.Whole()
	case protect.Kind:
		return protect.Whole()
	}
	return pricdsr.Whole()
}

// perturb writes the ledger, runs the pipeline, and gives the parts their names.
func (f *ioFlags) perturb(ctx context.Context, j job, stdout, stderr io.Writer) (err error) {
	out := outputs{f.output, f.shards, f.work}
	end, err := out.claim(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, end()) }()
	if err := out.free(ctx, j.Inputs, f.force); err != nil {
		return err
	}
	path := filepath.Join(f.work, "ledger.jsonl")
	if !isLocal(f.work) {
		tmp, err := os.MkdirTemp("", "privrec-beam-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(tmp)
		path = filepath.Join(tmp, "ledger.jsonl")
	}
	// What the job releases is on file before any worker draws noise, once for all workers and all their
	// attempts. Only the attempts that the pipeline ends with get names that others see.
	ledger, err := privacy.CreateLedger(path, j.settings().Noise(), nil)
	if err != nil {
		return err
	}
	if err := j.declare(ctx, ledger); err != nil {
		return errors.Join(err, ledger.Leave())
	}
	if err := ledger.Close(); err != nil {
		return err
	}
	seal, _ := ledger.Seal()
	if err := copyFile(ctx, path, out.job("ledger.jsonl"), true); err != nil {
		return err
	}
	fmt.Fprintf(stderr, "ledger written to %s; %d files to %d shards\n", out.job("ledger.jsonl"), len(j.Inputs),
		j.Shards)
	all, err := runPerturb(ctx, j)
	if err != nil {
		return err
	}
	r, counts, err := out.commit(ctx, j, all, seal, path)
	if err != nil {
		return err
	}
	for _, form := range []struct {
		ending string
		json   bool
	}{{"report.txt", false}, {"report.json", true}} {
		err := writeFile(ctx, out.job(form.ending), func(w io.Writer) error { return run.Show(w, form.json, r) })
		if err != nil {
			return err
		}
	}
	if err := writeFile(ctx, out.job("counters.json"), counts.write); err != nil {
		return err
	}
	fmt.Fprintf(stderr, "%d %s, %d rows, %d bad rows (%s); shards written beside %s; privrec perturb merge --out %s "+
		"joins them\n",
		counts.Users, map[bool]string{true: "slates", false: "users"}[j.Kind == protect.Kind], counts.Rows, counts.Bad,
		out.job("bad.tsv"), f.output, f.output)
	return run.Show(stdout, false, r)
}
