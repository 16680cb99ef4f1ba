package fetch

import (
	"context"
	"crypto/md5"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"privrec/internal/dataset"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func accept(context.Context, Source) (bool, error) { return true, nil }

func TestFetchAndVerify(t *testing.T) {
	body := zipped(t, "toy/a.txt", "rows of a\n", "toy/b.txt", "rows of b\n", "toy/c.txt", "not wanted")
	s := serve(t, body)
	src := one(s.URL+"/toy.zip", body, "toy/a.txt", "toy/b.txt")
	dir := t.TempDir()
	o := wish(t, dir, src)
	asked := 0
	o.AcceptTerms = func(_ context.Context, s Source) (bool, error) { asked++; return s.Licence == src.Licence, nil }
	r, err := Fetch(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(dir, "toy")
	if got := names(t, folder); got != "a.txt b.txt receipt.json" {
		t.Errorf("left in the folder: %s", got)
	}
	if got := string(read(t, folder, "a.txt")); got != "rows of a\n" {
		t.Errorf("a.txt holds %q", got)
	}
	if a := r.Archives[0]; a.SHA256 != sum(body) || a.Address != s.URL+"/toy.zip" || a.Published != "sha256" || r.PinnedNew {
		t.Errorf("receipt %+v", r)
	}
	back, err := readReceipt(folder)
	if err != nil || back.Files[1] != (File{"b.txt", 10, sum([]byte("rows of b\n"))}) {
		t.Errorf("receipt read back: %+v, %v", back, err)
	}
	// Again: no server and no user is asked.
	n := len(s.asked())
	if r, err := Fetch(t.Context(), o); err != nil || !r.Kept || asked != 1 || len(s.asked()) != n {
		t.Errorf("second fetch: kept %v, asked %d times, error %v", r.Kept, asked, err)
	}
	// One flipped byte is found, and the next fetch mends it without asking again.
	b := read(t, folder, "a.txt")
	b[3] ^= 1
	if err := os.WriteFile(filepath.Join(folder, "a.txt"), b, 0o644); err != nil {
		t.Fatal(err)
	}
	rep, err := verify(t.Context(), *src, folder)
	if err != nil || len(rep.Bad()) != 1 || rep.Verdict != VerdictDamaged {
		t.Fatalf("flipped byte: %+v, %v", rep, err)
	}
	text := fmt.Sprintf("%s/a.txt: changed, sha256 should be %s (receipt) but is %s", folder, sum([]byte("rows of a\n")), sum(b))
	if p := rep.Problems(); len(p) != 1 || p[0].Error() != text || p[0].(*dataset.Error).Hint != "bring the file back with: privrec data fetch toy" {
		t.Errorf("flipped byte: %v", p)
	}
	if f := rep.Bad()[0]; f.Name != "a.txt" || f.State != Changed || f.Got != sum(b) || f.Want != sum([]byte("rows of a\n")) {
		t.Errorf("flipped byte: %+v", f)
	}
	if r, err := Fetch(t.Context(), o); err != nil || r.Kept || asked != 1 {
		t.Errorf("mending fetch: %+v asked %d, %v", r, asked, err)
	}
	// Missing and extra.
	os.Remove(filepath.Join(folder, "b.txt"))
	os.WriteFile(filepath.Join(folder, "z.txt"), []byte("?"), 0o644)
	rep, err = verify(t.Context(), *src, folder)
	if err != nil || len(rep.Bad()) != 2 || rep.Bad()[0].State != Missing || rep.Bad()[1].State != Extra {
		t.Errorf("missing and extra: %+v, %v", rep, err)
	}
	p := rep.Problems()
	if len(p) != 2 || p[0].Error() != folder+"/b.txt: missing" || p[1].Error() != folder+"/z.txt: not in the receipt" ||
		p[1].(*dataset.Error).Hint != "move the file away if it does not belong to the set" || rep.Absent() != nil {
		t.Errorf("missing and extra: %v", p)
	}
}

// Every fault of a server ends in the right bytes or in an error that says what it was;
// never in a file that is wrong.
func TestServerFaults(t *testing.T) {
	body := zipped(t, "a.txt", string(noise(40_000)))
	other := zipped(t, "a.txt", string(noise(50_000)))
	elsewhere := serve(t, body)
	half := len(body) / 2
	type reply func(s *server, w http.ResponseWriter, r *http.Request, n int) bool
	redirect := func(to string) reply {
		return func(s *server, w http.ResponseWriter, r *http.Request, _ int) bool {
			http.Redirect(w, r, strings.ReplaceAll(to, "HERE", s.URL), http.StatusFound)
			return true
		}
	}
	for _, c := range []struct {
		name   string
		reply  reply
		change func(*server, *Source)
		want   string // of the error; "" for success
		asked  string // ranges of the requests, "" not looked at
	}{
		{name: "honest", asked: "[]"},
		{name: "cut in the middle", asked: fmt.Sprintf("[ bytes=%d-]", half),
			reply: func(s *server, w http.ResponseWriter, _ *http.Request, n int) bool {
				if n == 0 {
					s.cut(w, half)
				}
				return false
			}},
		{name: "always cut at the same place, no ranges", want: "cut",
			reply: func(s *server, w http.ResponseWriter, _ *http.Request, _ int) bool { s.cut(w, half); return true }},
		{name: "ignores ranges after a cut", change: func(s *server, _ *Source) { s.plain = true },
			reply: func(s *server, w http.ResponseWriter, _ *http.Request, n int) bool {
				if n == 0 {
					s.cut(w, half)
				}
				return false
			}},
		{name: "announces less than it has", want: "want sha256",
			reply: func(s *server, w http.ResponseWriter, _ *http.Request, _ int) bool {
				w.Header().Set("Content-Length", strconv.Itoa(half))
				w.Write(s.body[:half])
				return true
			}},
		{name: "announces far too much", want: "announces",
			reply: func(s *server, w http.ResponseWriter, _ *http.Request, _ int) bool {
				w.Header().Set("Content-Length", "99999999999")
				w.Write(s.body)
				return true
			}},
		{name: "sends far too much unannounced", want: "more than",
			reply: func(s *server, w http.ResponseWriter, _ *http.Request, _ int) bool {
				for range 40 {
					if _, err := w.Write(noise(1 << 17)); err != nil {
						break
					}
				}
				return true
			}},
		{name: "new version during the download", want: "",
			reply: func(s *server, w http.ResponseWriter, _ *http.Request, n int) bool {
				if n == 0 {
					old := s.body
					s.body, s.etag = other, `"old"`
					defer func() { s.body, s.etag = old, `"new"` }()
					s.cut(w, half)
				}
				return false
			}},
		{name: "part of another file behind the same tag", want: "",
			reply: func(s *server, w http.ResponseWriter, _ *http.Request, n int) bool {
				if n == 0 {
					old := s.body
					s.body = append(noise(half), old[half:]...)
					defer func() { s.body = old }()
					s.cut(w, half)
				}
				return false
			}},
		{name: "answers another range", want: "",
			reply: func(s *server, w http.ResponseWriter, _ *http.Request, n int) bool {
				switch n {
				case 0:
					s.cut(w, half)
				case 1:
					w.Header().Set("Content-Range", fmt.Sprintf("bytes 7-%d/%d", len(body)-1, len(body)))
					w.WriteHeader(http.StatusPartialContent)
					w.Write(body[7:])
					return true
				}
				return false
			}},
		{name: "part unasked", want: "in place of all of it",
			reply: func(_ *server, w http.ResponseWriter, _ *http.Request, _ int) bool {
				w.Header().Set("Content-Range", fmt.Sprintf("bytes 0-%d/%d", len(body)-1, len(body)))
				w.WriteHeader(http.StatusPartialContent)
				w.Write(body)
				return true
			}},
		{name: "redirect loop", reply: redirect("HERE/again"), want: "redirected more than 5 times"},
		{name: "redirect to a file", reply: redirect("file:///etc/passwd"), want: "redirected to a file: address"},
		{name: "redirect to another host, hash published", reply: redirect(elsewhere.URL + "/x?token=1")},
		{name: "redirect to another host, no hash", reply: redirect(elsewhere.URL + "/x"), want: "redirected to another host",
			change: func(_ *server, src *Source) {
				src.Archives[0].SHA256, src.Archives[0].Unverified = "", "because"
			}},
		{name: "stalls", want: "stopped sending",
			reply: func(s *server, w http.ResponseWriter, r *http.Request, _ int) bool {
				w.Header().Set("Content-Length", strconv.Itoa(len(s.body)))
				w.Write(s.body[:100])
				w.(http.Flusher).Flush()
				<-r.Context().Done()
				return true
			}},
		{name: "stalls before the first byte", want: "stopped sending",
			reply: func(_ *server, _ http.ResponseWriter, r *http.Request, _ int) bool {
				<-r.Context().Done()
				return true
			}},
		{name: "web page", want: "web page",
			reply: func(_ *server, w http.ResponseWriter, _ *http.Request, _ int) bool {
				w.Header().Set("Content-Type", "text/html; charset=utf-8")
				io.WriteString(w, "please log in")
				return true
			}},
		{name: "web page in disguise", want: "web page",
			reply: func(_ *server, w http.ResponseWriter, _ *http.Request, _ int) bool {
				w.Header().Set("Content-Type", "application/zip")
				io.WriteString(w, "\n<!DOCTYPE html><title>log in</title>")
				return true
			}},
		{name: "compressed on the way", want: "another encoding",
			reply: func(_ *server, w http.ResponseWriter, _ *http.Request, _ int) bool {
				w.Header().Set("Content-Encoding", "br")
				w.Write(body)
				return true
			}},
		{name: "wrong content", change: func(s *server, _ *Source) { s.body = other }, want: "want sha256 " + sum(body)},
		{name: "wrong content shows both", change: func(s *server, _ *Source) { s.body = other }, want: "got sha256 " + sum(other)},
		{name: "empty", change: func(s *server, _ *Source) { s.body = nil }, want: "empty"},
		{name: "busy twice",
			reply: func(_ *server, w http.ResponseWriter, _ *http.Request, n int) bool {
				if n < 2 {
					w.WriteHeader(http.StatusServiceUnavailable)
				}
				return n < 2
			}},
		{name: "gone, then the mirror",
			reply: func(_ *server, w http.ResponseWriter, _ *http.Request, _ int) bool {
				w.WriteHeader(http.StatusNotFound)
				return true
			},
			change: func(_ *server, src *Source) { src.Archives[0].Mirrors = []string{elsewhere.URL + "/toy.zip"} }},
		{name: "wrong content, then the mirror", change: func(s *server, src *Source) {
			s.body = other
			src.Archives[0].Mirrors = []string{elsewhere.URL + "/toy.zip"}
		}},
		{name: "gone", want: "404",
			reply: func(_ *server, w http.ResponseWriter, _ *http.Request, _ int) bool {
				w.WriteHeader(http.StatusNotFound)
				return true
			}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := serve(t, body)
			src := one(s.URL+"/toy.zip", body, "a.txt")
			if c.change != nil {
				c.change(s, src)
			}
			if c.reply != nil {
				s.bad = func(w http.ResponseWriter, r *http.Request, n int) bool { return c.reply(s, w, r, n) }
			}
			dir := t.TempDir()
			o := wish(t, dir, src)
			if strings.HasPrefix(c.name, "stalls") {
				o.Idle = 30 * time.Millisecond
			}
			o.Client = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
			r, err := Fetch(t.Context(), o)
			if got := fmt.Sprint(s.asked()); c.asked != "" && got != c.asked {
				t.Errorf("asked for %s, want %s", got, c.asked)
			}
			folder := filepath.Join(dir, "toy")
			if c.want == "" {
				if err != nil {
					t.Fatal(err)
				}
				if got := read(t, folder, "a.txt"); sum(got) != sum(noise(40_000)) || r.Archives[0].SHA256 != sum(body) {
					t.Error("other bytes than the published ones")
				}
				if strings.Contains(fmt.Sprint(r), "token") {
					t.Errorf("the receipt holds a query: %+v", r)
				}
				return
			}
			var d *dataset.Error
			if !errors.As(err, &d) || d.Hint == "" || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("error %v, want %q and a hint", err, c.want)
			}
			if got := names(t, folder); strings.Contains(got, "a.txt") || strings.Contains(got, "receipt") || strings.Contains(got, tempPrefix) {
				t.Errorf("left behind: %s", got)
			}
		})
	}
}

