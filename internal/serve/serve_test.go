package serve

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"privrec/internal/experiment"
	"privrec/internal/report"
	"privrec/internal/run"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// folder makes a folder with copies of old runs under the given names.
func folder(t testing.TB, runs map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, from := range runs {
		if err := os.CopyFS(filepath.Join(dir, name), os.DirFS("../../testdata/runs/"+from)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// server answers requests about a folder, without a network.
func server(t testing.TB, dir string) (*handler, http.Handler) {
	t.Helper()
	h, err := open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.root.Close() })
	return h, guard(h)
}

// get asks for a path as it stands: nothing tidies it up.
func get(h http.Handler, target string) *httptest.ResponseRecorder {
	return ask(h, "GET", target, "127.0.0.1:7650")
}

func ask(h http.Handler, method, target, host string) *httptest.ResponseRecorder {
	r, err := http.ReadRequest(bufio.NewReader(strings.NewReader(method + " " + target + " HTTP/1.1\r\nHost: " + host + "\r\n\r\n")))
	w := httptest.NewRecorder()
	if err != nil { // the server of the library refuses it before we see it
		w.WriteHeader(http.StatusBadRequest)
		return w
	}
	h.ServeHTTP(w, r)
	return w
}

func TestHosts(t *testing.T) {
	_, h := server(t, t.TempDir())
	for host, want := range map[string]int{
		"127.0.0.1": 200, "127.0.0.1:7650": 200, "127.0.0.1:1": 200, "localhost": 200, "LOCALHOST:80": 200, "[::1]": 200, "[::1]:7650": 200,
		"evil.example": 403, "evil.example:7650": 403, "127.0.0.1.evil.example": 403, "localhost.evil.example": 403, "localhost.": 403,
		"127.0.0.2": 403, "127.1": 403, "0.0.0.0:7650": 403, "[::]": 403, "2130706433": 403, "::1": 403, "[127.0.0.1]:7650": 403,
		"127.0.0.1:": 403, "127.0.0.1:80:90": 403, "": 403, "[::1%25lo]": 403, "10.0.0.1": 403,
	} {
		if got := ask(h, "GET", "/", host).Code; got != want && !(want == 403 && got == 400) {
			t.Errorf("host %q: %d, want %d", host, got, want)
		}
	}
}

func TestMethods(t *testing.T) {
	_, h := server(t, folder(t, map[string]string{"a": "train-ease"}))
	for _, path := range []string{"/", "/run?name=a", "/files/a/result.txt", "/api/runs.json", "/nothing"} {
		for _, method := range []string{"POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "PROPFIND", "get"} {
			w := ask(h, method, path, "localhost")
			if w.Code != http.StatusMethodNotAllowed && w.Code != http.StatusBadRequest {
				t.Errorf("%s %s: %d", method, path, w.Code)
			}
		}
		if w := ask(h, "HEAD", path, "localhost"); w.Code == http.StatusMethodNotAllowed {
			t.Errorf("HEAD %s is refused", path)
		}
	}
	if w := ask(h, "HEAD", "/", "localhost"); w.Code != 200 || w.Body.Len() != 0 {
		t.Errorf("HEAD of the list: %d with %d bytes", w.Code, w.Body.Len())
	}
}

// Nothing outside the folder is handed out, and inside it only what runs and reports write.
func TestFiles(t *testing.T) {
	above := t.TempDir()
	dir := filepath.Join(above, "served")
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(above, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"secret/result.txt", "secret/tables/x.html", "served/a/notes.txt", "served/a/.hidden/result.txt", "served/tables/.x.html", "served/tables/model.safetensors", "result.txt"} {
		write(name, "secret")
	}
	for _, name := range []string{"served/a/result.txt", "served/a/report.html", "served/tables/x.html", "served/tables/runs/y z?#%.svg", "served/o/tables/x.csv"} {
		write(name, "shown")
	}
	for _, link := range [][2]string{{"served/out", "../secret"}, {"served/a/metrics.json", "../../secret/result.txt"}, {"served/tables/far.html", filepath.Join(above, "secret/tables/x.html")}, {"served/b/report.html", "../a/report.html"}} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(above, link[0])), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(link[1], filepath.Join(above, link[0])); err != nil {
			t.Fatal(err)
		}
	}
	_, h := server(t, dir)
	for path, want := range map[string]int{
		"a/result.txt": 200, "a/report.html": 200, "tables/x.html": 200, "tables/runs/y%20z%3F%23%25.svg": 200, "o/tables/x.csv": 200,
		"a/notes.txt": 404, "a/.hidden/result.txt": 404, "tables/.x.html": 404, "tables/model.safetensors": 404,
		"a": 404, "a/": 404, "": 404, "tables": 404, "a/missing/result.txt": 404,
		"../result.txt": 404, "../secret/result.txt": 404, "%2e%2e/secret/result.txt": 404, "..%2fsecret%2fresult.txt": 404, "%2e%2e%2fsecret/result.txt": 404,
		"a/../../secret/result.txt": 404, "a/%2e%2e/%2e%2e/secret/result.txt": 404, "..%5csecret%5cresult.txt": 404, `..\secret\result.txt`: 404,
		"./a/result.txt": 404, "a//result.txt": 404, "/a/result.txt": 404, "a%2fresult.txt": 404, "a/result.txt%00.html": 404, "a/result.txt/": 404,
		"%252e%252e/secret/result.txt": 404, strings.TrimPrefix(above, "/") + "/secret/result.txt": 404, "/etc/passwd": 404,
		"out/result.txt": 404, "out/tables/x.html": 404, "a/metrics.json": 404, "tables/far.html": 404, "b/report.html": 404,
	} {
		w := get(h, "/files/"+path)
		if w.Code != want && !(want == 404 && w.Code == 400) {
			t.Errorf("%s: %d, want %d", path, w.Code, want)
		}
		if strings.Contains(w.Body.String(), "secret") {
			t.Errorf("%s is handed out", path)
		}
		if want == 200 && w.Body.String() != "shown" {
			t.Errorf("%s: %q", path, w.Body.String())
		}
	}
	// As a link of our own pages writes it.
	if w := get(h, fileLink("tables/runs/y z?#%.svg")); w.Body.String() != "shown" {
		t.Errorf("a name with marks: %d", w.Code)
	}
}

