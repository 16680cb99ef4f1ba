package fetch

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
)

// state holds what the server said about the file of a partial download; it is stored beside that.
type state struct {
	Address  string `json:"address"`
	Final    string `json:"final"`
	ETag     string `json:"etag,omitempty"`
	Modified string `json:"modified,omitempty"`
	Total    int64  `json:"total"` // -1 when it was not stated
}

func readState(part string) (s state) {
	b, err := os.ReadFile(part + stateExt)
	if err != nil || json.Unmarshal(b, &s) != nil {
		return state{} // nothing is known: the download starts again
	}
	return s
}

// validator returns the value for If-Range: a strong ETag, or else the date.
func (s state) validator() string {
	if s.ETag != "" && !strings.HasPrefix(s.ETag, "W/") {
		return s.ETag
	}
	return s.Modified
}

// finalError is a failure that would happen again with the same request.
type finalError struct{ error }

// Unwrap returns the cause.
func (e *finalError) Unwrap() error { return e.error }

func final(format string, args ...any) error { return &finalError{fmt.Errorf(format, args...)} }

// errStalled is the cause of a request that was ended because the server sent nothing.
var errStalled = errors.New("the server stopped sending")

// request is one request for an archive, or for the rest of it.
type request struct {
	*job
	archive       Archive
	address, part string
	resumed       bool
}

// do appends to the part until the file is complete or the request fails. The written part stays.
func (r *request) do(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	watch := time.AfterFunc(r.Idle, func() { cancel(errStalled) })
	defer watch.Stop()

	req, err := http.NewRequestWithContext(ctx, http.MethodGet, r.address, nil)
	if err != nil {
		return final("%w", err)
	}
	// Compression in transit would change lengths and ranges.
	req.Header.Set("Accept-Encoding", "identity")
	req.Header.Set("User-Agent", "privrec")
	old, have := readState(r.part), sizeOf(r.part)
	published := r.archive.SHA256 != "" || r.archive.MD5 != ""
	if old.Address != r.address || old.validator() == "" && !published || old.Total >= 0 && have > old.Total {
		have = 0
	}
	if have > 0 {
		req.Header.Set("Range", fmt.Sprintf("bytes=%d-", have))
		if v := old.validator(); v != "" {
			req.Header.Set("If-Range", v)
		}
	}
	resp, err := r.client(published).Do(req)
	if err != nil {
		return r.explain(ctx, err)
	}
	defer resp.Body.Close()
	now := state{
		Address: r.address, Final: withoutQuery(resp), Total: -1,
		ETag: resp.Header.Get("ETag"), Modified: resp.Header.Get("Last-Modified"),
	}
	switch resp.StatusCode {
	case http.StatusOK:
		have, now.Total = 0, resp.ContentLength
	case http.StatusPartialContent:
		if err := continues(resp, old, have); err != nil {
			removePart(r.part)
			return err
		}
		now.Total = old.Total
		if _, total, ok := contentRange(resp); ok {
			now.Total = total
		}
		r.resumed = true
	case http.StatusRequestedRangeNotSatisfiable:
		// The part is as long as the file is now. Whether it is the same file, the hash
		// decides; so resumed is set.
		r.resumed = true
		if _, total, ok := contentRange(resp); ok && total == have && have > 0 {
			return nil
		}
		removePart(r.part)
		return errors.New("the server does not have that part of the file")
	case http.StatusRequestTimeout, http.StatusTooManyRequests, http.StatusInternalServerError,
		http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return fmt.Errorf("the server answers %s", resp.Status)
	default:
		return final("the server answers %s", resp.Status)
	}
	if err := r.judge(resp, now.Total); err != nil {
		return err
	}
	if have == 0 {
		removePart(r.part)
	}
	b, err := json.Marshal(now)
	if err == nil {
		err = writeFile(r.part+stateExt, append(b, '\n'))
	}
	if err != nil {
		return fmt.Errorf("%w: %w", errWrite, err)
	}
	return r.body(ctx, watch, resp, have, now.Total)
}

// judge returns an error for an answer that cannot be the file.
func (r *request) judge(resp *http.Response, total int64) error {
	if kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); kind == "text/html" ||
		kind == "application/xhtml+xml" {
		return final("the server sends a web page, not the file")
	}
	if e := resp.Header.Get("Content-Encoding"); e != "" && e != "identity" {
		return final("the server sends the file in another encoding (%s) than asked for", e)
	}
	if most := r.archive.most(); total > most {
		return final("the server announces %s, at most %s are expected", Size(total), Size(most))
	}
	return nil
}