// Wherever a download is interrupted, by the server or by the user, and
// whether or not ranges are honoured, the bytes are the same in the end.
func TestInterruptedAnywhere(t *testing.T) {
	body := noise(300_000)
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	rapid.Check(t, func(rt *rapid.T) {
		cuts := rapid.SliceOfN(rapid.IntRange(0, len(body)), 0, 5).Draw(rt, "cuts")
		byUser := rapid.Bool().Draw(rt, "byUser")
		plain := rapid.Bool().Draw(rt, "plain")
		etag := rapid.SampledFrom([]string{`"x"`, `W/"x"`, ""}).Draw(rt, "etag")
		published := rapid.Bool().Draw(rt, "published")
		s := &server{body: body, etag: etag}
		n := 0
		var stop atomic.Pointer[context.CancelFunc]
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			from := 0
			if v := r.Header.Get("Range"); v != "" && !plain {
				fmt.Sscanf(v, "bytes=%d-", &from)
			}
			if etag != "" {
				w.Header().Set("ETag", etag)
			}
			if from >= len(body) {
				w.Header().Set("Content-Range", fmt.Sprintf("bytes */%d", len(body)))
				w.WriteHeader(http.StatusRequestedRangeNotSatisfiable)
				return
			}
			w.Header().Set("Content-Length", strconv.Itoa(len(body)-from))
			if from > 0 {
				w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", from, len(body)-1, len(body)))
				w.WriteHeader(http.StatusPartialContent)
			}
			to := len(body)
			if n < len(cuts) {
				to = max(from, cuts[n])
				n++
			}
			w.Write(s.body[from:to])
			if to < len(body) {
				w.(http.Flusher).Flush()
				if byUser {
					(*stop.Load())()
				}
				panic(http.ErrAbortHandler)
			}
		}))
		defer srv.Close()
		src := one(srv.URL+"/toy.txt", body, "toy.txt")
		if !published {
			src.Archives[0].SHA256, src.Archives[0].Unverified = "", "because"
		}
		dir, err := os.MkdirTemp("", "fetch")
		if err != nil {
			rt.Fatal(err)
		}
		defer os.RemoveAll(dir)
		for try := 0; ; try++ {
			ctx, cancel := context.WithCancel(context.Background())
			stop.Store(&cancel)
			o := Options{Dir: dir, source: src, Idle: time.Hour, pause: time.Microsecond, AcceptTerms: accept, Client: client}
			_, err := Fetch(ctx, o)
			cancel()
			if err == nil {
				break
			}
			if try > len(cuts)+1 {
				rt.Fatalf("cuts %v: %v", cuts, err)
			}
		}
		got, err := os.ReadFile(filepath.Join(dir, "toy", "toy.txt"))
		if err != nil || sum(got) != sum(body) {
			rt.Fatalf("cuts %v, user %v, plain %v: other bytes (%d), %v", cuts, byUser, plain, len(got), err)
		}
	})
}