func TestHeaders(t *testing.T) {
	_, h := server(t, folder(t, map[string]string{"a": "train-ease"}))
	for _, path := range []string{"/", "/run?name=a", "/fronts", "/compare?run=a", "/nothing", "/api/runs.json", "/files/a/result.txt", "/files/no"} {
		w := get(h, path)
		policy := w.Header().Get("Content-Security-Policy")
		for _, want := range []string{"default-src 'none'", "base-uri 'none'", "frame-ancestors 'none'"} {
			if !strings.Contains(policy, want) {
				t.Errorf("%s: policy %q lacks %s", path, policy, want)
			}
		}
		if strings.Contains(policy, "connect-src") || strings.Contains(policy, "http") {
			t.Errorf("%s: the policy opens the network: %s", path, policy)
		}
		if file := strings.HasPrefix(path, "/files/a"); file != strings.Contains(policy, "sandbox") || file == strings.Contains(policy, "sha256-") {
			t.Errorf("%s: policy %q", path, policy)
		}
		for key, want := range map[string]string{"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "X-Frame-Options": "DENY", "Cross-Origin-Resource-Policy": "same-origin"} {
			if got := w.Header().Get(key); got != want {
				t.Errorf("%s: %s is %q", path, key, got)
			}
		}
		if w.Header().Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s is open to other origins", path)
		}
	}
}

