package fetch

import (
	"context"
	"crypto/md5"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"privrec/internal/dataset"
)

// part returns the path of the file into which a download grows.
func (j *job) part(a Archive) string { return filepath.Join(j.folder, a.FileName()+partExt) }

// addresses returns the addresses to try for an archive, in order.
func (j *job) addresses(a Archive) []string {
	if j.Mirror != "" {
		return []string{strings.TrimRight(j.Mirror, "/") + "/" + a.FileName()}
	}
	return a.addresses()
}

// download completes the .part file of an archive and compares it with the published hash. It tries the addresses in
// order. Content that differs counts as a failure of its address, unless PinNew accepts it.
func (j *job) download(ctx context.Context, a Archive) (Archived, error) {
	var wrong error
	var failures []string
	all := j.addresses(a)
	for i, address := range all {
		j.Progress.Phase("download " + address)
		got, err := j.from(ctx, a, address)
		switch {
		case err == nil:
			return got, nil
		case ctx.Err() != nil:
			return Archived{}, fmt.Errorf("download %s: %w", a.FileName(), err)
		case errors.Is(err, errWrite):
			return Archived{}, &dataset.Error{File: j.part(a), Msg: "cannot write", Err: err}
		case errors.Is(err, ErrChanged):
			wrong = err
		}
		if i+1 < len(all) {
			j.Progress.Phase(fmt.Sprintf("%v; trying the next address", err))
		}
		failures = append(failures, fmt.Sprintf("%s: %v", address, err))
	}
	if wrong != nil {
		return Archived{}, wrong
	}
	return Archived{}, &dataset.Error{File: a.FileName(), Msg: "tried every address",
		Err: fmt.Errorf("%w\n%s", ErrOffline, strings.Join(failures, "\n")), Hint: j.byHand()}
}

// byHand returns instructions what to download by hand and what to do with it.
func (j *job) byHand() string {
	var get []string
	for _, a := range j.src.Archives {
		what := a.About()
		if a.SHA256 != "" {
			what += ", sha256 " + a.SHA256
		} else if a.MD5 != "" {
			what += ", md5 " + a.MD5
		}
		get = append(get, fmt.Sprintf("%s (%s)", a.URL, what))
	}
	return fmt.Sprintf("try again later, or download %s by other means and run: privrec data fetch %s%s",
		strings.Join(get, " and "), j.src.Name, j.src.fromFlags())
}

// Limits on repeated requests.
const (
	mostStale = 3   // in a row without new data
	mostTries = 200 // in all, for a connection that is cut again and again
)

// from downloads an archive from one address, continuing where an earlier attempt was cut.
func (j *job) from(ctx context.Context, a Archive, address string) (Archived, error) {
	for clean := false; ; clean = true {
		resumed, err := j.repeat(ctx, a, address)
		if err != nil {
			return Archived{}, err
		}
		got, sum, err := digest(ctx, j.part(a))
		if err != nil {
			return Archived{}, err
		}
		st := readState(j.part(a))
		got.Name, got.Address = a.FileName(), address
		if st.Final != address {
			got.Final = st.Final
		}
		pin := j.PinNew
		if resumed && !clean {
			j.PinNew = false // first check that it is not two halves of two files
		}
		err = j.compare(a, &got, sum)
		j.PinNew = pin
		if err == nil {
			return got, nil
		}
		removePart(j.part(a))
		if !resumed || clean {
			return Archived{}, err
		}
		j.Progress.Phase("the file put together from pieces is not the published one; starting again")
	}
}

// repeat sends requests until the part is complete. resumed is set if that took more than one request.
func (j *job) repeat(ctx context.Context, a Archive, address string) (resumed bool, err error) {
	part := j.part(a)
	for try, stale := 0, 0; ; try++ {
		before := sizeOf(part)
		r := &request{job: j, archive: a, address: address, part: part}
		err := r.do(ctx)
		resumed = resumed || r.resumed
		if err == nil {
			return resumed, nil
		}
		var final *finalError
		if ctx.Err() != nil || errors.As(err, &final) || errors.Is(err, errWrite) {
			return resumed, err
		}
		if stale++; sizeOf(part) > before {
			stale = 0
		}
		if stale >= mostStale || try >= mostTries {
			return resumed, err
		}
		j.Progress.Phase(fmt.Sprintf("%v; continuing", err))
		select {
		case <-ctx.Done():
			return resumed, ctx.Err()
		case <-time.After(j.pause * time.Duration(min(stale+1, 5))):
		}
	}
}

// removePart removes a partial download.
func removePart(part string) {
	os.Remove(part)
	os.Remove(part + stateExt)
}

// sizeOf returns the size of a file, 0 if there is none.
func sizeOf(path string) int64 {
	st, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return st.Size()
}

// digest returns a file's size and SHA-256, and its MD5.
func digest(ctx context.Context, path string) (Archived, string, error) {
	f, err := os.Open(path)
	if err != nil {
		return Archived{}, "", &dataset.Error{File: path, Msg: "cannot open", Err: err, Hint: "check the path"}
	}
	defer f.Close()
	sum, old := sha256.New(), md5.New()
	n, err := copyContext(ctx, io.MultiWriter(sum, old), f)
	if err != nil {
		if ctx.Err() != nil {
			return Archived{}, "", err
		}
		return Archived{}, "", &dataset.Error{File: path, Msg: "cannot read", Err: err}
	}
	return Archived{Bytes: n, SHA256: hex.EncodeToString(sum.Sum(nil))}, hex.EncodeToString(old.Sum(nil)), nil
}