// body appends the answer's body to the part.
func (r *request) body(ctx context.Context, watch *time.Timer, resp *http.Response, have, total int64) (err error) {
	f, err := os.OpenFile(r.part, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return fmt.Errorf("%w: %w", errWrite, err)
	}
	defer f.Close()
	shown := total
	if shown < 0 && r.archive.Bytes > 0 {
		shown = r.archive.Bytes
	}
	r.Progress.Begin(r.archive.FileName(), int(shown))
	r.Progress.Add(int(have))
	defer func() {
		if err != nil {
			r.Progress.End("")
		} else {
			r.Progress.End(fmt.Sprintf("%s: %s", r.archive.FileName(), Size(have)))
		}
	}()
	buf := make([]byte, 1<<17)
	for first := have == 0; ; {
		n, err := resp.Body.Read(buf)
		watch.Reset(r.Idle)
		if n > 0 {
			if first && webPage(buf[:n]) {
				return final("the server sends a web page, not the file")
			}
			first = false
			if have+int64(n) > r.archive.most() {
				removePart(r.part)
				return final("the server sends more than the %s that are expected at most", Size(r.archive.most()))
			}
			if _, err := f.Write(buf[:n]); err != nil {
				return fmt.Errorf("%w: %w", errWrite, err)
			}
			have += int64(n)
			r.Progress.Add(n)
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return r.explain(ctx, err)
		}
	}
	if total < 0 && have < r.archive.Bytes || total >= 0 && have < total {
		return fmt.Errorf("cut after %s", Size(have))
	}
	if have == 0 {
		return final("the server sends an empty file")
	}
	if err := f.Sync(); err != nil {
		return fmt.Errorf("%w: %w", errWrite, err)
	}
	return nil
}

// webPage reports whether a file starts like a web page.
func webPage(b []byte) bool {
	b = bytes.ToLower(bytes.TrimLeft(bytes.TrimPrefix(b[:min(len(b), 512)], []byte("\xef\xbb\xbf")), " \t\r\n"))
	return bytes.HasPrefix(b, []byte("<!doctype")) || bytes.HasPrefix(b, []byte("<html"))
}

// continues returns an error unless a partial answer is the rest of the same file.
func continues(resp *http.Response, old state, have int64) error {
	start, total, ok := contentRange(resp)
	switch etag := resp.Header.Get("ETag"); {
	case have == 0:
		return final("the server sends a part of the file in place of all of it")
	case !ok || start != have:
		return errors.New("the server sends another part than the one asked for")
	case old.Total >= 0 && total >= 0 && total != old.Total, etag != "" && old.ETag != "" && etag != old.ETag:
		return errors.New("the file changed on the server")
	}
	return nil
}

// contentRange parses "bytes 5-9/10" and "bytes */10"; total is -1 if it is not stated.
func contentRange(resp *http.Response) (start, total int64, ok bool) {
	text, ok := strings.CutPrefix(resp.Header.Get("Content-Range"), "bytes ")
	span, size, found := strings.Cut(text, "/")
	if !ok || !found {
		return 0, 0, false
	}
	total = -1
	if size != "*" {
		n, err := strconv.ParseUint(size, 10, 63)
		if err != nil {
			return 0, 0, false
		}
		total = int64(n)
	}
	if span == "*" {
		return 0, total, true
	}
	from, _, found := strings.Cut(span, "-")
	n, err := strconv.ParseUint(from, 10, 63)
	return int64(n), total, found && err == nil
}

// withoutQuery returns the address of the answer without its query, since queries of storage services hold tokens.
func withoutQuery(resp *http.Response) string {
	u := *resp.Request.URL
	u.RawQuery, u.Fragment, u.User = "", "", nil
	return u.String()
}

// explain returns a network error as one that a user understands.
func (r *request) explain(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); errors.Is(cause, errStalled) {
		return fmt.Errorf("%w for %v", errStalled, r.Idle)
	} else if cause != nil {
		return cause
	}
	var refused *redirectError
	var dns *net.DNSError
	var op *net.OpError
	switch {
	case errors.As(err, &refused):
		return final("%w", refused)
	case errors.As(err, &dns):
		return final("no such host, or no network: %w", dns)
	case errors.As(err, &op) && op.Op == "dial":
		return final("no connection: %w", op)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("the connection was cut")
	}
	return err
}

// redirectError is the error for a redirect that is not followed.
type redirectError struct{ why string }

// Error returns the reason.
func (e *redirectError) Error() string { return e.why }

const mostRedirects = 5

// client returns the caller's client with our rules for redirects: few, only on the web, never from https to http, and
// to another host only if a published hash checks the content.
func (r *request) client(published bool) *http.Client {
	c := http.Client{}
	if r.Client != nil {
		c = *r.Client
	}
	c.Timeout = 0 // a large file takes long; only silence ends it
	c.CheckRedirect = func(req *http.Request, via []*http.Request) error {
		last := via[len(via)-1].URL
		switch to := req.URL; {
		case len(via) > mostRedirects:
			return &redirectError{fmt.Sprintf("redirected more than %d times", mostRedirects)}
		case to.Scheme != "https" && to.Scheme != "http":
			return &redirectError{fmt.Sprintf("redirected to a %s: address", to.Scheme)}
		case last.Scheme == "https" && to.Scheme != "https":
			return &redirectError{"redirected from https to " + to.Scheme}
		case to.Host != via[0].URL.Host && !published:
			return &redirectError{fmt.Sprintf(
				"redirected to another host, %s, and no hash is published to check its content", to.Host)}
		}
		return nil
	}
	return &c
}
