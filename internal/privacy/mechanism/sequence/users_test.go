package sequence

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	law "privrec/internal/privacy/audit/exact"
	"privrec/internal/privacy/mechanism"
	"privrec/internal/privacy/mechanism/mechanismtest"
	"privrec/internal/rng"
)

// spillFile is a spill as the command line has it.
func spillFile(t testing.TB) func() (Spill, error) {
	return func() (Spill, error) {
		f, err := os.CreateTemp(t.TempDir(), "")
		return f, err
	}
}

func noSpill() (Spill, error) { return nil, errors.New("no spill was expected") }

func keyed(i int) UserKey { return KeyOf(fmt.Appendf(nil, "user-%d", i)) }

// The key of an id is that of all versions and machines: SHA-256 as published.
func TestKeyOfIsFixed(t *testing.T) {
	if k := KeyOf([]byte("abc")); k != (UserKey{0xba7816bf8f01cfea, 0x414140de5dae2223}) {
		t.Errorf("abc: %x", k)
	}
	if k := KeyOf(nil); k != (UserKey{0xe3b0c44298fc1c14, 0x9afbf4c8996fb924}) {
		t.Errorf("nothing: %x", k)
	}
}

// A user's row depends on the stream, the id and the row: not on the order in which
// users come, the sampler, or who else is there. What a run says that it retained does not
// depend on the samplers either, to the last digit.
func TestUsersInAnyOrder(t *testing.T) {
	const users, items, length = 300, 400, 9
	clean := someRows(users, items, length)
	bits := mechanism.Keyed(rng.Seed(4).Stream("seq"))
	for _, v := range []Variant{SDPFixed, SDPPaper, RR} {
		m := Mechanism{Purpose: "seq", Variant: v, Epsilon: 5, Items: items, Length: length}
		var kept []Retained
		perturb := func(samplers int, order []int32) []int32 {
			l := mechanismtest.Ledger(t)
			run, err := m.OpenUsers(l, bits, noSpill)
			if err != nil {
				t.Fatal(err)
			}
			rows := slices.Clone(clean)
			err = inParallel(samplers, func(w int) error {
				s, err := run.UserSampler()
				for i := w; i < len(order) && err == nil; i += samplers {
					u := int(order[i])
					err = s.RowOf(keyed(u), int64(i), rows[u*length:(u+1)*length])
				}
				return err
			})
			if err := errors.Join(err, run.Finish()); err != nil {
				t.Fatal(err)
			}
			if e := l.Entries(); len(e) != 1 || e[0].Event != m.Event() || e[0].Count != 1 {
				t.Errorf("%s: ledger %v", v, e)
			}
			x := run.Retained()
			if x.Rows != int64(len(order)) || x.Cells != int64(len(order)*length) ||
				math.Abs(float64(x.Kept)-x.Mean) > mechanismtest.Sigmas*math.Sqrt(x.Variance) {
				t.Errorf("%s: retained %+v", v, x)
			}
			if len(order) == users {
				kept = append(kept, x)
			}
			return rows
		}
		s := rng.Seed(5).Stream("order")
		one := perturb(1, upTo32(users))
		if slices.Equal(one, clean) {
			t.Errorf("%s: nothing happened", v)
		}
		for _, samplers := range []int{1, 2, 7} {
			if !slices.Equal(one, perturb(samplers, s.Perm(users))) {
				t.Errorf("%s: other rows with %d samplers in another order", v, samplers)
			}
		}
		for _, x := range kept {
			if x != kept[0] {
				t.Errorf("%s: retained %+v, and %+v by other samplers", v, x, kept[0])
			}
		}
		alone := perturb(1, []int32{17})
		if !slices.Equal(alone[17*length:18*length], one[17*length:18*length]) {
			t.Errorf("%s: another row where no other user comes", v)
		}
	}
}

