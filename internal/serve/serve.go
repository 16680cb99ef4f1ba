package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"privrec/internal/run"
	"privrec/internal/system"
)

// Options says what to serve, and where.
type Options struct {
	Dir   string
	Port  int              // 0: one that is free
	Ready func(url string) // called once requests are answered; may be nil
}

// Serve answers requests about the runs below a folder until the context ends, and then returns nil.
func Serve(ctx context.Context, o Options) error {
	h, err := open(o.Dir)
	if err != nil {
		return err
	}
	defer h.root.Close()
	listeners, err := listen(o.Port)
	if err != nil {
		return err
	}
	s := &http.Server{
		Handler:           guard(h),
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    1 << 16,
		ErrorLog:          log.New(io.Discard, "", 0),
	}
	ended := make(chan error, len(listeners))
	for _, l := range listeners {
		go func() { ended <- s.Serve(l) }()
	}
	if o.Ready != nil {
		o.Ready("http://" + listeners[0].Addr().String() + "/")
	}
	running := len(listeners)
	select {
	case <-ctx.Done():
	case err = <-ended:
		running--
	}
	s.Close()
	for range running {
		<-ended
	}
	if errors.Is(err, http.ErrServerClosed) {
		err = nil
	}
	if err != nil {
		return fmt.Errorf("serve %s: %w", o.Dir, err)
	}
	return nil
}

// open opens the served folder.
func open(dir string) (*handler, error) {
	fix := "name a folder of runs, as privrec report serve runs"
	switch info, err := os.Stat(dir); {
	case errors.Is(err, fs.ErrNotExist) || system.NotAFolder(err):
		return nil, &run.UsageError{Message: "there is no folder " + dir, Fix: fix}
	case err == nil && !info.IsDir():
		return nil, &run.UsageError{Message: dir + " is not a folder", Fix: fix}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("serve: %w", err)
	}
	path, err := filepath.Abs(dir)
	if err != nil {
		root.Close()
		return nil, fmt.Errorf("serve: %w", err)
	}
	return newHandler(root, path), nil
}

// listen listens on 127.0.0.1, and on ::1 if the machine has it, on one port.
func listen(port int) ([]net.Listener, error) {
	// Any other process may take the port of ::1 between two calls, so a free one is looked for
	// more than once.
	for try := 0; ; try++ {
		four, err := net.Listen("tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err != nil {
			return nil, busy(port, err)
		}
		got := four.Addr().(*net.TCPAddr).Port
		six, err := net.Listen("tcp6", net.JoinHostPort("::1", strconv.Itoa(got)))
		switch {
		case err == nil:
			return []net.Listener{four, six}, nil
		case !system.PortTaken(err): // no ::1 here
			return []net.Listener{four}, nil
		}
		four.Close()
		if port != 0 || try == 10 {
			return nil, busy(got, err)
		}
	}
}

func busy(port int, err error) error {
	if system.PortTaken(err) {
		return &run.UsageError{Message: fmt.Sprintf("port %d is taken", port),
			Fix: "choose another --port; 0 takes a free one"}
	}
	return fmt.Errorf("serve: listen on port %d: %w", port, err)
}
