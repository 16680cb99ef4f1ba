//go:build slow

package browsertest

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"privrec/internal/serve"
)

// hostile is a name that is markup, and hides what follows it.
const hostile = "a\"><script>document.title='taken'</script>\u202ex'\n<b>"

// folder makes a folder of runs: those that an earlier program made, one with a hostile name,
// and the page of a report.
func folder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(filepath.Join(dir, "runs"), os.DirFS("../../testdata/runs")); err != nil {
		t.Fatal(err)
	}
	name := strings.ReplaceAll(hostile, "/", "∕")
	if err := os.CopyFS(filepath.Join(dir, "runs", name), os.DirFS("../../testdata/runs/train-sasrec")); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "runs", name, "metrics.json")
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var m map[string]any
	if err := json.Unmarshal(b, &m); err != nil {
		t.Fatal(err)
	}
	m["method"] = hostile
	m["data"].(map[string]any)["name"] = hostile
	if b, err = json.Marshal(m); err == nil {
		err = os.WriteFile(file, b, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	tables := filepath.Join(dir, "tables")
	if err := os.MkdirAll(tables, 0o755); err != nil {
		t.Fatal(err)
	}
	const report = `<!doctype html><html lang="en"><title>report</title><body><h1>A report</h1><p id="p">before</p>
<script>document.getElementById("p").textContent = "after"; fetch("http://example.invalid/x").catch(() => {}); fetch("/api/runs.json").then(() => { document.title = "read"; }, () => {});</script></body></html>`
	if err := os.WriteFile(filepath.Join(tables, "index.html"), []byte(report), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

// start serves a folder until the test ends, and returns its address.
func start(t *testing.T, dir string) string {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	ready, ended := make(chan string, 1), make(chan error, 1)
	go func() { ended <- serve.Serve(ctx, serve.Options{Dir: dir, Ready: func(u string) { ready <- u }}) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	select {
	case u := <-ready:
		return u
	case err := <-ended:
		ended <- nil
		t.Fatal(err)
	}
	return ""
}

// metricHead is the heading of the metrics in the list.
const metricHead = `thead a[href*="sort=metric"], thead a[href*="sort=-metric"]`

// names are the runs of the list, in its order.
const names = `[...document.querySelectorAll("table.runs tbody tr")].filter(r => !r.hidden).map(r => r.querySelector("input").value)`

func TestServePages(t *testing.T) {
	at := start(t, folder(t))
	b := open(t)
	b.size(1200, false)
	b.visit(at)
	all := eval[[]string](b, names)
	if len(all) < 2 {
		t.Fatalf("the list shows %d runs", len(all))
	}
	chosen := all[:2]
	for _, want := range []string{"runs/train-dipsgnn", "runs/train-srgnn"} {
		if i := slices.Index(all, want); i >= 0 {
			chosen = slices.Insert(slices.DeleteFunc(slices.Clone(chosen), func(s string) bool { return s == want }), 0, want)[:2]
		}
	}
	pages := []struct{ name, path string }{
		{"list", ""},
		{"list sorted", "?sort=-metric&state=done"},
		{"run", "run?name=" + chosen[0]},
		{"compare", "compare?run=" + chosen[0] + "&run=" + chosen[1]},
		{"fronts", "fronts"},
		{"fronts claimed", "fronts?over=claimed"},
		{"refusal", "?sort=nothing"},
	}
	for _, p := range pages {
		for _, width := range []int64{1200, 390} {
			for _, dark := range []bool{false, true} {
				name := fmt.Sprintf("%s %d %s", p.name, width, map[bool]string{true: "dark", false: "light"}[dark])
				b.size(width, dark)
				b.visit(at + p.path)
				b.shot(name)
				b.check(name, at)
				if h := eval[string](b, `document.querySelector("h1").textContent`); h == "" {
					t.Errorf("%s has no heading", name)
				}
			}
		}
	}
}

// Every link of every kind of page leads to a page.
func TestServeLinks(t *testing.T) {
	at := start(t, folder(t))
	b := open(t)
	b.size(1200, false)
	seen, todo := map[string]bool{}, []string{at}
	for len(todo) > 0 && len(seen) < 400 {
		next := todo[0]
		todo = todo[1:]
		if seen[next] {
			continue
		}
		seen[next] = true
		response, err := http.Get(next)
		if err != nil {
			t.Fatal(err)
		}
		_, err = io.Copy(io.Discard, response.Body)
		response.Body.Close()
		if err != nil || response.StatusCode != http.StatusOK {
			t.Errorf("%s: %v, %v", next, response.Status, err)
		}
		ours := !strings.HasPrefix(next, at+"files/") && !strings.Contains(next, "sort=") && !strings.Contains(next, ".json")
		if ours {
			b.visit(next)
			todo = append(todo, eval[[]string](b, `[...document.querySelectorAll("a[href]")].map(a => a.href.replace(/#.*/, ""))`)...)
		}
	}
	if len(seen) < 20 {
		t.Errorf("only %d addresses were found", len(seen))
	}
}

// The list sorts by its headings, filters as a word is typed, and compares what is chosen, by
// the keyboard too.
func TestServeWorks(t *testing.T) {
	at := start(t, folder(t))
	b := open(t)
	b.size(1200, false)
	b.visit(at)
	before := eval[[]string](b, names)
	b.loads(chromedp.Click(chromedp.CSS(metricHead)))
	up := eval[[]string](b, names)
	b.loads(chromedp.Click(chromedp.CSS(metricHead)))
	if got := eval[string](b, `document.querySelector("th[aria-sort]").ariaSort`); got != "descending" {
		t.Errorf("the sorted column is %q for a screen reader", got)
	}
	down := eval[[]string](b, names)
	if slices.Equal(before, up) || slices.Equal(up, down) {
		t.Errorf("sorting changes nothing: %v, %v, %v", before, up, down)
	}
	if a, b := slices.Sorted(slices.Values(up)), slices.Sorted(slices.Values(down)); !slices.Equal(a, b) {
		t.Errorf("sorting loses runs: %v, %v", a, b)
	}
	b.do(chromedp.SendKeys(chromedp.CSS("#q"), "edgerand"))
	if got := eval[[]string](b, names); !slices.Equal(got, []string{"runs/train-edgerand"}) {
		t.Errorf("typing a word leaves %v", got)
	}
	if got := eval[string](b, `document.getElementById("count").textContent`); got != "1 of the listed runs fit." {
		t.Errorf("the count says %q", got)
	}
	eval[bool](b, `(() => { const q = document.getElementById("q"); q.value = ""; q.dispatchEvent(new Event("input")); return true; })()`)
	for _, name := range []string{"runs/train-dipsgnn", "runs/train-srgnn"} {
		b.do(chromedp.Focus(chromedp.CSS(`input[value="`+name+`"]`)), chromedp.KeyEvent(" "))
	}
	if got := eval[string](b, `document.getElementById("chosen").textContent`); got != "2 chosen." {
		t.Errorf("after two choices the page says %q", got)
	}
	b.do(chromedp.Focus(chromedp.CSS("#choose button")))
	b.loads(chromedp.KeyEvent("\r"))
	if got := eval[string](b, `document.querySelector("h1").textContent`); got != "2 runs side by side" {
		t.Errorf("the comparison is called %q", got)
	}
	b.check("comparison", at)
}

// Hostile names stay text: no markup comes of them, no script runs, and their runs open.
func TestServeHostile(t *testing.T) {
	at := start(t, folder(t))
	b := open(t)
	b.visit(at)
	if n := eval[int](b, `document.querySelectorAll("script").length`); n != 1 {
		t.Errorf("%d scripts, want the one of the page", n)
	}
	link := eval[string](b, `[...document.querySelectorAll("table.runs a")].find(a => a.textContent.includes("script")).href`)
	box := eval[string](b, `[...document.querySelectorAll("table.runs tr")].find(r => r.textContent.includes("<script>")).querySelector("input").value`)
	b.visit(link)
	want := `a"><script>document.title='taken'</script>\u202ex'\n<b>`
	if got := eval[string](b, `document.querySelector("h1").textContent`); got != want {
		t.Errorf("the run is called %q, want %q", got, want)
	}
	b.visit(at)
	eval[bool](b, fmt.Sprintf(`(() => { for (const i of document.querySelectorAll("table.runs input")) i.checked = [%q, "runs/train-sasrec"].includes(i.value); return true; })()`, box))
	b.loads(chromedp.Submit(chromedp.CSS("#choose")))
	if got := eval[string](b, `document.querySelector("h1").textContent`); got != "2 runs side by side" {
		t.Errorf("the comparison is called %q", got)
	}
	if got := eval[int](b, `document.querySelectorAll("script, b b").length`); got != 0 {
		t.Errorf("the comparison has %d elements of a name", got)
	}
	if got := eval[string](b, "document.title"); strings.Contains(got, "taken") && !strings.Contains(got, "<") {
		t.Errorf("a script of a name ran: the title is %q", got)
	}
}

// A page of the folder may have a script, but reaches neither the network nor the list.
func TestServeReport(t *testing.T) {
	at := start(t, folder(t))
	b := open(t)
	b.visit(at + "files/tables/index.html")
	if got := eval[string](b, `document.getElementById("p").textContent`); got != "after" {
		t.Errorf("the script of a report does not run: %q", got)
	}
	if got := eval[bool](b, `fetch("/api/runs.json").then(() => true, () => false)`); got {
		t.Error("a report reads the list")
	}
	if got := eval[string](b, "document.title"); got != "report" {
		t.Errorf("a report read the list: its title is %q", got)
	}
}
