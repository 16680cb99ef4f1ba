package fetch

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"privrec/internal/dataset/registry"
)

// server is an honest file server that can be told to misbehave. Every request is
// noted with its Range.
type server struct {
	*httptest.Server
	mu     sync.Mutex
	ranges []string
	bad    func(w http.ResponseWriter, r *http.Request, n int) bool // true: it has answered
	body   []byte
	etag   string
	plain  bool // ignores ranges
}

func serve(t *testing.T, body []byte) *server {
	s := &server{body: body, etag: `"one"`}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		n, bad, body, etag, plain := len(s.ranges), s.bad, s.body, s.etag, s.plain
		s.ranges = append(s.ranges, r.Header.Get("Range"))
		s.mu.Unlock()
		if bad != nil && bad(w, r, n) {
			return
		}
		if etag != "" {
			w.Header().Set("ETag", etag)
		}
		w.Header().Set("Content-Type", "application/octet-stream")
		if plain {
			w.Header().Set("Content-Length", strconv.Itoa(len(body)))
			w.Write(body)
			return
		}
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(body))
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *server) asked() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.ranges...)
}

// cut sends the announced length of the body but only n bytes of it.
func (s *server) cut(w http.ResponseWriter, n int) {
	w.Header().Set("ETag", s.etag)
	w.Header().Set("Content-Length", strconv.Itoa(len(s.body)))
	w.Write(s.body[:n])
	w.(http.Flusher).Flush()
	panic(http.ErrAbortHandler)
}

func sum(b []byte) string {
	s := sha256.Sum256(b)
	return hex.EncodeToString(s[:])
}

// noise is bytes that do not compress.
func noise(n int) []byte {
	b := make([]byte, n)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

// zipped packs files given as name, content pairs.
func zipped(t *testing.T, files ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i := 0; i < len(files); i += 2 {
		w, err := z.Create(files[i])
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(w, files[i+1])
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// one is a source with one archive at url.
func one(url string, body []byte, files ...string) *Source {
	return &Source{Set: registry.Set{Name: "toy", Title: "Toy", Licence: "anything goes"}, Archives: []Archive{{
		URL: url, Bytes: int64(len(body)), SHA256: sum(body), Files: files,
	}}}
}

// wish fills in what every test wants.
func wish(t *testing.T, dir string, src *Source) Options {
	o := Options{}
	o.Dir, o.source, o.Idle, o.pause = dir, src, time.Hour, time.Millisecond
	o.AcceptTerms = accept
	return o
}

func read(t *testing.T, elems ...string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(elems...))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func names(t *testing.T, dir string) string {
	t.Helper()
	files, err := list(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, registry.ReceiptName)); err == nil {
		files[registry.ReceiptName] = true
	}
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), tempPrefix) {
			files[e.Name()] = true
		}
	}
	return strings.Join(sorted(files), " ")
}

// rawZip makes a zip of one entry with any name and sizes of choice, which no decent
// writer would make.
func rawZip(name string, mode os.FileMode, content []byte, packed []byte, method uint16) []byte {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	h := &zip.FileHeader{Name: name, Method: method, CRC32: crc32.ChecksumIEEE(content),
		UncompressedSize64: uint64(len(content)), CompressedSize64: uint64(len(packed))}
	h.SetMode(mode)
	w, err := z.CreateRaw(h)
	if err == nil {
		_, err = w.Write(packed)
	}
	if err == nil {
		err = z.Close()
	}
	if err != nil {
		panic(fmt.Sprint(err))
	}
	return b.Bytes()
}