func TestPinNew(t *testing.T) {
	body, other := []byte("as published\n"), []byte("as it is now\n")
	s := serve(t, other)
	src := one(s.URL+"/toy.txt", body, "toy.txt")
	dir := t.TempDir()
	o := wish(t, dir, src)
	if _, err := Fetch(t.Context(), o); !errors.Is(err, ErrChanged) || !strings.Contains(err.Error(), sum(body)) || !strings.Contains(err.Error(), sum(other)) {
		t.Fatalf("changed file: %v", err)
	}
	o.PinNew = true
	r, err := Fetch(t.Context(), o)
	if err != nil || !r.PinnedNew || !strings.Contains(r.Archives[0].Want, sum(body)) {
		t.Fatalf("pinned: %+v, %v", r, err)
	}
	if rep, err := verify(t.Context(), *src, filepath.Join(dir, "toy")); err != nil || rep.Verdict != VerdictPinned {
		t.Errorf("verdict %q, %v", rep.Verdict, err)
	}
	// The published file is back: pinned no longer.
	s.body = body
	os.Remove(filepath.Join(dir, "toy", "toy.txt"))
	o.PinNew = false
	if r, err := Fetch(t.Context(), o); err != nil || r.PinnedNew {
		t.Errorf("published again: %+v, %v", r, err)
	}
	// Where nothing is published, the last receipt is the word.
	src.Archives[0].SHA256, src.Archives[0].Unverified = "", "because"
	s.body = other
	os.Remove(filepath.Join(dir, "toy", "toy.txt"))
	if _, err := Fetch(t.Context(), o); !errors.Is(err, ErrChanged) {
		t.Errorf("changed since the last fetch: %v", err)
	}
	m := md5.Sum(body)
	src.Archives[0].MD5 = hex.EncodeToString(m[:])
	if _, err := Fetch(t.Context(), o); !errors.Is(err, ErrChanged) || !strings.Contains(err.Error(), "md5") {
		t.Errorf("changed md5: %v", err)
	}
}

