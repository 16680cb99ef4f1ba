package pages

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"privrec/internal/run"
	"privrec/internal/system"
)

// origin says of which runs an overview is, and which bytes it had when it was written. It stands in the document
// beside it, so that pages of other runs, and files that somebody else wrote or changed, are not replaced unasked.
type origin struct {
	Runs     []string `json:"runs"` // name and hash of the configuration of each
	Overview string   `json:"overview_sha256"`
}

func originOf(all []*finished, overview []byte) *origin {
	sum := sha256.Sum256(overview)
	o := &origin{Overview: hex.EncodeToString(sum[:])}
	for _, f := range all {
		o.Runs = append(o.Runs, f.name+" "+f.manifest.ConfigHash)
	}
	return o
}

// mayReplace fails where a folder has an overview or its document, unless both are there, the document says that the
// overview is of the same runs, and the overview still has the bytes that were written.
func (o *origin) mayReplace(dir string) error {
	page, document := filepath.Join(dir, Overview), filepath.Join(dir, Document)
	there := ""
	for _, path := range []string{document, page} {
		if _, err := os.Lstat(path); err == nil {
			there = path
		} else if !errors.Is(err, fs.ErrNotExist) && !system.NotAFolder(err) {
			return err
		}
	}
	if there == "" {
		return nil
	}
	text, err := system.ReadFile(document, system.MostOfRun)
	var was struct {
		Of *origin `json:"of"`
	}
	if err == nil && json.Unmarshal(text, &was) == nil && was.Of != nil && slices.Equal(was.Of.Runs, o.Runs) {
		if text, err = system.ReadFile(page, system.MostOfRun); err == nil {
			if sum := sha256.Sum256(text); hex.EncodeToString(sum[:]) == was.Of.Overview {
				return nil
			}
		}
	}
	return run.Usagef("choose another --out, or --force to replace what is there",
		"%s is there already, and it is not what was written for these runs", there)
}
