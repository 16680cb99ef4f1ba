package cli

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"privrec/configs"
	"privrec/internal/printed"
	"privrec/internal/printed/lint"
	"privrec/internal/run"
)

// auditTables makes the command that checks the tables of papers by what they print.
func (a *App) auditTables() *cobra.Command {
	var asJSON, strict bool
	c := &cobra.Command{
		Use:   "tables [FILE]...",
		Short: "check the tables of papers against themselves and against earlier publications",
		Long: `Checks the tables of papers by what they print: no model is trained and no data are read.
Without FILE it checks the five papers' tables, and published results of others, as they
come with the program. With FILE it checks these transcriptions, in the form of
configs/printed, and holds them against those that come with the program.

A printed number stands for all numbers that are rounded to it, so nothing is reported that
its digits explain. A finding is one line:

  error    cannot be, under the definition that the line states
  warning  unlikely, or rests on an assumption that the line names
  note     worth a look

The exit code is 0 with findings too, and 1 with --strict. --json prints one document: the
rules, the findings, and for each the numbers behind it with their places.

` + exitCodes,
		Args: cobra.ArbitraryArgs,
		RunE: func(_ *cobra.Command, args []string) error {
			files, others, err := transcriptions(args)
			if err != nil {
				return err
			}
			r := lint.Check(files, others)
			if err := run.Show(a.Stdout, asJSON, r); err != nil {
				return fmt.Errorf("show the findings: %w", err)
			}
			if n := len(r.Findings); strict && n > 0 {
				return run.WithHint(fmt.Errorf("%d findings", n),
					"without --strict findings are shown and nothing fails")
			}
			return nil
		},
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return []string{"yaml", "yml"}, cobra.ShellCompDirectiveFilterFileExt
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "as JSON")
	c.Flags().BoolVar(&strict, "strict", false, "end with exit code 1 if anything is found")
	return c
}

// transcriptions returns what is checked, and what it is held against. A file takes the place
// of the one of its paper that comes with the program.
func transcriptions(names []string) (files, others []*printed.File, err error) {
	others, err = printed.Load(configs.Files())
	if err != nil || len(names) == 0 {
		return others, nil, err
	}
	for _, name := range names {
		f, err := printed.Open(name)
		if err != nil {
			return nil, nil, err
		}
		if i := slices.IndexFunc(files, func(o *printed.File) bool { return o.Paper == f.Paper }); i >= 0 {
			return nil, nil, usagef("check them one at a time", "%s and %s are both of the paper %s", files[i].Name(),
				name, f.Paper)
		}
		files = append(files, f)
		others = slices.DeleteFunc(others, func(o *printed.File) bool { return o.Paper == f.Paper })
	}
	return files, others, nil
}
