package serve

import (
	"errors"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
)

// ownFiles lists the files of a run that are served.
var ownFiles = []string{
	"report.html", "result.txt", "result.json", "metrics.json", "cells.json",
	"privacy.json", "config.yaml", "manifest.json", "ledger.jsonl",
}

// kinds maps the endings of served report files to their types.
var kinds = map[string]string{
	".html": "text/html; charset=utf-8", ".svg": "image/svg+xml", ".png": "image/png", ".pdf": "application/pdf",
	".csv": "text/csv; charset=utf-8", ".json": "application/json", ".jsonl": "application/jsonl",
	".md":  "text/plain; charset=utf-8",
	".tex": "text/plain; charset=utf-8", ".txt": "text/plain; charset=utf-8", ".yaml": "text/plain; charset=utf-8",
}

// clean reports whether a path is in its only valid form.
func clean(u *url.URL) bool {
	p := u.Path
	if !strings.HasPrefix(p, "/") || strings.ContainsAny(p, "\\\x00") || path.Clean(p) != p {
		return false
	}
	// A slash that was sent as %2F would be one of a name, and no name has one.
	raw := strings.ToLower(u.EscapedPath())
	return !strings.Contains(raw, "%2f") && !strings.Contains(raw, "%5c")
}

// file serves a file of the folder.
func (h *handler) file(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("path")
	kind, ok := offered(name)
	if !ok || !fs.ValidPath(name) {
		refuse(w, http.StatusNotFound, "there is no such file, or none that is shown here")
		return
	}
	info, ok := h.regular(name)
	if !ok {
		refuse(w, http.StatusNotFound, "there is no such file, or it is a link")
		return
	}
	f, err := h.root.Open(name)
	if err != nil {
		code := http.StatusInternalServerError
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) ||
			strings.Contains(err.Error(), "escapes") {
			code = http.StatusNotFound
		}
		refuse(w, code, "the file cannot be opened")
		return
	}
	defer f.Close()
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Content-Security-Policy", filePolicy)
	w.Header().Del("Cache-Control")
	w.Header().Set("Cache-Control", "no-cache") // a report may be hundreds of pages: ask, and keep what did not change
	http.ServeContent(w, r, "", info.ModTime(), io.NewSectionReader(f, 0, info.Size()))
}

// offered returns the type of a served file: one that a run writes, or one of a report.
func offered(name string) (kind string, ok bool) {
	parts := strings.Split(name, "/")
	last := parts[len(parts)-1]
	for _, p := range parts {
		if strings.HasPrefix(p, ".") {
			return "", false
		}
	}
	kind, ok = kinds[path.Ext(last)]
	if !ok || !slices.Contains(ownFiles, last) && !slices.Contains(parts[:len(parts)-1], "tables") {
		return "", false
	}
	return kind, true
}
