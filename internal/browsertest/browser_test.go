//go:build slow

package browsertest

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// chromium finds a browser, or skips the test: a browser is no part of Go, which is all that the
// tests may need, and nothing else here can tell how a page looks. Where one is installed no test
// of this package skips.
func chromium(t *testing.T) string {
	t.Helper()
	if path := os.Getenv("PRIVREC_CHROMIUM"); path != "" {
		return path
	}
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "headless-shell", "chrome-headless-shell"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skip("no Chromium on this machine: pages are not tested in a browser; PRIVREC_CHROMIUM names one")
	return ""
}

// tab is a tab of a headless browser that records what its pages ask for and complain of.
type tab struct {
	t   *testing.T
	ctx context.Context

	mu       sync.Mutex
	requests []string // addresses
	errors   []string // of scripts, and what the policy of a page forbade
}

// open starts a browser with one tab.
func open(t *testing.T) *tab {
	t.Helper()
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(chromium(t)), chromedp.NoSandbox, chromedp.UserDataDir(t.TempDir()),
		// The browser itself must ask nothing of anybody either.
		chromedp.Flag("disable-component-update", true), chromedp.Flag("proxy-server", "127.0.0.1:9"), chromedp.Flag("proxy-bypass-list", "127.0.0.1;[::1];localhost"),
	)
	alloc, stop := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(stop)
	ctx, end := chromedp.NewContext(alloc)
	t.Cleanup(func() {
		chromedp.Cancel(ctx) // waits for the browser to end
		end()
	})
	b := &tab{t: t, ctx: ctx}
	if err := chromedp.Listen(ctx, b.hear); err != nil {
		t.Fatal(err)
	}
	call(b, network.Enable, network.EnableParams{})
	call(b, runtime.Enable, cdp.Empty{})
	return b
}

func (b *tab) hear(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		b.requests = append(b.requests, e.Request.URL)
	case *runtime.EventExceptionThrown:
		b.errors = append(b.errors, e.ExceptionDetails.Text)
	case *runtime.EventConsoleAPICalled:
		if e.Type == "error" {
			b.errors = append(b.errors, "console.error")
		}
	}
}

// call sends a command to the tab.
func call[P, R any](b *tab, c cdp.Command[P, R], params P) {
	b.t.Helper()
	if _, err := chromedp.Call(b.ctx, c, params); err != nil {
		b.t.Fatal(err)
	}
}

func (b *tab) do(actions ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	if err := chromedp.Do(b.ctx, actions...); err != nil {
		b.t.Fatal(err)
	}
}

// loads does what makes the tab load another page, and waits until it is there.
func (b *tab) loads(what chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	if _, err := chromedp.Run(b.ctx, chromedp.WaitEvent(page.LoadEventFired, nil, what)); err != nil {
		b.t.Fatal(err)
	}
}

// size sets the size of the window and the colours that the user prefers.
func (b *tab) size(width int64, dark bool) {
	b.t.Helper()
	scheme := "light"
	if dark {
		scheme = "dark"
	}
	call(b, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: width, Height: 900, DeviceScaleFactor: 1, Mobile: width < 600})
	call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
}

// visit opens an address, and forgets what was heard before.
func (b *tab) visit(address string) {
	b.t.Helper()
	b.mu.Lock()
	b.requests, b.errors = nil, nil
	b.mu.Unlock()
	b.do(chromedp.Navigate(address))
}

// eval evaluates an expression of the page.
func eval[T any](b *tab, expression string) (v T) {
	b.t.Helper()
	v, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		b.t.Fatalf("%s: %v", expression, err)
	}
	return v
}

// check fails on what is wrong with the page: where it is wider than the window, where a text
// does not stand out, what it asks of others, errors of its scripts.
func (b *tab) check(name, address string) {
	b.t.Helper()
	for _, list := range [][]string{b.noisy(address), b.wide(), b.faint()} {
		for _, c := range list {
			b.t.Errorf("%s: %s", name, c)
		}
	}
}

// noisy lists requests that left the page's own origin, for a file all but its own, and errors
// of scripts.
func (b *tab) noisy(address string) (bad []string) {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	own, err := url.Parse(address)
	if err != nil {
		b.t.Fatal(err)
	}
	if len(b.requests) == 0 {
		b.t.Fatal("not even the page itself was asked for: the test hears nothing")
	}
	for _, r := range b.requests {
		u, err := url.Parse(r)
		switch {
		case err == nil && u.Scheme == "data":
		case err != nil || u.Scheme != own.Scheme || u.Host != own.Host || own.Scheme == "file" && u.Path != own.Path:
			bad = append(bad, "asks for "+r)
		}
	}
	for _, e := range b.errors {
		bad = append(bad, "error: "+e)
	}
	return bad
}

// wide says by how much the page is wider than the window, and names what is.
func (b *tab) wide() []string {
	b.t.Helper()
	w := eval[struct {
		Window, Page int
		Who          string
	}](b, `(() => {
		const d = document.documentElement, w = d.clientWidth;
		let who = "";
		for (const e of document.body.querySelectorAll("*")) {
			if (e.getBoundingClientRect().right > w + 1 && !e.closest(".scroll, svg, .skip, .hidden")) { who = e.tagName + "." + e.className + " " + e.textContent.slice(0, 60); break; }
		}
		return {Window: w, Page: Math.max(d.scrollWidth, document.body.scrollWidth), Who: who};
	})()`)
	if w.Page <= w.Window {
		return nil
	}
	return []string{fmt.Sprintf("the page is %d pixels wide in a window of %d: %s", w.Page, w.Window, w.Who)}
}

