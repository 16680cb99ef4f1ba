package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"privrec/internal/run"
	"privrec/internal/system"
)

// claim takes the name of the whole for this job, until end is called. Two jobs at once would release twice and leave
// one ledger. A claim is a file; one of a process of this machine that has ended is taken over. On a file system that
// belongs to no machine, claim only checks whether the file exists, so two jobs that begin at the same moment are not
// told apart.
func (o outputs) claim(ctx context.Context) (end func() error, err error) {
	name := o.job("running")
	host, err := os.Hostname()
	if err != nil {
		return nil, err
	}
	text := fmt.Sprintf("%q %d\n", host, os.Getpid())
	if !isLocal(name) {
		if there(ctx, name) {
			return nil, o.claimed(name)
		}
		err := writeFile(ctx, name, func(w io.Writer) error { _, err := io.WriteString(w, text); return err })
		return func() error { return removeNamed(context.Background(), name) }, err
	}
	for range 2 {
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if err == nil {
			_, err = f.WriteString(text)
			if e := f.Close(); err == nil {
				err = e
			}
			return func() error { return os.Remove(name) }, err
		}
		if !os.IsExist(err) {
			return nil, err
		}
		b, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		var by string
		var pid int
		if n, _ := fmt.Sscanf(string(b), "%q %d\n", &by, &pid); n < 2 || by != host || pid < 1 || system.Alive(pid) {
			break
		}
		if err := os.Remove(name); err != nil && !os.IsNotExist(err) {
			return nil, err
		}
	}
	return nil, o.claimed(name)
}

// claimed returns the error for a name that another job has.
func (o outputs) claimed(name string) error {
	return &run.UsageError{Message: fmt.Sprintf("another job writes %s, says %s", o.whole, name),
		Fix: "wait for it; if its process is no more, remove that file and look at the ledger beside it"}
}

// stemOf returns the name of the whole without its endings.
func stemOf(whole string) string { return strings.TrimSuffix(outputs{whole: whole}.job(""), ".job.") }