func TestFrom(t *testing.T) {
	body := zipped(t, "toy/a.txt", "aa\n", "toy/b.txt", "bb\n")
	hash := FileHash{"a.txt", 3, sum([]byte("aa\n"))}
	here := t.TempDir()
	put := func(name string, b []byte) string {
		p := filepath.Join(here, name)
		os.MkdirAll(filepath.Dir(p), 0o755)
		if err := os.WriteFile(p, b, 0o644); err != nil {
			t.Fatal(err)
		}
		return p
	}
	whole, renamed, bad := put("toy.zip", body), put("copy (1).zip", body), put("bad/toy.zip", zipped(t, "toy/a.txt", "ab\n", "toy/b.txt", "bb\n"))
	a, b, wrong := put("un/a.txt", []byte("aa\n")), put("un/b.txt", []byte("bb\n")), put("wrong/a.txt", []byte("ax\n"))
	for _, c := range []struct {
		name string
		from []string
		want string
	}{
		{"archive", []string{whole}, ""},
		{"under another name", []string{renamed}, ""},
		{"files", []string{a, b}, ""},
		{"folder", []string{filepath.Join(here, "un")}, ""},
		{"other archive", []string{bad}, "want sha256"},
		{"other file", []string{wrong, b}, hash.SHA256},
		{"one file", []string{a}, "not given: b.txt"},
		{"not there", []string{filepath.Join(here, "none")}, "cannot open"},
		{"empty folder", []string{t.TempDir()}, "is not a file of toy"},
	} {
		dir := t.TempDir()
		src := one("http://127.0.0.1:1/toy.zip", body, "toy/a.txt", "toy/b.txt")
		src.Archives[0].Hashes = []FileHash{hash}
		o := wish(t, dir, src)
		o.From = c.from
		r, err := Fetch(t.Context(), o)
		if c.want != "" {
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: error %v, want %q", c.name, err, c.want)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if string(read(t, dir, "toy", "b.txt")) != "bb\n" || r.Archives[0].From == "" || names(t, filepath.Join(dir, "toy")) != "a.txt b.txt receipt.json" {
			t.Errorf("%s: %+v", c.name, r)
		}
	}
}

