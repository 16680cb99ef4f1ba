package serve

import (
	"crypto/sha256"
	"encoding/base64"
	"net"
	"net/http"
	"strings"
)

// guard refuses requests that would change something, and requests that name another host. It sets the headers that all
// answers have.
func guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", pagePolicy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		switch {
		case !loopback(r.Host):
			refuse(w, http.StatusForbidden, "this server answers only as localhost, 127.0.0.1 or [::1]")
		case r.Method != http.MethodGet && r.Method != http.MethodHead:
			h.Set("Allow", "GET, HEAD")
			refuse(w, http.StatusMethodNotAllowed, "this server changes nothing: it answers GET and HEAD")
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// loopback reports whether a Host header names this machine by a name that no name server can give to another page. Any
// port is accepted, since a tunnel may have its own.
func loopback(host string) bool {
	name := host
	if h, port, err := net.SplitHostPort(host); err == nil {
		name = h
		if port == "" || strings.Trim(port, "0123456789") != "" {
			return false
		}
		if strings.HasPrefix(host, "[") != (name == "::1") {
			return false
		}
	} else if host == "[::1]" {
		name = "::1"
	} else if strings.Contains(host, ":") {
		return false
	}
	return strings.EqualFold(name, "localhost") || name == "127.0.0.1" || name == "::1"
}

// refuse answers with a sentence as plain text.
func refuse(w http.ResponseWriter, code int, sentence string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(code)
	w.Write([]byte(sentence + "\n"))
}

// pagePolicy is the policy of our own pages: no connection, no frame, no script but ours.
var pagePolicy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src 'sha256-" + digest(script) +
	"'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// filePolicy is the policy of pages from the folder. They may have scripts of their own, but run isolated: they reach
// neither the network nor other pages of this server.
const filePolicy = "default-src 'none'; style-src 'unsafe-inline'; img-src 'self' data:; script-src 'unsafe-inline'" +
	"; form-action 'none'; base-uri 'none'; frame-ancestors 'none'; sandbox allow-scripts allow-downloads allow-modals"

func digest(s string) string {
	sum := sha256.Sum256([]byte(s))
	return base64.StdEncoding.EncodeToString(sum[:])
}
