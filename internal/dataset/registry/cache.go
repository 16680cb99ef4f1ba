package registry

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"privrec/internal/dataset"
	"privrec/internal/dataset/format"
	"privrec/internal/system"
)

// cacheVersion must change whenever the meaning of an entry or of a filter changes.
const cacheVersion = "privrec-cache-5\n"

// entry holds the content of a cache entry: the rows after the filters and their ladder.
type entry struct {
	log      *dataset.Log
	ladder   dataset.Ladder
	features *dataset.Features
}

// cache locates one entry. Its file is a version line, the SHA-256 of the payload and the payload. It is written beside
// its final name, synced and renamed, so that readers and other writers see all of it or nothing. It holds users' rows,
// so only its owner may read it.
type cache struct {
	path string // "" when there is no cache
	why  string // why there is none
	hash string // of the source files
}

// openCache returns the place of the entry for the source hash and the steps.
func openCache(opts Options, set string, r dataset.Recipe, l Layout, files []dataset.File) cache {
	if opts.NoCache {
		return cache{why: "cache is off"}
	}
	dir, err := cacheDir(opts.CacheDir)
	if err != nil {
		return cache{why: err.Error()}
	}
	hash := hashOf(files)
	key := sha256.Sum256([]byte(strings.Join([]string{cacheVersion, set, strings.Join(l.Files, " "), l.Steps, r.Steps(),
		hash, fmt.Sprint(format.HasCard(files[0].Path))}, "\n")))
	return cache{path: filepath.Join(dir, set+"-"+hex.EncodeToString(key[:8])+".rows"), hash: hash}
}

// get returns the entry, or nil and the reason for messages ("" if there is no entry yet).
func (c cache) get() (*entry, string) {
	if c.path == "" {
		return nil, c.why
	}
	b, err := os.ReadFile(c.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ""
	}
	if err != nil {
		return nil, "cache entry ignored: " + err.Error()
	}
	e, err := openEntry(b)
	if err == nil && e.log.Hash != c.hash {
		err = errors.New("entry of other files")
	}
	if err != nil {
		return nil, fmt.Sprintf("cache entry %s ignored and rebuilt: %v", c.path, err)
	}
	if info, err := os.Stat(c.path); err == nil && info.Mode().Perm()&0o077 != 0 { // of an earlier program
		os.Chmod(c.path, 0o600) // another user's cannot be changed, and need not
	}
	return e, "read from cache " + c.path
}

// put writes the entry and returns a message about it. A cache that cannot be written only costs time, so put does not
// fail.
func (c cache) put(e *entry) string {
	if c.path == "" {
		return ""
	}
	if err := os.MkdirAll(filepath.Dir(c.path), 0o700); err != nil {
		return "cache not written: " + err.Error()
	}
	if err := system.WritePrivate(c.path, sealEntry(e)); err != nil {
		return "cache not written: " + err.Error()
	}
	return "written to cache " + c.path
}

// openEntry returns the entry in a file, after checking its version and checksum.
func openEntry(b []byte) (*entry, error) {
	rest, ok := bytes.CutPrefix(b, []byte(cacheVersion))
	if !ok {
		return nil, errors.New("other version, or not a cache entry")
	}
	if len(rest) < sha256.Size {
		return nil, errors.New("cut short")
	}
	sum, payload := rest[:sha256.Size], rest[sha256.Size:]
	if got := sha256.Sum256(payload); !bytes.Equal(got[:], sum) {
		return nil, errors.New("checksum differs: cut short or damaged")
	}
	return decodeEntry(payload)
}

// ReceiptName is the name of the file in a set's folder that says where its files came from.
const ReceiptName = "receipt.json"

// receipt is the part of a receipt that describes its files.
type receipt struct {
	PinnedNew bool `json:"pinned_new"`
	Files     []struct {
		Name   string `json:"name"`
		SHA256 string `json:"sha256"`
	} `json:"files"`
}

// provenance returns a remark if the files differ from the receipt of their folder: their content was accepted although
// it is not the published one, or a file is no longer the one that was fetched. It returns "" if there is no difference
// or no receipt. The level of evidence does not depend on the remark: rows are judged by their content, so that a
// folder with a receipt is worth no more than the same folder without one.
func provenance(folder string, files []dataset.File) (string, error) {
	path := filepath.Join(folder, ReceiptName)
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", &dataset.Error{File: path, Msg: "cannot read", Err: err}
	}
	var r receipt
	if err := json.Unmarshal(b, &r); err != nil {
		return "", &dataset.Error{File: path, Msg: "not a receipt", Err: err, Hint: "fetch the set again"}
	}
	why := ""
	if r.PinnedNew {
		why = "the files are not the published ones: their content was accepted with --pin-new"
	}
	for _, f := range files {
		rel, err := filepath.Rel(folder, f.Path)
		if err != nil {
			return "", &dataset.Error{File: f.Path, Msg: "cannot find the path within its folder", Err: err}
		}
		for _, g := range r.Files {
			if g.Name == filepath.ToSlash(rel) && g.SHA256 != f.SHA256 {
				why = f.Path + " changed after it was fetched"
			}
		}
	}
	return why, nil
}

// CachedRows is an entry of the cache that has rows of some users.
type CachedRows struct {
	Path  string
	Users int // how many of them have rows in it
}

// Cached returns the entries of the cache for a data set with rows of users for whom is returns true. dir is that of
// Options.CacheDir. The name of a pair of sets stands for both. An entry that cannot be read has no users.
func Cached(dir, set string, is func(user string) bool) (list []CachedRows, err error) {
	if dir, err = cacheDir(dir); err != nil {
		return nil, nil // there is no cache
	}
	for name := range strings.SplitSeq(set, "+") {
		paths, err := filepath.Glob(filepath.Join(dir, name+"-*.rows"))
		if err != nil {
			return nil, err
		}
		for _, path := range paths {
			b, err := os.ReadFile(path)
			if err != nil {
				return nil, err
			}
			e, err := openEntry(b)
			if err != nil || e.log.Name != name {
				continue
			}
			x := CachedRows{Path: path}
			for _, id := range e.log.UserIDs {
				if is(id) {
					x.Users++
				}
			}
			if x.Users > 0 {
				list = append(list, x)
			}
		}
	}
	return list, nil
}

// cacheDir returns the folder of the cache.
func cacheDir(dir string) (string, error) {
	if dir = cmp.Or(dir, os.Getenv("PRIVREC_CACHE")); dir != "" {
		return dir, nil
	}
	base, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("no cache: %w", err)
	}
	return filepath.Join(base, "privrec"), nil
}