func upTo32(n int) []int32 {
	list := make([]int32, n)
	for i := range list {
		list[i] = int32(i)
	}
	return list
}

// Rows by ids follow the exact law: chi-square, false alarm 1e-9 a row.
func TestUsersFollowTheLaw(t *testing.T) {
	const n = 60_000
	in := mechanismtest.RowOf(0, 1, 2)
	for _, v := range []Variant{SDPFixed, SDPPaper, RR} {
		m := Mechanism{Purpose: "s", Variant: v, Epsilon: 1.2, Items: 3, Length: 3}
		run, err := m.OpenUsers(mechanismtest.Ledger(t), mechanism.Keyed(rng.Seed(11).Stream("law")), noSpill)
		if err != nil {
			t.Fatal(err)
		}
		s, err := run.UserSampler()
		if err != nil {
			t.Fatal(err)
		}
		counts := map[law.Row]int{}
		for u := range n {
			row := []int32{0, 1, 2}
			if err := s.RowOf(keyed(u), int64(u), row); err != nil {
				t.Fatal(err)
			}
			counts[mechanismtest.RowOf(int(row[0]), int(row[1]), int(row[2]))]++
		}
		if p := chiSquare(exactLaw(t, m, m.rejects(), in), counts, n); p < 1e-9 {
			t.Errorf("%s: as far from its law with probability %g", v, p)
		}
		if err := run.Finish(); err != nil {
			t.Error(err)
		}
	}
}

// claimsOf counts users with a given room in memory.
func claimsOf(t testing.TB, most int, list []claim) error {
	u := &userClaims{spill: spillFile(t), most: most}
	for _, c := range list {
		if err := u.add([]claim{c}); err != nil {
			return err
		}
	}
	return errors.Join(u.check(), u.close())
}

// With however little memory, a user who comes twice is found, with both places, and no
// other user is.
func TestWhoComesTwiceIsFound(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		n := rapid.IntRange(0, 200).Draw(r, "users")
		most := rapid.SampledFrom([]int{1, 2, 3, 7, 50, 1000}).Draw(r, "memory")
		seed := rapid.Uint64().Draw(r, "seed")
		s := rng.Seed(seed).Stream("order")
		var list []claim
		for i, u := range s.Perm(n) {
			list = append(list, claim{keyed(int(u)), int64(i)})
		}
		if err := claimsOf(t, most, list); err != nil {
			r.Fatalf("all are different: %v", err)
		}
		if n == 0 {
			return
		}
		again := list[s.IntN(n)]
		at := s.IntN(n + 1)
		late := slices.Insert(slices.Clone(list), at, claim{again.user, int64(n)})
		var twice *RepeatedUser
		if err := claimsOf(t, most, late); !errors.As(err, &twice) || twice.Key != again.user || twice.First != again.at || twice.Second != int64(n) {
			r.Fatalf("%v, want the user at %d", err, again.at)
		}
	})
}

// Keys that share a half are different users.
func TestKeysAreWhole(t *testing.T) {
	for _, most := range []int{1, 10} {
		if err := claimsOf(t, most, []claim{{UserKey{1, 2}, 0}, {UserKey{1, 3}, 1}, {UserKey{2, 2}, 2}, {UserKey{2, 1}, 3}}); err != nil {
			t.Error(err)
		}
	}
}