// faint lists texts that do not stand out from what is behind them: by less than 4.5, or 3 where
// they are large (WCAG 2.2, 1.4.3).
func (b *tab) faint() []string {
	b.t.Helper()
	p := eval[struct {
		Checked int
		Poor    []string
	}](b, contrastScript)
	if p.Checked == 0 {
		b.t.Fatal("no text was looked at")
	}
	return p.Poor
}

// contrastScript lists texts that cannot be read well. Text of drawings has its colour in fill.
const contrastScript = `(() => {
	const parse = s => { const m = s.match(/[\d.]+/g).map(Number); return m.length < 4 ? [...m, 1] : m; };
	const over = (a, b) => [0, 1, 2].map(i => a[i] * a[3] + b[i] * (1 - a[3])).concat(1);
	const light = c => { const f = c.slice(0, 3).map(v => { v /= 255; return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; }); return 0.2126 * f[0] + 0.7152 * f[1] + 0.0722 * f[2]; };
	const dark = matchMedia("(prefers-color-scheme: dark)").matches;
	const behind = e => {
		let stack = [];
		for (; e; e = e.parentElement) { const c = parse(getComputedStyle(e).backgroundColor); if (c[3] > 0) { stack.push(c); if (c[3] === 1) break; } }
		let at = dark && getComputedStyle(document.documentElement).colorScheme.includes("dark") ? [18, 18, 18, 1] : [255, 255, 255, 1];
		for (const c of stack.reverse()) at = over(c, at);
		return at;
	};
	const seen = new Set(); let checked = 0; const out = [];
	const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	for (let n; (n = walk.nextNode());) {
		const e = n.parentElement;
		if (!n.textContent.trim() || e.closest("script, style, .hidden, .skip, option, button:disabled") || !e.getClientRects().length) continue;
		const s = getComputedStyle(e);
		if (s.visibility === "hidden") continue;
		const back = behind(e), svg = e.closest("svg");
		const color = parse(svg ? s.fill : s.color), ground = back;
		const ink = over(color, ground);
		const [a, b] = [light(ink), light(ground)].sort((x, y) => y - x);
		const ratio = (a + 0.05) / (b + 0.05), size = parseFloat(s.fontSize), large = size >= 24 || size >= 18.66 && Number(s.fontWeight) >= 700;
		checked++;
		const key = e.tagName + "." + e.className + s.color + back;
		if (ratio < (large ? 3 : 4.5) && !seen.has(key)) { seen.add(key); out.push("contrast " + ratio.toFixed(2) + " of <" + e.tagName.toLowerCase() + " class=" + JSON.stringify(String(e.className.baseVal ?? e.className)) + "> " + n.textContent.trim().slice(0, 50)); }
	}
	return {Checked: checked, Poor: out};
})()`

// shot keeps a picture of the whole page where $PRIVREC_SCREENSHOTS names a folder.
func (b *tab) shot(name string) {
	b.t.Helper()
	dir := os.Getenv("PRIVREC_SCREENSHOTS")
	if dir == "" {
		return
	}
	high := eval[float64](b, "document.documentElement.scrollHeight")
	wide := eval[float64](b, "document.documentElement.clientWidth")
	beyond := true
	shown, err := chromedp.Call(b.ctx, page.CaptureScreenshot, page.CaptureScreenshotParams{CaptureBeyondViewport: &beyond, Clip: &page.Viewport{Width: wide, Height: min(high, 3000), Scale: 1}})
	if err != nil {
		b.t.Fatal(err)
	}
	png := shown.Data
	if err := os.MkdirAll(dir, 0o755); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, strings.ReplaceAll(name, " ", "-")+".png"), png, 0o644); err != nil {
		b.t.Fatal(err)
	}
}

// The checks themselves: each planted fault is found, and a page without one passes.
func TestChecksBite(t *testing.T) {
	b := open(t)
	b.size(390, false)
	for name, c := range map[string]struct{ body, want string }{
		"good":     {`<p>text</p><div class="scroll" style="overflow:auto"><pre style="width:2000px">wide</pre></div>`, ""},
		"wide":     {`<p style="width:500px">text</p>`, "pixels wide in a window of 390"},
		"faint":    {`<p style="color:#999">text</p>`, "contrast 2.8"},
		"drawn":    {`<svg><text y="20" style="fill:#eee">text</text></svg>`, "contrast 1."},
		"picture":  {`<p>text</p><img src="http://127.0.0.1:9/x.png">`, "asks for http://127.0.0.1:9/x.png"},
		"relative": {`<p>text</p><img src="other.png">`, "asks for file:"},
		"script":   {`<p>text</p><script>fail()</script>`, "error: Uncaught"},
	} {
		file := filepath.Join(t.TempDir(), "page.html")
		page := `<!doctype html><html lang="en"><meta name="viewport" content="width=device-width"><body>` + c.body
		if err := os.WriteFile(file, []byte(page), 0o644); err != nil {
			t.Fatal(err)
		}
		b.visit("file://" + file)
		got := strings.Join(slices.Concat(b.noisy("file://"+file), b.wide(), b.faint()), "\n")
		if c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
