package perturb

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"privrec/internal/privacy"
	"privrec/internal/privacy/budget"
)

// reservation holds a command's reservation in a budget; the zero value means none.
type reservation struct {
	file string
	id   int
}

// reserve reserves the cost of the release in the budget of the settings, before anything is recorded or drawn. It
// refuses a release that would overdraw the budget, with a *budget.Refusal.
func (e *engine[C]) reserve() (r reservation, err error) {
	if e.Parent == "" {
		return r, nil
	}
	if e.Spends == nil {
		return r, Refuse("leave out --parent", "this command cannot say what its release costs")
	}
	task, plan, err := e.Spends()
	if err != nil {
		return r, err
	}
	if r.file, err = filepath.Abs(e.Parent); err != nil {
		return r, err
	}
	out, err := filepath.Abs(e.Out)
	if err != nil {
		return r, err
	}
	sum, err := FileSum(e.In)
	if err != nil {
		return r, err
	}
	err = budget.Change(r.file, func(b *budget.File) (err error) {
		r.id, err = b.Reserve(budget.Reservation{Run: out, Task: task, Data: filepath.Base(e.In), SHA256: sum}, plan)
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		err = Refuse("make the budget first: privrec account budget create FILE", "--parent: %v", err)
	}
	return r, err
}

// settle tells the budget what was recorded. Nothing gives the reservation back.
func (r reservation) settle(recorded []privacy.Entry) error {
	if r.id == 0 {
		return nil
	}
	return budget.Change(r.file, func(b *budget.File) error { return b.End(r.id, "", recorded, nil) })
}

// FileSum returns the hex SHA-256 of a file's bytes.
func FileSum(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