// A run tells in its end that a user came twice, also to two samplers.
func TestFinishRefusesRepeatedUsers(t *testing.T) {
	m := Mechanism{Purpose: "seq", Variant: SDPFixed, Epsilon: 1, Items: 9, Length: 3}
	for _, most := range []int{1, 4, claimsHeld} {
		run, err := m.OpenUsers(mechanismtest.Ledger(t), mechanism.Keyed(rng.Seed(1).Stream("seq")), spillFile(t))
		if err != nil {
			t.Fatal(err)
		}
		run.claims.most = most
		a, err := run.UserSampler()
		if err != nil {
			t.Fatal(err)
		}
		b, err := run.UserSampler()
		if err != nil {
			t.Fatal(err)
		}
		for i := range 20 {
			if err := a.RowOf(keyed(i), int64(i), []int32{0, 1, 2}); err != nil {
				t.Fatal(err)
			}
		}
		if err := b.RowOf(keyed(7), 99, []int32{0, 0, 5}); err != nil {
			t.Fatal(err)
		}
		var twice *RepeatedUser
		if err := run.Finish(); !errors.As(err, &twice) || twice.First != 7 || twice.Second != 99 || !strings.Contains(err.Error(), "at 7 comes again at 99") {
			t.Errorf("memory for %d: %v", most, err)
		}
		if err := b.RowOf(keyed(50), 100, []int32{0, 0, 5}); err == nil {
			t.Error("a row after the end")
		}
	}
}

// brokenSpill fails at a place.
type brokenSpill struct {
	bytes.Buffer
	where string
}

var errSpill = errors.New("spilled")

func (b *brokenSpill) Write(p []byte) (int, error) {
	if b.where == "write" {
		return 0, errSpill
	}
	return b.Buffer.Write(p)
}

func (b *brokenSpill) ReadAt(p []byte, off int64) (int, error) {
	switch {
	case b.where == "read":
		return 0, errSpill
	case b.where == "short" && off > 0:
		return 0, io.EOF
	case b.where == "cut" && off > 0:
		return 5, io.EOF
	}
	return bytes.NewReader(b.Bytes()).ReadAt(p, off)
}

func (b *brokenSpill) Close() error {
	if b.where == "close" {
		return errSpill
	}
	return nil
}

