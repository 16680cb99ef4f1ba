package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"privrec/internal/serve"
)

// browse makes the command that shows a folder of runs in a browser.
func (a *App) browse() *cobra.Command {
	o := serve.Options{Dir: "runs"}
	var opens bool
	c := &cobra.Command{
		Use:   "serve [DIR] [--port N] [--open]",
		Short: "show a folder of runs in a browser: sorted, filtered, side by side",
		Long: `Shows the runs and the report pages below a folder in a browser, until Ctrl-C: a list that
is sorted and filtered, runs side by side with a paired test, metrics over epsilons. DIR is
runs if none is given. The same list as data is at /api/runs.json.

It answers on this machine alone, at 127.0.0.1 and ::1. It changes nothing, and the pages
load nothing from elsewhere. Any user of this machine can read what it shows.

` + exitCodes,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) > 1 {
				return wants("DIR")(c, args)
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 1 {
				o.Dir = args[0]
			}
			if o.Port < 0 || o.Port > 65535 {
				return usagef("0 takes a free one", "--port is %d, want 0 to 65535", o.Port)
			}
			o.Ready = func(url string) {
				fmt.Fprintf(a.Stdout, "%s shows the runs in %s; Ctrl-C ends it\n", url, o.Dir)
				if opens {
					if err := openPage(url); err != nil {
						fmt.Fprintf(a.Stderr, "no browser was opened (%v); open the address yourself\n", err)
					}
				}
			}
			return serve.Serve(c.Context(), o)
		},
	}
	c.Flags().IntVar(&o.Port, "port", 7650, "port on this machine; 0 takes a free one")
	c.Flags().BoolVar(&opens, "open", false, "open it in the browser of this machine")
	return c
}
