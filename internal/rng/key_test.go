package rng

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// Streams of two keys, of two lists of fields, and of lists that read alike when they are joined,
// share no word. A repeat by chance has a probability below 2^-50.
func TestKeyStreamsAreApart(t *testing.T) {
	a, b := Seed(1).Key(), NewKey()
	seen := map[uint64]string{}
	for name, s := range map[string]Stream{
		"a": a.Stream("x", "y"), "other key": b.Stream("x", "y"), "joined": a.Stream("xy"), "moved": a.Stream("xy", ""),
		"empty": a.Stream(), "one more": a.Stream("x", "y", ""), "by name": Seed(1).Stream("x"), "other seed": Seed(2).Key().Stream("x", "y"),
	} {
		for range 64 {
			w := s.Uint64()
			if was, ok := seen[w]; ok {
				t.Errorf("%s and %s share the word %x", name, was, w)
			}
			seen[w] = name
		}
	}
	if x, y := a.Stream("x", "y"), Seed(1).Key().Stream("x", "y"); x != y {
		t.Error("one key and one list of fields give two streams")
	}
}

// The identity has all 128 bits of the derivation: each is set in about half of 4,000 streams.
// 10 standard deviations have a probability below 1e-22 for each of 128 bits.
func TestKeyStreamsFillTheIdentity(t *testing.T) {
	const n = 4000
	var ones [128]int
	k := NewKey()
	for i := range n {
		s := k.Stream(fmt.Sprint(i))
		for w, x := range s.State().ID {
			for b := range 32 {
				ones[32*w+b] += int(x >> b & 1)
			}
		}
	}
	for b, c := range ones {
		if c < n/2-316 || c > n/2+316 {
			t.Errorf("bit %d is set in %d of %d streams", b, c, n)
		}
	}
}

func TestKeyIsNotPrinted(t *testing.T) {
	k := NewKey()
	for _, verb := range []string{"%v", "%+v", "%#v", "%x", "%d", "%s", "%q"} {
		if got := fmt.Sprintf(verb, k); got != "(secret key)" {
			t.Errorf("%s prints %q", verb, got)
		}
	}
	held := struct{ K Key }{k}
	if got := fmt.Sprintf("%v %+v", held, &held); strings.Contains(got, k.Reveal()[:8]) || !strings.Contains(got, "(secret key)") {
		t.Errorf("inside a value: %q", got)
	}
	if b, err := json.Marshal(held); err == nil {
		t.Errorf("JSON has %s", b)
	}
}

func TestReadKey(t *testing.T) {
	k := NewKey()
	got, err := ReadKey(k.Reveal())
	if err != nil || got != k || got.Check("a") != k.Check("a") || k.Check("a") == k.Check("b") || k.Check("a") == NewKey().Check("a") {
		t.Errorf("read %v: %v", got == k, err)
	}
	for _, bad := range []string{"", k.Reveal()[1:], k.Reveal() + "0", strings.Repeat("g", 64)} {
		if _, err := ReadKey(bad); err == nil {
			t.Errorf("%q is read", bad)
		}
	}
}

func TestFingerprint(t *testing.T) {
	a, b := Seed(1).Stream("a"), Seed(1).Stream("b")
	if a.Fingerprint() == b.Fingerprint() || a.Fingerprint() == a.State().ID {
		t.Error("fingerprints do not tell streams apart, or are the stream")
	}
	was := a.Fingerprint()
	a.Uint64()
	if a.Fingerprint() != was {
		t.Error("the fingerprint moves with the position")
	}
}
