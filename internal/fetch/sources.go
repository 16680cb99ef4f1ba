package fetch

import (
	"fmt"
	"net/url"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"privrec/data"
	"privrec/internal/config"
	"privrec/internal/dataset"
	"privrec/internal/dataset/registry"
)

// Source is a data set of the registry and how to get its files, as in data/sources.yaml.
type Source struct {
	registry.Set `yaml:"-"`
	// what to do by hand where the owner gives copies on request; "" when it can be downloaded
	Manual   string    `yaml:"manual"`
	UsedBy   []string  `yaml:"used_by"` // papers
	Archives []Archive // none: generated here
	Notes    []string  // counts that papers print without a step, and other remarks
}

// Archive describes one file to download.
type Archive struct {
	URL        string   // official; "" where a copy must be asked for
	Name       string   // of the file; "" takes the last element of URL
	Mirrors    []string // tried in order after URL
	Bytes      int64    // exact size, 0 when it is not published
	Size       string   // approximate size, for the user; only where Bytes is 0
	SHA256     string
	MD5        string // only where no SHA-256 is known
	Unverified string // why there is no SHA-256, "" when there is one
	Into       string // subfolder of the set's folder the files go to
	Files      []string
	Hashes     []FileHash
	Limits     Limits
}

// FileHash is the size and hash of an unpacked file of a set.
type FileHash struct {
	File   string // name inside the set's folder
	Bytes  int64
	SHA256 string
}

// Limits bounds how far an archive may grow. Zero takes the default.
type Limits struct {
	Bytes int64 // of everything unpacked together; default 64 times the archive
	Ratio int64 // unpacked bytes for a byte read, beyond the first MiB; default 100
	Files int   // entries of the archive; default 200
}

// sheet is the root of data/sources.yaml.
type sheet struct {
	Sets []struct {
		Name   string // in the registry
		Source `yaml:",inline"`
	}
}

// Sources returns every set of data/sources.yaml, in its order. An error is a fault of the
// program, not of the user.
func Sources() ([]Source, error) { return parse("data/sources.yaml", data.Sources) }

// Find returns the source with the name.
func Find(name string) (Source, error) {
	all, err := Sources()
	if err != nil {
		return Source{}, err
	}
	var names []string
	for _, s := range all {
		if s.Name == name {
			return s, nil
		}
		names = append(names, s.Name)
	}
	hint := "known are " + strings.Join(names, ", ")
	if best := config.Nearest(name, names); best != "" {
		hint = fmt.Sprintf("did you mean %q? %s", best, hint)
	}
	return Source{}, &dataset.Error{File: name, Msg: "unknown data set", Hint: hint}
}

// Names returns the names of the sets that can be fetched, in the order of Sources.
func Names() ([]string, error) {
	all, err := Sources()
	if err != nil {
		return nil, err
	}
	var names []string
	for _, s := range all {
		if !s.Generated() {
			names = append(names, s.Name)
		}
	}
	return names, nil
}

// Generated reports whether this program generates the set, so that it cannot be fetched.
func (s Source) Generated() bool { return len(s.Archives) == 0 }

// parse parses the text strictly and validates what the types do not.
func parse(name string, text []byte) ([]Source, error) {
	s, doc, err := config.Parse(name, text, nil, sheet{})
	if err != nil {
		return nil, err
	}
	var out []Source
	for i, e := range s.Sets {
		at, src := fmt.Sprintf("sets.%d", i), e.Source
		if src.Set, err = registry.Find(e.Name); err != nil {
			return nil, doc.Errorf(at+".name", "%q: unknown data set", e.Name)
		}
		if slices.ContainsFunc(out, func(s Source) bool { return s.Name == e.Name }) {
			return nil, doc.Errorf(at+".name", "%q is given twice", e.Name)
		}
		places := map[string]bool{}
		for j, a := range src.Archives {
			if msg := a.fault(src.Manual != ""); msg != "" {
				return nil, doc.Errorf(fmt.Sprintf("%s.archives.%d", at, j), "%s: %s", a.FileName(), msg)
			}
			for _, f := range a.Files {
				if p := a.place(f); places[p] {
					return nil, doc.Errorf(fmt.Sprintf("%s.archives.%d.files", at, j), "two files would be at %s", p)
				} else {
					places[p] = true
				}
			}
			for _, h := range a.Hashes {
				if !places[h.File] || !hexadecimal(h.SHA256, 64) {
					return nil, doc.Errorf(fmt.Sprintf("%s.archives.%d.hashes", at, j), "%s: no such file or no sha256",
						h.File)
				}
			}
		}
		out = append(out, src)
	}
	return out, nil
}