// A hostile name is text on every page that shows it, and its run is found again.
func TestHostileNames(t *testing.T) {
	for _, name := range []string{
		`<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `'"&amp;`, "line\nbreak\ttab\r", "\u202egnp.exe", "\u2066\u200b\u2028", "%2e%2e%2f", "a b+c&run=d#e?f", "\xff\xfe", "ε ∞ 日本", "-q", strings.Repeat("n", 200),
	} {
		dir := folder(t, map[string]string{"plain": "train-ease"})
		where := filepath.Join(dir, name)
		if err := os.CopyFS(where, os.DirFS("../../testdata/runs/train-ease")); err != nil {
			t.Logf("no folder of the name %q here: %v", name, err)
			continue
		}
		var m map[string]any
		file := filepath.Join(where, "metrics.json")
		b, err := os.ReadFile(file)
		if err == nil {
			err = json.Unmarshal(b, &m)
		}
		if err != nil {
			t.Fatal(err)
		}
		m["method"], m["setting"], m["data"].(map[string]any)["name"] = name, name, name
		m["floors"].([]any)[1].(map[string]any)["name"] = name
		m["evaluations"].([]any)[0].(map[string]any)["name"] = name
		if b, err = json.Marshal(m); err == nil {
			err = os.WriteFile(file, b, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
		_, h := server(t, dir)
		for _, path := range []string{"/", "/?sort=-name", "/?q=%3Cscript%3E", runLink(name), "/compare?run=plain&run=" + strings.TrimPrefix(runLink(name), "/run?name="), "/fronts"} {
			w := get(h, path)
			body := w.Body.String()
			if w.Code != 200 {
				t.Errorf("%q: %s: %d", name, path, w.Code)
			}
			scripts := 0
			if path[1:] == "" || path[1] == '?' {
				scripts = strings.Count(body, "<script>")
			} else {
				scripts = strings.Count(body, "<script") + 1
			}
			if scripts > 1 || strings.Contains(body, "<img") || strings.ContainsAny(body, "\u202e\u2066\u200b\u2028\r") || strings.Contains(body, "\xff") {
				t.Errorf("%q stays no text in %s", name, path)
			}
		}
		w := get(h, "/api/runs.json")
		var l listed
		if err := json.Unmarshal(w.Body.Bytes(), &l); err != nil || len(l.Runs) != 2 || w.Header().Get("Content-Type") != "application/json" {
			t.Errorf("%q: runs.json has %d runs, %v", name, len(l.Runs), err)
		}
		if strings.Contains(w.Body.String(), "<script") {
			t.Errorf("%q: runs.json has markup", name)
		}
	}
}

func TestQueries(t *testing.T) {
	_, h := server(t, folder(t, map[string]string{"a": "train-ease", "b": "train-dipsgnn", "c": "train-pricdsr", "d": "train-edgerand"}))
	for query, want := range map[string]string{
		"":                             "a b c d",
		"q=EDGE":                       "d",
		"q=train+ease":                 "a",
		"task=train+dipsgnn":           "b",
		"level=D":                      "a b c d",
		"level=A":                      "",
		"state=done":                   "a b c d",
		"state=failed":                 "",
		"privacy=claim":                "b c d",
		"privacy=holds":                "c",
		"privacy=exceeds":              "b d",
		"privacy=none":                 "a",
		"metric=HR@10":                 "c",
		"sort=-name":                   "c d a b",
		"sort=name":                    "b a d c", // by the names of methods
		"sort=claimed":                 "b c d a", // runs without a claim come last
		"sort=-claimed":                "d c b a",
		"metric=Recall@5&sort=metric":  "b d a",
		"metric=Recall@5&sort=-metric": "a d b",
	} {
		w := get(h, "/api/runs.json?"+strings.ReplaceAll(query, "@", "%40"))
		var l listed
		if err := json.Unmarshal(w.Body.Bytes(), &l); err != nil {
			t.Fatalf("%s: %v: %s", query, err, w.Body)
		}
		var got []string
		for _, r := range l.Runs {
			got = append(got, r.Name)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %v, want %s", query, got, want)
		}
	}
	for _, bad := range []string{"/?sort=size", "/?level=E", "/?state=well", "/?privacy=x", "/?q=a&q=b", "/?other=1", "/?q=" + strings.Repeat("x", 400), "/?q=%zz", "/api/runs.json?sort=x",
		"/compare", "/compare?run=a", "/compare?run=a&run=a", "/compare?run=a&x=b", "/run", "/run?name=a&name=b", "/fronts?over=hope", "/fronts?x=1", "/compare?" + strings.Repeat("run=a&", 9)} {
		if w := get(h, bad); w.Code != 400 {
			t.Errorf("%s: %d, want 400", bad, w.Code)
		}
	}
	for _, missing := range []string{"/run?name=x", "/run?name=../a", "/run?name=", "/compare?run=a&run=x", "/x", "/run/", "/api", "/api/runs", "/fronts/x"} {
		if w := get(h, missing); w.Code != 404 {
			t.Errorf("%s: %d, want 404", missing, w.Code)
		}
	}
}

// What stands side by side: the paired test, the keys that differ, both accounts.
func TestCompare(t *testing.T) {
	_, h := server(t, folder(t, map[string]string{"a": "train-srgnn", "b": "train-dipsgnn", "c": "train-ease"}))
	body := get(h, "/compare?run=a&run=b&run=c").Body.String()
	for _, want := range []string{
		"3 runs side by side", "In Recall@5, user by user: 2. DIPSGNN", "<td>Recall@20</td>", "the scores &#34;noise-on&#34; are taken",
		"3. EASE: ", "<th scope=\"row\">privacy.transitions.epsilon</th>", "not there", "claimed, for one edge-unit", "No noise covers:",
	} {
		if !strings.Contains(body, want) {
			t.Errorf("the comparison lacks %q", want)
		}
	}
	if strings.Contains(body, t.TempDir()) {
		t.Error("the comparison shows a path")
	}
}

// The page of a run opens with how good its model is, and goes on with what protects its users.
func TestRunConclusion(t *testing.T) {
	_, h := server(t, folder(t, map[string]string{"a": "train-ease", "b": "train-dipsgnn"}))
	for name, want := range map[string]string{
		"a": "Recall@5 19.3 %, against 15.59 % of the best floor (popularity); nothing is claimed, and nothing protects the interactions.",
		"b": "Recall@5 5.33 %, against 5.098 % of the best floor (popularity); claimed 5; this run gives no guarantee: nothing protects training labels, ",
	} {
		_, after, _ := strings.Cut(get(h, runLink(name)).Body.String(), `<p class="conclusion">`)
		if got, _, _ := strings.Cut(after, "</p>"); !strings.HasPrefix(got, want) {
			t.Errorf("the page of %s opens with\n%s\nwant\n%s", name, got, want)
		}
	}
}

// What no noise covers is named in words, on the page of a run as beside another.
func TestUncoveredInWords(t *testing.T) {
	_, h := server(t, folder(t, map[string]string{"a": "train-dipsgnn", "b": "train-ease"}))
	for _, path := range []string{"/run?name=a", "/compare?run=a&run=b"} {
		body := get(h, path).Body.String()
		if !strings.Contains(body, "<li><b>recommendations made without noise</b>: ") || strings.Contains(body, "eval_noise_off") {
			t.Errorf("%s does not name in words what is uncovered", path)
		}
	}
}

// Numbers in the names of a choice stand by their size.
func TestChoicesInNaturalOrder(t *testing.T) {
	var runs []*Run
	for _, n := range []string{"10", "3", "1"} {
		runs = append(runs, &Run{
			Data: "set-" + n, Task: "task-" + n, State: run.StatusDone, Metrics: []string{"HR@" + n},
			Scores: []experiment.Scores{{Values: map[string]float64{"HR@" + n: .1}}},
		})
	}
	p := report.NewSheet("filter", "")
	putFilter(p, query{}, runs)
	var b strings.Builder
	if _, err := p.WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	page := b.String()
	for _, of := range []string{"set-", "task-", "HR@"} {
		at := -1
		for _, n := range []string{"1", "3", "10"} {
			next := strings.Index(page, "<option value=\""+of+n+"\"")
			if next <= at {
				t.Errorf("%s%s stands at %d, after what stands at %d", of, n, next, at)
			}
			at = next
		}
	}
	if _, sets := measured(runs); strings.Join(sets, " ") != "set-1 set-3 set-10" {
		t.Errorf("data sets of fronts: %v", sets)
	}
}

// Files that cannot be read are a problem of their run, and links are not followed.
func TestBroken(t *testing.T) {
	dir := folder(t, map[string]string{"json": "train-ease", "link": "train-ease", "account": "train-ease", "fifo": "train-ease", "good": "train-ease"})
	secret := filepath.Join(t.TempDir(), "secret.json")
	if err := errors.Join(
		os.WriteFile(secret, []byte(`{"task":"secret","config_sha256":"x","status":"done"}`), 0o644),
		os.WriteFile(filepath.Join(dir, "json/metrics.json"), []byte("{"), 0o644),
		os.WriteFile(filepath.Join(dir, "account/privacy.json"), []byte(`{"units":3}`), 0o644),
		os.Remove(filepath.Join(dir, "link/metrics.json")),
		os.Symlink(secret, filepath.Join(dir, "link/metrics.json")),
		os.Mkdir(filepath.Join(dir, "fifo/lock"), 0o755),
	); err != nil {
		t.Fatal(err)
	}
	x, h := server(t, dir)
	all, err := x.scan()
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][2]string{"json": {"done", "metrics.json: not JSON"}, "link": {"unreadable", "metrics.json: a link"}, "account": {"done", "privacy.json: "}, "fifo": {"unreadable", "lock: a link, or no file"}, "good": {"done", ""}}
	for _, r := range all.Runs {
		w := want[r.Name]
		if r.State != w[0] || !strings.HasPrefix(r.Problem, w[1]) || w[1] == "" && r.Problem != "" {
			t.Errorf("%s: %s, %q; want %v", r.Name, r.State, r.Problem, w)
		}
		if strings.Contains(r.Problem, dir) {
			t.Errorf("%s: the problem shows a path: %s", r.Name, r.Problem)
		}
		if w := get(h, runLink(r.Name)); w.Code != 200 {
			t.Errorf("%s: its page is %d", r.Name, w.Code)
		}
	}
	if len(all.Runs) != 5 {
		t.Errorf("%d runs", len(all.Runs))
	}
}

// A run is read once, and again when one of its files changes; one that is gone is forgotten.
func TestReadOnce(t *testing.T) {
	runs := map[string]string{}
	for i := range 30 {
		runs[fmt.Sprintf("deep/er/run%02d", i)] = "train-ease"
	}
	dir := folder(t, runs)
	x, _ := server(t, dir)
	scan := func(want int) {
		t.Helper()
		x.read = 0
		if _, err := x.scan(); err != nil {
			t.Fatal(err)
		}
		if x.read != want {
			t.Errorf("%d runs were read, want %d", x.read, want)
		}
	}
	scan(30)
	scan(0)
	if err := os.WriteFile(filepath.Join(dir, "deep/er/run07/privacy.json"), []byte(`{"eps_total":1}`), 0o644); err != nil {
		t.Fatal(err)
	}
	scan(1)
	if err := os.RemoveAll(filepath.Join(dir, "deep/er/run00")); err != nil {
		t.Fatal(err)
	}
	scan(0)
	if len(x.known) != 29 {
		t.Errorf("%d runs are known", len(x.known))
	}
	// Whether a running run goes on is asked every time.
	manifest := `{"task":"train x","config_sha256":"x","status":"running"}`
	lock := fmt.Sprintf(`{"pid":%d,"host":%q}`, os.Getpid(), host(t))
	if err := errors.Join(os.Mkdir(filepath.Join(dir, "now"), 0o755), os.WriteFile(filepath.Join(dir, "now/manifest.json"), []byte(manifest), 0o644), os.WriteFile(filepath.Join(dir, "now/lock"), []byte(lock), 0o644)); err != nil {
		t.Fatal(err)
	}
	scan(1)
	scan(1)
	if r := x.known["now"]; r.State != run.StatusRunning {
		t.Errorf("the run of this process is %s", r.State)
	}
}

func host(t *testing.T) string {
	t.Helper()
	name, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	return name
}

// Serve listens on loopback alone, answers, and ends with its context without leaving anything.
func TestServe(t *testing.T) {
	dir := folder(t, map[string]string{"a": "train-ease"})
	ctx, stop := context.WithCancel(t.Context())
	ready, ended := make(chan string, 1), make(chan error, 1)
	go func() { ended <- Serve(ctx, Options{Dir: dir, Ready: func(u string) { ready <- u }}) }()
	at := <-ready
	if !strings.HasPrefix(at, "http://127.0.0.1:") {
		t.Errorf("it answers at %s", at)
	}
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport}
	r, err := client.Get(at)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(r.Body)
	r.Body.Close()
	if err != nil || r.StatusCode != 200 || !strings.Contains(string(body), "EASE") {
		t.Errorf("%d, %v", r.StatusCode, err)
	}
	port := strings.TrimSuffix(at[strings.LastIndex(at, ":")+1:], "/")
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range addresses {
		ip := a.(*net.IPNet).IP
		if ip.IsLoopback() || ip.IsLinkLocalUnicast() {
			continue
		}
		if c, err := net.Dial("tcp", net.JoinHostPort(ip.String(), port)); err == nil {
			c.Close()
			t.Errorf("it answers at %s", ip)
		}
	}
	err = Serve(ctx, Options{Dir: dir, Port: portOf(t, port)})
	if e := (*run.UsageError)(nil); !errors.As(err, &e) || !strings.Contains(e.Message, "is taken") {
		t.Errorf("a second server on its port: %v", err)
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	for _, bad := range []string{filepath.Join(dir, "none"), filepath.Join(dir, "a/config.yaml")} {
		err := Serve(t.Context(), Options{Dir: bad})
		if e := (*run.UsageError)(nil); !errors.As(err, &e) {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

func portOf(t *testing.T, s string) (n int) {
	t.Helper()
	if _, err := fmt.Sscan(s, &n); err != nil {
		t.Fatal(err)
	}
	return n
}

// Any query is answered, or refused in a sentence: never with a failure of ours, and never as
// markup.
func FuzzQuery(f *testing.F) {
	for _, s := range []string{"", "q=a", "sort=-metric&level=D", "run=a&run=b", "name=a", "metric=Recall@5&over=claimed", "%zz", "q=%00%ff<b>", "a;b", "sort=--name", "data=%E2%80%AE", "0<b>"} {
		f.Add(s)
	}
	dir := folder(f, map[string]string{"a": "train-ease", "b": "train-dipsgnn"})
	h, err := open(dir)
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { h.root.Close() })
	known := []int{200, 400, 404}
	f.Fuzz(func(t *testing.T, query string) {
		for _, path := range []string{"/", "/run", "/compare", "/fronts", "/api/runs.json"} {
			r := httptest.NewRequest("GET", "http://localhost"+path, nil)
			r.URL.RawQuery = query
			w := httptest.NewRecorder()
			guard(h).ServeHTTP(w, r)
			if !slices.Contains(known, w.Code) {
				t.Errorf("%s?%q: %d", path, query, w.Code)
			}
			page := strings.HasPrefix(w.Header().Get("Content-Type"), "text/html")
			if page && strings.Contains(w.Body.String(), "<b>\"") || strings.ContainsAny(w.Body.String(), "\u202e\x00") {
				t.Errorf("%s?%q is shown as it is", path, query)
			}
		}
	})
}

// BenchmarkList reads 500 runs anew, and then lists them as they are known.
func BenchmarkList(b *testing.B) {
	runs := map[string]string{}
	for i := range 500 {
		runs[fmt.Sprintf("runs/run%03d", i)] = "train-dipsgnn"
	}
	dir := folder(b, runs)
	h, err := open(dir)
	if err != nil {
		b.Fatal(err)
	}
	defer h.root.Close()
	for _, fresh := range []bool{true, false} {
		b.Run(map[bool]string{true: "first", false: "again"}[fresh], func(b *testing.B) {
			for b.Loop() {
				if fresh {
					h.known = nil
				}
				if w := get(guard(h), "/"); w.Code != 200 {
					b.Fatal(w.Code)
				}
			}
		})
	}
}