// A copy whose bytes are not the published ones is taken where its rows are those of the
// published split, without a word of pinning, and refused with both hashes where they are not.
func TestFromOtherOrder(t *testing.T) {
	here := t.TempDir()
	path := filepath.Join(here, "toy.txt")
	if err := os.WriteFile(path, []byte("0 2 1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		same bool
		err  error
	}{{"the rows in another order", true, nil}, {"other rows", false, nil}, {"no rows at all", false, errors.New("not a list")}} {
		dir := t.TempDir()
		src := one("http://127.0.0.1:1/toy.txt", []byte("0 1 2\n"), "toy.txt")
		m := md5.Sum([]byte("0 1 2\n"))
		src.Archives[0].SHA256, src.Archives[0].Unverified, src.Archives[0].MD5 = "", "because", hex.EncodeToString(m[:])
		o := wish(t, dir, src)
		o.From = []string{path}
		asked := ""
		o.sameRows = func(_ context.Context, name, folder string) (bool, error) {
			b, err := os.ReadFile(filepath.Join(folder, "toy.txt"))
			asked = name + " " + string(b)
			return c.same, errors.Join(c.err, err)
		}
		r, err := Fetch(t.Context(), o)
		if asked != "toy 0 2 1\n" {
			t.Errorf("%s: asked about %q", c.name, asked)
		}
		if !c.same {
			if !errors.Is(err, ErrChanged) || !strings.Contains(err.Error(), "md5") || names(t, filepath.Join(dir, "toy")) != "" {
				t.Errorf("%s: %v", c.name, err)
			}
			continue
		}
		if err != nil || r.PinnedNew || r.Archives[0].Want != "" || r.Archives[0].Published != byRows {
			t.Errorf("%s: %+v, %v", c.name, r, err)
		}
	}
}

func TestRefusals(t *testing.T) {
	body := []byte("text\n")
	s := serve(t, body)
	src := one(s.URL+"/toy.txt", body, "toy.txt")
	dir := t.TempDir()
	o := wish(t, dir, src)
	o.AcceptTerms = func(context.Context, Source) (bool, error) { return false, nil }
	if _, err := Fetch(t.Context(), o); !errors.Is(err, ErrRefused) {
		t.Errorf("terms refused: %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "toy")); err == nil || len(s.asked()) > 0 {
		t.Error("something happened before the terms were accepted")
	}
	// A file of the user's own is not replaced.
	o = wish(t, dir, src)
	os.MkdirAll(filepath.Join(dir, "toy"), 0o755)
	mine := filepath.Join(dir, "toy", "toy.txt")
	os.WriteFile(mine, []byte("mine\n"), 0o644)
	if _, err := Fetch(t.Context(), o); err == nil || !strings.Contains(err.Error(), "did not come from a fetch") || string(read(t, mine)) != "mine\n" {
		t.Errorf("own file: %v", err)
	}
	os.WriteFile(mine, body, 0o644)
	o.From = []string{mine}
	if r, err := Fetch(t.Context(), o); err != nil || r.Archives[0].From != mine {
		t.Errorf("own file adopted: %+v, %v", r, err)
	}
	// Two at once.
	l, err := acquire(filepath.Join(dir, "toy"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Fetch(t.Context(), o); err == nil || !strings.Contains(err.Error(), "another process") {
		t.Errorf("second writer: %v", err)
	}
	l.release()
	// By hand only.
	src.Manual, src.Archives[0].URL, src.Archives[0].Name = "ask the owner for toy.txt, then --from", "", "toy.txt"
	o = wish(t, t.TempDir(), src)
	if _, err := Fetch(t.Context(), o); !errors.Is(err, ErrOffline) {
		t.Errorf("by hand: %v", err)
	}
	// No server there.
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	o = wish(t, t.TempDir(), one(gone.URL+"/toy.txt", body, "toy.txt"))
	_, err = Fetch(t.Context(), o)
	var d *dataset.Error
	if !errors.Is(err, ErrOffline) || !errors.As(err, &d) || !strings.Contains(d.Hint, gone.URL+"/toy.txt (5 B, sha256 "+sum(body)) || !strings.Contains(d.Hint, "--from toy.txt") {
		t.Errorf("offline: %v, hint %q", err, d.Hint)
	}
	for _, name := range []string{"standin-tiny", "nothing"} {
		if _, err := Fetch(t.Context(), Options{Name: name, Dir: dir, AcceptTerms: accept}); err == nil {
			t.Errorf("%s was fetched", name)
		}
	}
	t.Setenv("PRIVREC_DATA", "")
	if _, err := Fetch(t.Context(), Options{Name: "ml-1m", AcceptTerms: accept}); !errors.Is(err, dataset.ErrNotFound) {
		t.Errorf("no folder: %v", err)
	}
}

// The two halves of different files are never joined, even where no hash would tell:
// not when the tag changed and the answer to a range does not repeat it, and not when
// there never was a tag.
func TestHalvesAreNotJoined(t *testing.T) {
	one0, two := noise(200_000), noise(200_001)[1:]
	for _, tag := range []string{`"first"`, ""} {
		n := 0
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			n++
			if n == 1 {
				if tag != "" {
					w.Header().Set("ETag", tag)
				}
				w.Header().Set("Content-Length", strconv.Itoa(len(one0)))
				w.Write(one0[:100_000])
				w.(http.Flusher).Flush()
				panic(http.ErrAbortHandler)
			}
			if r.Header.Get("Range") != "" && r.Header.Get("If-Range") == "" {
				w.Header().Set("Content-Range", fmt.Sprintf("bytes 100000-%d/%d", len(two)-1, len(two)))
				w.Header().Set("Content-Length", strconv.Itoa(len(two)-100_000))
				w.WriteHeader(http.StatusPartialContent)
				w.Write(two[100_000:])
				return
			}
			w.Write(two) // the tag asked for is no longer ours
		}))
		src := one(s.URL+"/toy.txt", two, "toy.txt")
		src.Archives[0].SHA256, src.Archives[0].Unverified = "", "because"
		dir := t.TempDir()
		o := wish(t, dir, src)
		o.Client = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
		_, err := Fetch(t.Context(), o)
		s.Close()
		if err != nil || sum(read(t, dir, "toy", "toy.txt")) != sum(two) {
			t.Errorf("tag %q: halves of two files, error %v", tag, err)
		}
	}
}

// A redirect may not leave encryption behind, even where a hash is known.
func TestNoRedirectToPlainText(t *testing.T) {
	body := []byte("rows\n")
	plain := serve(t, body)
	s := httptest.NewTLSServer(http.RedirectHandler(plain.URL+"/toy.txt", http.StatusFound))
	defer s.Close()
	o := wish(t, t.TempDir(), one(s.URL+"/toy.txt", body, "toy.txt"))
	o.Client = s.Client()
	if _, err := Fetch(t.Context(), o); err == nil || !strings.Contains(err.Error(), "redirected from https to http") {
		t.Errorf("error %v", err)
	}
	if len(plain.asked()) > 0 {
		t.Error("the plain server was asked")
	}
}

// Sets that have a folder are present, empty or not, and those that are generated never; one
// without files is absent, and a part of a download is what a fetch goes on from.
func TestPresent(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"gowalla", "ml-1m", "standin-tiny", "unknown"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := Present(dir); err != nil || strings.Join(got, " ") != "ml-1m gowalla" {
		t.Errorf("%v, %v", got, err)
	}
	r, err := Verify(t.Context(), "gowalla", dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Absent(); !errors.Is(err, dataset.ErrNotFound) || len(r.Problems()) > 0 {
		t.Errorf("an empty folder: %v, problems %v", err, r.Problems())
	}
	o := Options{Name: "gowalla", Dir: dir}
	if o.Unfinished() {
		t.Error("unfinished without a part")
	}
	if err := os.WriteFile(filepath.Join(dir, "gowalla", "x.zip.part"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if !o.Unfinished() {
		t.Error("finished with a part")
	}
}
