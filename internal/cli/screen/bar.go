package screen

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
)

// bar shows progress on a terminal, as a line that is redrawn.
type bar struct {
	w  io.Writer
	mu sync.Mutex
	b  *progressbar.ProgressBar
}

// Write puts a line above the bar.
func (b *bar) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.b != nil {
		b.b.Clear()
		defer b.b.RenderBlank()
	}
	return b.w.Write(p)
}

// Phase writes a line above the bar.
func (b *bar) Phase(text string) { fmt.Fprintln(b, text) }

// Begin shows an empty bar for a stretch of total steps.
func (b *bar) Begin(what string, total int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.b = progressbar.NewOptions(total,
		progressbar.OptionSetWriter(b.w),
		progressbar.OptionSetDescription(what),
		progressbar.OptionSetWidth(30),
		progressbar.OptionShowCount(),
		progressbar.OptionShowIts(),
		progressbar.OptionSetPredictTime(true),
		progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionClearOnFinish(),
	)
	b.b.RenderBlank()
}

// Add moves the bar n steps on.
func (b *bar) Add(n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.b != nil {
		b.b.Add(n)
	}
}

// End clears the bar and writes the summary, where there is one.
func (b *bar) End(summary string) {
	b.mu.Lock()
	if b.b != nil {
		b.b.Clear()
		b.b = nil
	}
	b.mu.Unlock()
	if summary != "" {
		fmt.Fprintln(b, summary)
	}
}

// byteBar is a bar that counts bytes and shows their rate.
type byteBar struct{ bar }

// Begin shows an empty bar, or a moving one where the total is not known (-1).
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
