package privacy_test

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"privrec/internal/privacy"
)

const secret, other = "a secret of two dozen bytes", "another secret of some bytes"

func key(t testing.TB, text string) *privacy.Key {
	t.Helper()
	return must(privacy.NewKey([]byte(text)))
}

// mac is the documented rule of a keyed ledger.
func mac(secret string) rule {
	return func(before, open string) string {
		h := hmac.New(sha256.New, []byte(secret))
		h.Write([]byte(before + open))
		return hex.EncodeToString(h.Sum(nil))[:32]
	}
}

// keyed writes the ledger of small under a key.
func keyed(t testing.TB, path, secret string) ([]byte, privacy.LedgerState) {
	t.Helper()
	l := must(privacy.CreateLedger(path, privacy.Research, key(t, secret)))
	check(t, errors.Join(l.Record("sums", normal, 5), l.Flush("epoch 1"), l.Record("sums", normal, 5), l.Record("tallies", spread, 1)))
	st := must(l.State())
	check(t, l.Close())
	return must(os.ReadFile(path)), st
}

// A keyed ledger is chained by HMAC-SHA-256, computed here without the package. With
// its key it is read, without it, under another one or with the checks of a ledger
// that has none it is refused.
func TestKeyedLedger(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a")
	file, _ := keyed(t, path, secret)
	open := lines(t, file)
	if again := sealed(mac(secret), open); !bytes.Equal(again, file) {
		t.Errorf("by hand:\n%s\nin the file:\n%s", again, file)
	}
	mine := privacy.Reading{Key: key(t, secret)}
	if n := len(must(mine.File(path)).Entries()); n != 3 {
		t.Errorf("%d entries", n)
	}
	if id := key(t, secret).ID(); !strings.Contains(open[0], `"key":"`+id+`"`) || strings.Contains(string(file), secret) || id == key(t, other).ID() {
		t.Errorf("header %s, key %s", open[0], id)
	}
	small(t, filepath.Join(filepath.Dir(path), "unkeyed"))
	_, unkeyed := mine.File(filepath.Join(filepath.Dir(path), "unkeyed"))
	_, none := privacy.Reading{}.File(path)
	_, wrong := privacy.Reading{Key: key(t, other)}.File(path)
	for name, c := range map[string]struct{ err, is error }{"unkeyed": {unkeyed, privacy.ErrUnkeyed}, "none": {none, privacy.ErrNoKey}, "wrong": {wrong, privacy.ErrWrongKey}} {
		if !errors.Is(c.err, c.is) || !strings.Contains(c.err.Error(), ": line 1: ") {
			t.Errorf("%s: %v", name, c.err)
		}
	}
	for name, c := range map[string]struct {
		key  *privacy.Key
		file string
		is   error
	}{
		"mine": {mine.Key, "a", nil}, "none": {nil, "a", privacy.ErrNoKey}, "wrong": {key(t, other), "a", privacy.ErrWrongKey},
		"unkeyed": {mine.Key, "unkeyed", privacy.ErrUnkeyed}, "neither": {nil, "unkeyed", nil}, "no file": {nil, "absent", nil},
	} {
		if err := c.key.Opens(filepath.Join(filepath.Dir(path), c.file)); !errors.Is(err, c.is) || c.is != nil && !strings.Contains(err.Error(), c.file+": line 1: ") {
			t.Errorf("%s opens %s: %v", name, c.file, err)
		}
	}
	for i := range file {
		bad := bytes.Clone(file)
		bad[i] ^= 1
		if _, err := mine.Parse(bytes.NewReader(bad)); err == nil {
			t.Fatalf("byte %d changed: accepted", i)
		}
		if _, err := mine.Parse(bytes.NewReader(file[:i])); err == nil {
			t.Fatalf("cut at byte %d: accepted", i)
		}
	}
}