// A spill that fails is an error, never a user let through.
func TestBrokenSpills(t *testing.T) {
	for _, where := range []string{"open", "write", "read", "close"} {
		u := &userClaims{most: 2, spill: func() (Spill, error) {
			if where == "open" {
				return nil, errSpill
			}
			return &brokenSpill{where: where}, nil
		}}
		var err error
		for i := 0; i < 9 && err == nil; i++ {
			err = u.add([]claim{{keyed(i), int64(i)}})
		}
		if err == nil {
			err = u.check()
		}
		if err = errors.Join(err, u.close()); !errors.Is(err, errSpill) {
			t.Errorf("%s: %v", where, err)
		}
	}
	u := &userClaims{most: 2, spill: func() (Spill, error) { return &brokenSpill{where: "cut"}, nil }}
	for i := range 9 {
		if err := u.add([]claim{{keyed(i), int64(i)}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := u.check(); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("a record cut short: %v", err)
	}
}

// What is asked for in the wrong way is refused.
func TestUserRunsRefuse(t *testing.T) {
	m := Mechanism{Purpose: "seq", Variant: SDPFixed, Epsilon: 1, Items: 9, Length: 3}
	bits := mechanism.Keyed(rng.Seed(1).Stream("seq"))
	l := mechanismtest.Ledger(t)
	if _, err := m.OpenUsers(l, bits, nil); err == nil || !strings.Contains(err.Error(), "no storage") {
		t.Errorf("no spill: %v", err)
	}
	bad := m
	bad.Items = 0
	if _, err := bad.OpenUsers(l, bits, noSpill); err == nil || bad.Validate() == nil || m.Validate() != nil {
		t.Errorf("no items: %v", err)
	}
	if len(l.Entries()) != 0 {
		t.Error("refused after something was recorded")
	}
	run, err := m.OpenUsers(l, bits, noSpill)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := run.Sampler(0, 5); err == nil {
		t.Error("a range of users with ids")
	}
	s, err := run.UserSampler()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Row(3, []int32{0, 0, 1}); err == nil {
		t.Error("a user by number")
	}
	for _, row := range [][]int32{{1, 2}, {1, 2, 10}, {1, 2, 1}, {-1, 2, 1}} {
		before := slices.Clone(row)
		if err := s.RowOf(keyed(1), 0, row); err == nil || !slices.Equal(row, before) {
			t.Errorf("row %v: %v", before, err)
		}
	}
	if err := s.RowOf(keyed(1), 0, []int32{0, 1, 2}); err != nil { // a refused row is no claim
		t.Error(err)
	}
	if x := run.Retained(); x != (Retained{}) {
		t.Errorf("before the end: %+v", x)
	}
	if err := run.Finish(); err != nil {
		t.Error(err)
	}
	if _, err := run.UserSampler(); err == nil {
		t.Error("a sampler after the end")
	}
	ranges, err := m.Open(mechanismtest.Ledger(t), bits)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ranges.UserSampler(); err == nil {
		t.Error("users with ids in a run of numbered ones")
	}
	r, err := ranges.Sampler(0, 2)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.RowOf(keyed(1), 0, []int32{0, 1, 2}); err == nil {
		t.Error("a user by id")
	}
}

// The ends: the rows as they are, or nothing of them; secret bits never repeat.
func TestUserRunLimits(t *testing.T) {
	m := Mechanism{Purpose: "seq", Variant: SDPFixed, Epsilon: math.Inf(1), Items: 50, Length: 6, Limits: true}
	perturb := func(m Mechanism, b mechanism.Bits, rows []int32) []int32 {
		run, err := m.OpenUsers(mechanismtest.LedgerFor(t, b.Noise()), b, noSpill)
		if err != nil {
			t.Fatal(err)
		}
		s, err := run.UserSampler()
		if err != nil {
			t.Fatal(err)
		}
		rows = slices.Clone(rows)
		for u := range len(rows) / 6 {
			if err := s.RowOf(keyed(u), 0, rows[6*u:6*u+6]); err != nil {
				t.Fatal(err)
			}
		}
		if err := run.Finish(); err != nil {
			t.Fatal(err)
		}
		return rows
	}
	bits := mechanism.Keyed(rng.Seed(4).Stream("seq"))
	rows := someRows(40, 50, 6)
	if !slices.Equal(perturb(m, bits, rows), rows) || !slices.Equal(perturb(m, mechanism.Secret(), rows), rows) {
		t.Error("not the identity")
	}
	m.Epsilon = 0
	other := make([]int32, len(rows))
	m.Variant = RR
	if a, b := perturb(m, mechanism.Secret(), rows), perturb(m, mechanism.Secret(), rows); slices.Equal(a, b) || slices.Equal(a, other) {
		t.Error("secret bits repeat")
	}
}

// Under one seed, a user whose row is another one meets other noise. At next to no epsilon cells are uniform over 10,000
// items: four of 12 agree by chance with probability 5e-14.
func TestOtherRowsMeetOtherNoise(t *testing.T) {
	const items, length = 10_000, 12
	perturbed := func(first int32) []int32 {
		m := Mechanism{Purpose: "s", Variant: RR, Epsilon: 1e-9, Items: items, Length: length}
		run, err := m.OpenUsers(mechanismtest.Ledger(t), mechanism.Keyed(rng.Seed(11).Stream("seq")), noSpill)
		if err != nil {
			t.Fatal(err)
		}
		s, err := run.UserSampler()
		if err != nil {
			t.Fatal(err)
		}
		row := make([]int32, length)
		for k := range row {
			row[k] = first + int32(k)
		}
		if err := s.RowOf(keyed(5), 1, row); err != nil {
			t.Fatal(err)
		}
		return row
	}
	a, b, same := perturbed(1), perturbed(2), 0
	for k := range a {
		if a[k] == b[k] {
			same++
		}
	}
	if same > 3 {
		t.Errorf("%d of %d cells of another row are the same", same, length)
	}
	if !slices.Equal(a, perturbed(1)) {
		t.Error("the same row comes out otherwise the second time")
	}
}
