package cli

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"

	"privrec/internal/run"
)

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