// Without the ledger key no ledger can be made that its reader takes, though anyone can make
// one that a reader without a key takes: the checks are computed again for less noise
// said, a release left out, the closing line moved.
func TestRewritingNeedsTheKey(t *testing.T) {
	dir := t.TempDir()
	file, _ := keyed(t, filepath.Join(dir, "keyed"), secret)
	plain, _ := small(t, filepath.Join(dir, "plain"))
	rewrite := func(file []byte, r rule) map[string][]byte {
		open := lines(t, file)
		shorter := append(append([]string{}, open[:3]...), `{"end":{"entries":2}`)
		quieter := append([]string{}, open...)
		quieter[1] = strings.Replace(quieter[1], `"sigma":3`, `"sigma":300`, 1)
		return map[string][]byte{"shorter": sealed(r, shorter), "quieter": sealed(r, quieter)}
	}
	for name, forged := range rewrite(plain, documented) {
		if _, err := (privacy.Reading{}).Parse(bytes.NewReader(forged)); err != nil {
			t.Errorf("without a key, %s: %v", name, err)
		}
	}
	mine := privacy.Reading{Key: key(t, secret)}
	for name, forged := range rewrite(file, mac(secret)) {
		if _, err := mine.Parse(bytes.NewReader(forged)); err != nil {
			t.Errorf("with the key, %s: %v", name, err)
		}
	}
	for with, r := range map[string]rule{"no key": documented, "another key": mac(other), "zeros": func(string, string) string { return strings.Repeat("0", 32) }} {
		for name, forged := range rewrite(file, r) {
			if _, err := mine.Parse(bytes.NewReader(forged)); err == nil {
				t.Errorf("%s, with %s: accepted", name, with)
			}
		}
	}
}

// A run is resumed under its key to the bytes of one that was not interrupted, and
// under no other; refusing leaves the file as it is.
func TestKeyedResume(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a")
	file, st := keyed(t, path, secret)
	for name, c := range map[string]struct {
		key *privacy.Key
		is  error
	}{"none": {nil, privacy.ErrNoKey}, "wrong": {key(t, other), privacy.ErrWrongKey}} {
		if _, err := privacy.ResumeLedger(path, st, c.key); !errors.Is(err, c.is) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", name, err)
		}
		if !bytes.Equal(must(os.ReadFile(path)), file) {
			t.Errorf("%s: the file was changed", name)
		}
	}
	check(t, os.Truncate(path, st.Offset))
	l := must(privacy.ResumeLedger(path, st, key(t, secret)))
	if d := must(json.Marshal(must(l.State()))); !bytes.Equal(d, must(json.Marshal(st))) {
		t.Errorf("the state became %s", d)
	}
	check(t, l.Close())
	if got := must(os.ReadFile(path)); !bytes.Equal(got, file) {
		t.Errorf("%s\nwant\n%s", got, file)
	}
}

// A key comes from a file whose name its errors give.
func TestReadKey(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, n int) string {
		path := filepath.Join(dir, name)
		check(t, os.WriteFile(path, bytes.Repeat([]byte("k"), n), 0o600))
		return path
	}
	for path, want := range map[string]string{
		write("short", 15):         "short: a ledger key of 15 bytes, want 16 to 65536",
		write("empty", 0):          "empty: a ledger key of 0 bytes",
		write("long", 1<<16+1):     "long: a ledger key of 65537 bytes",
		filepath.Join(dir, "none"): "none: no such file",
		dir:                        dir + ": is a directory",
	} {
		if _, err := privacy.ReadKey(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	for _, n := range []int{16, 1 << 16} {
		k := must(privacy.ReadKey(write("fits", n)))
		if k.ID() != key(t, strings.Repeat("k", n)).ID() || len(k.ID()) != 16 {
			t.Errorf("%d bytes: %s", n, k.ID())
		}
	}
	if (*privacy.Key)(nil).ID() != "" {
		t.Error("no key has an ID")
	}
}
