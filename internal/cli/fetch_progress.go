package cli

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"privrec/internal/fetch"
)

// newByteReporter is newReporter for stretches that are counted in bytes, whose total
// may be unknown (-1).
func newByteReporter(w io.Writer, quiet bool) reporter {
	switch f, ok := w.(*os.File); {
	case quiet:
		return newReporter(w, quiet)
	case ok && term.IsTerminal(int(f.Fd())):
		return &byteBar{bar{w: w}}
	}
	return &byteLines{lines{w: w, now: time.Now}}
}

// byteBar is a bar that shows sizes and their rate.
type byteBar struct{ bar }

// Begin shows an empty bar, or a moving one when the total is not known.
func (b *byteBar) Begin(what string, total int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.b = progressbar.NewOptions64(int64(total),
		progressbar.OptionSetWriter(b.w),
		progressbar.OptionSetDescription(what),
		progressbar.OptionSetWidth(30),
		progressbar.OptionShowCount(),
		progressbar.OptionShowBytes(true),
		progressbar.OptionShowTotalBytes(true),
		progressbar.OptionSetPredictTime(true),
		progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionClearOnFinish(),
	)
	b.b.RenderBlank()
}

// byteLines is plain lines with sizes.
type byteLines struct{ lines }

// Add writes a line every ten seconds.
func (l *byteLines) Add(n int) {
	l.done += n
	now := l.now()
	if now.Sub(l.last) < lineEvery {
		return
	}
	l.last = now
	if l.total <= 0 {
		fmt.Fprintf(l, "%s: %s\n", l.what, fetch.Size(int64(l.done)))
		return
	}
	fmt.Fprintf(l, "%s: %s of %s (%d %%)\n", l.what, fetch.Size(int64(l.done)), fetch.Size(int64(l.total)), 100*l.done/l.total)
}