// fault returns a description of a fault in an entry, "" if there is none.
func (a Archive) fault(manual bool) string {
	if manual != (a.URL == "") || !plain(a.FileName()) {
		return "a set that users get by hand has names of files, any other set has addresses"
	}
	for _, address := range a.addresses() {
		u, err := url.Parse(address)
		if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || !plain(path.Base(u.Path)) {
			return "not the address of a file on the web: " + address
		}
	}
	switch {
	case len(a.Files) == 0:
		return "no files to take from it"
	case a.SHA256 != "" && !hexadecimal(a.SHA256, 64), a.MD5 != "" && !hexadecimal(a.MD5, 32):
		return "hash is not in lower-case hexadecimal"
	case (a.SHA256 == "") == (a.Unverified == ""):
		return "needs a sha256 or a reason why there is none"
	case a.Bytes < 0 || (a.Bytes == 0) == (a.Size == ""):
		return "needs bytes, or size where the bytes are not known"
	case a.Into != "" && !filepath.IsLocal(a.Into):
		return "into leaves the folder"
	}
	for _, f := range a.Files {
		if !filepath.IsLocal(f) || strings.ContainsAny(f, `\:`) {
			return "file leaves the folder: " + f
		}
	}
	return ""
}

// plain reports whether a name belongs to a file directly in its folder.
func plain(name string) bool {
	return name != "" && name == filepath.Base(name) && filepath.IsLocal(name) && !strings.ContainsAny(name, `/\:`) &&
		name[0] != '.'
}

// hexadecimal reports whether s is n lower-case hexadecimal digits.
func hexadecimal(s string, n int) bool {
	return len(s) == n && strings.Trim(s, "0123456789abcdef") == ""
}

// FileName returns the name of the archive on disk.
func (a Archive) FileName() string {
	if a.Name != "" {
		return a.Name
	}
	return path.Base(strings.TrimRight(a.URL, "/"))
}

// addresses returns the addresses of the archive, in the order in which to try them.
func (a Archive) addresses() []string {
	if a.URL == "" {
		return a.Mirrors
	}
	return append([]string{a.URL}, a.Mirrors...)
}

// place returns the path of a file of the archive inside the set's folder.
func (a Archive) place(file string) string { return filepath.Join(a.Into, path.Base(file)) }

// About returns the size of the download, for the user.
func (a Archive) About() string {
	if a.Bytes == 0 {
		return a.Size
	}
	return Size(a.Bytes)
}

// Size formats a number of bytes for the user, in powers of ten.
func Size(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprintf("%d B", n)
	case n < 1e6:
		return fmt.Sprintf("%.1f kB", float64(n)/1e3)
	case n < 1e9:
		return fmt.Sprintf("%.1f MB", float64(n)/1e6)
	}
	return fmt.Sprintf("%.2f GB", float64(n)/1e9)
}

// limits returns the limits, with defaults filled in, for an archive of size bytes.
func (a Archive) limits(size int64) Limits {
	l := a.Limits
	if l.Bytes == 0 {
		l.Bytes = 64*size + 1<<20
	}
	if l.Ratio == 0 {
		l.Ratio = 100
	}
	if l.Files == 0 {
		l.Files = 200
	}
	return l
}

// most returns the largest number of bytes of a download: somewhat more than published, so that a changed file can be
// hashed and shown, but not without end.
func (a Archive) most() int64 {
	if a.Bytes == 0 {
		return 16 << 30
	}
	return 4*a.Bytes + 1<<20
}

// fromFlags returns the end of the command that takes copies of every archive.
func (s Source) fromFlags() string {
	var b strings.Builder
	for _, a := range s.Archives {
		b.WriteString(" --from " + a.FileName())
	}
	return b.String()
}

// places returns the paths of the set's files inside its folder.
func (s Source) places() []string {
	var out []string
	for _, a := range s.Archives {
		for _, f := range a.Files {
			out = append(out, a.place(f))
		}
	}
	return out
}
