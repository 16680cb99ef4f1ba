package cli

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/spf13/cobra"

	"privrec/internal/run"
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

// browsers are the programs that open a page, by system.
var browsers = map[string][]string{
	"linux": {"xdg-open"}, "freebsd": {"xdg-open"}, "openbsd": {"xdg-open"}, "netbsd": {"xdg-open"},
	"darwin": {"open"}, "windows": {"rundll32", "url.dll,FileProtocolHandler"},
}

// openPage asks the desktop to open an address or the whole path of a file. It does not wait for
// the browser, which may run as long as its user looks. Its error names the page, so that users
// can open it themselves.
func openPage(address string) error {
	with := browsers[runtime.GOOS]
	if len(with) == 0 {
		return run.WithHint(fmt.Errorf("no program is known that opens a page on %s", runtime.GOOS), "open "+address)
	}
	program, err := exec.LookPath(with[0])
	if err != nil {
		return run.WithHint(fmt.Errorf("open the page: %s: not found", with[0]), "open "+address)
	}
	c := exec.Command(program, append(slices.Clone(with[1:]), address)...)
	if err := c.Start(); err != nil {
		return run.WithHint(fmt.Errorf("open the page: %s: %w", with[0], err), "open "+address)
	}
	go c.Wait() // only so that it leaves no zombie
	return nil
}

// openFile opens a file as openPage does.
func openFile(path string) error {
	whole, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	return openPage(whole)
}
