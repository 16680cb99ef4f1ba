package cli

import (
	"fmt"
	"io"
	"path/filepath"
	"regexp"

	"github.com/spf13/cobra"

	"privrec/internal/record"
	"privrec/internal/run"
)

// record makes the command that keeps what finished runs measured in a small file.
func (a *App) record() *cobra.Command {
	var into, name, only, metrics, about string
	c := &cobra.Command{
		Use:   "record RUN... --out FILE --name NAME",
		Short: "keep what finished runs measured in a small file",
		Long: `Keeps what finished runs measured in a small file, which lives on when the run directories
are deleted: task, hash of the configuration, seed, hash and level of the data, metrics
beside floors, epsilon claimed and accounted, epochs, commit, machine and time. RUN is a
run directory; several are the seeds of one setting, and become one record. A record of
the same name in the file is replaced, the others stay.

The pages of this project are filled from such files: docs/results/records.

` + exitCodes,
		Args: cobra.ArbitraryArgs,
	}
	p := c.Flags()
	p.StringVar(&into, "out", "", "the file of records; written anew, or added to")
	p.StringVar(&name, "name", "", "the record's name in it, such as lightgcn-epsilon-1")
	p.StringVar(&only, "only", "", "keep the scores whose name this regular expression matches")
	p.StringVar(&metrics, "metrics", "", "keep the metrics that this regular expression matches")
	gains := p.Bool("gains", false, "keep what an attack finds more than floors, with intervals, too")
	p.StringVar(&about, "about", "", "what the file has records of, in a sentence")
	a.shows(c, func(c *cobra.Command, args []string) (run.Result, error) {
		if len(args) == 0 || into == "" || name == "" {
			return nil, usagef("privrec record RUN --out FILE --name NAME", "%s: a run, --out and --name are needed", c.CommandPath())
		}
		var match [2]*regexp.Regexp
		for i, text := range []string{only, metrics} {
			if text == "" {
				continue
			}
			var err error
			if match[i], err = regexp.Compile(text); err != nil {
				return nil, usagef("a regular expression, such as ^noisy", "%s: %v", c.CommandPath(), err)
			}
		}
		var runs []record.Run
		for _, dir := range args {
			r, err := record.Of(dir, record.Keep{Only: match[0], Metrics: match[1], Gains: *gains})
			if err != nil {
				return nil, err
			}
			runs = append(runs, r)
		}
		joined, err := record.Join(name, runs)
		if err != nil {
			return nil, err
		}
		f, err := record.Open(into)
		if err != nil {
			return nil, err
		}
		if about != "" {
			f.About = about
		}
		f.Put(joined)
		if err := f.Write(into); err != nil {
			return nil, err
		}
		return recorded{filepath.ToSlash(into), name, len(runs), len(f.Records)}, nil
	})
	return c
}

// recorded says what was written.
type recorded struct {
	File    string `json:"file"`
	Name    string `json:"name"`
	Runs    int    `json:"runs"`
	Records int    `json:"records"` // in the file
}

// Text writes it as a line.
func (r recorded) Text(w io.Writer) error {
	_, err := fmt.Fprintf(w, "record %s, runs: %d, in %s, records: %d\n", r.Name, r.Runs, r.File, r.Records)
	return err
}
