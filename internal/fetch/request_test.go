package fetch

import (
	"net/http"
	"testing"
)

func answer(contentRange, etag string) *http.Response {
	return &http.Response{Header: http.Header{"Content-Range": {contentRange}, "Etag": {etag}}}
}

func TestContinues(t *testing.T) {
	old := state{ETag: `"a"`, Total: 10}
	for _, c := range []struct {
		text, etag string
		have       int64
		ok         bool
	}{
		{"bytes 5-9/10", `"a"`, 5, true},
		{"bytes 5-9/10", "", 5, true},
		{"bytes 5-9/*", `"a"`, 5, true},
		{"bytes 4-9/10", `"a"`, 5, false},
		{"bytes 6-9/10", `"a"`, 5, false},
		{"bytes 5-10/11", `"a"`, 5, false},
		{"bytes 5-9/10", `"b"`, 5, false},
		{"bytes 0-9/10", `"a"`, 0, false},
		{"", `"a"`, 5, false},
		{"bytes */10", `"a"`, 5, false},
	} {
		if err := continues(answer(c.text, c.etag), old, c.have); (err == nil) != c.ok {
			t.Errorf("%q %s at %d: %v", c.text, c.etag, c.have, err)
		}
	}
}

func FuzzContentRange(f *testing.F) {
	for _, s := range []string{"bytes 5-9/10", "bytes */10", "bytes 5-9/*", "bytes -1-9/10", "bytes 99999999999999999999-1/2", "items 1-2/3"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		start, total, ok := contentRange(answer(s, ""))
		if ok && (start < 0 || total < -1) {
			t.Errorf("%q: start %d, total %d", s, start, total)
		}
	})
}
