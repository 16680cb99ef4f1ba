package dataset

import (
	"crypto/sha256"
	"crypto/sha3"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"runtime"
	"sync"
)

// RowHash is a hash of private rows that does not depend on the order of users: every user's rows are hashed to 1024
// words of 16 bits, and the words of all users are added, each modulo 2^16. Hashes of disjoint groups of users can be
// joined, so rows in shards have the same hash as in memory.
//
// The noise of a run depends on it (run.Env.Noise), so nobody may choose rows that have the hash of other rows. It is
// the multiset hash LtHash: Bellare and Micciancio, "A new paradigm for collision-free hashing: incrementality at
// reduced cost" (EUROCRYPT 1997), with the parameters of Lewi, Kim, Maykov and Weis, "Securing update propagation with
// homomorphic hashing" (IACR ePrint 2019/227), where two sets with one hash give a short vector of a lattice; the
// security is about 200 bits. A plain sum of hashes modulo 2^256 is not enough: among the many users that one attacker
// may add, a subset with a wanted sum is found in far fewer than 2^128 steps (Wagner, "A generalized birthday problem",
// CRYPTO 2002).
type RowHash [1024]uint16

// RowDigest is the SHA-256 of a RowHash together with the ids of all items, in their order.
type RowDigest [sha256.Size]byte

// String returns the digest in hexadecimal.
func (d RowDigest) String() string { return hex.EncodeToString(d[:]) }

// Add adds a user with exactly these rows, as items ascending or in the order of their times. A user without rows adds
// nothing.
func (h *RowHash) Add(user string, items []int32) {
	var r userRows
	r.items(sectionTrain, items)
	h.add(user, r)
}

// Join adds the users of another hash.
func (h *RowHash) Join(x *RowHash) {
	for k := range h {
		h[k] += x[k]
	}
}

// Digest returns the digest of the users that were added and of the lists of items that their rows
// count in.
func (h *RowHash) Digest(lists ...[]string) (d RowDigest) {
	s := sha256.New()
	s.Write([]byte("privrec rows 1\x00"))
	var b []byte
	for _, ids := range lists {
		s.Write(binary.LittleEndian.AppendUint64(b[:0], uint64(len(ids))))
		for _, id := range ids {
			b = append(binary.AppendUvarint(b[:0], uint64(len(id))), id...)
			s.Write(b)
		}
	}
	b = b[:0]
	for _, w := range h {
		b = binary.LittleEndian.AppendUint16(b, w)
	}
	s.Write(b)
	s.Sum(d[:0])
	return d
}

// MarshalText returns the words as text, for programs that add up in shards.
func (h RowHash) MarshalText() ([]byte, error) {
	b := make([]byte, 0, 2*len(h))
	for _, w := range h {
		b = binary.LittleEndian.AppendUint16(b, w)
	}
	return base64.StdEncoding.AppendEncode(nil, b), nil
}

// UnmarshalText parses the text of MarshalText.
func (h *RowHash) UnmarshalText(text []byte) error {
	b, err := base64.StdEncoding.AppendDecode(nil, text)
	if err != nil || len(b) != 2*len(h) {
		return fmt.Errorf("hash of rows: want %d bytes in base64", 2*len(h))
	}
	for k := range h {
		h[k] = binary.LittleEndian.Uint16(b[2*k:])
	}
	return nil
}

// Sections of a user's rows. A section without values is left out.
const (
	sectionTrain = 'a' + iota
	sectionLabels
	sectionValid
	sectionTest
	sectionRatings
	sectionTimes
	sectionTimesValid
	sectionTimesTest
	sectionFeatures
	sectionSecond // the sections of a second domain begin here: its training rows, labels and so on
)

// userRows holds a user's rows as bytes. No two different lists of sections give the same bytes.
type userRows []byte

func (r *userRows) begin(section byte, n int) bool {
	if n > 0 {
		*r = binary.AppendUvarint(append(*r, section), uint64(n))
	}
	return n > 0
}

func (r *userRows) items(section byte, items []int32) {
	if r.begin(section, len(items)) {
		for _, i := range items {
			*r = binary.AppendUvarint(*r, uint64(uint32(i)))
		}
	}
}

func (r *userRows) values(values []float32) {
	if r.begin(sectionRatings, len(values)) {
		for _, v := range values {
			*r = binary.LittleEndian.AppendUint32(*r, math.Float32bits(v))
		}
	}
}

func (r *userRows) times(section byte, times []int64) {
	if r.begin(section, len(times)) {
		for _, v := range times {
			*r = binary.LittleEndian.AppendUint64(*r, uint64(v))
		}
	}
}

func (r *userRows) text(s string) { *r = append(binary.AppendUvarint(*r, uint64(len(s))), s...) }

// features appends the known features of user u.
func (r *userRows) features(f *Features, u int) {
	if f == nil {
		return
	}
	var all userRows
	known := 0
	for i := range f.Columns {
		c := &f.Columns[i]
		switch {
		case c.Kind == Numeric && !math.IsNaN(c.Numbers[u]):
			all.text(c.Name)
			all = binary.LittleEndian.AppendUint64(append(all, 'n'), math.Float64bits(c.Numbers[u]))
		case c.Kind == Categorical && c.Codes[u] >= 0:
			all.text(c.Name)
			all = append(all, 'c')
			all.text(c.Levels[c.Codes[u]])
		default:
			continue
		}
		known++
	}
	if r.begin(sectionFeatures, known) {
		*r = append(*r, all...)
	}
}

// add adds a user with these rows.
func (h *RowHash) add(user string, rows userRows) {
	if len(rows) == 0 {
		return
	}
	x := sha3.NewSHAKE128()
	x.Write(binary.AppendUvarint([]byte("privrec user 1\x00"), uint64(len(user))))
	x.Write([]byte(user))
	x.Write(rows)
	var b [2 * len(h)]byte
	x.Read(b[:])
	for k := range h {
		h[k] += binary.LittleEndian.Uint16(b[2*k:])
	}
}

// hashUsers returns the hash of all users of a data set. It uses all processors: the sum does not depend on who adds
// what.
func hashUsers(ids []string, of func(r *userRows, u int)) *RowHash {
	workers := min(runtime.GOMAXPROCS(0), len(ids)/256+1)
	parts := make([]RowHash, workers)
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			var r userRows
			for u := len(ids) * w / workers; u < len(ids)*(w+1)/workers; u++ {
				r = r[:0]
				of(&r, u)
				parts[w].add(ids[u], r)
			}
		})
	}
	wg.Wait()
	for w := 1; w < workers; w++ {
		parts[0].Join(&parts[w])
	}
	return &parts[0]
}

// Rows returns the digest of all private input: the ids, rows, parts, values and features of users.
func (x *Interactions) Rows() RowDigest {
	return hashUsers(x.UserIDs, func(r *userRows, u int) {
		r.items(sectionTrain, at(x.Train, u))
		r.items(sectionLabels, at(x.Labels, u))
		r.items(sectionValid, at(x.Valid, u))
		r.items(sectionTest, at(x.Test, u))
		r.values(at(x.Ratings, u))
		r.features(x.Features, u)
	}).Digest(x.ItemIDs)
}

// TrainRows returns the digest of the ids and training rows of users alone, for methods that read
// nothing else. Rows that are added up in shards have the same (RowHash.Add).
func (x *Interactions) TrainRows() RowDigest {
	return hashUsers(x.UserIDs, func(r *userRows, u int) { r.items(sectionTrain, at(x.Train, u)) }).Digest(x.ItemIDs)
}

// Rows returns the digest of all private input: the ids, sequences, parts, values, times and features
// of users.
func (s *Sequential) Rows() RowDigest {
	times := s.Times
	if times == nil {
		times = &Times{}
	}
	return hashUsers(s.UserIDs, func(r *userRows, u int) {
		r.items(sectionTrain, at(s.Train, u))
		r.items(sectionValid, at(s.Valid, u))
		r.items(sectionTest, at(s.Test, u))
		r.values(at(s.Ratings, u))
		r.times(sectionTimes, at(times.Train, u))
		r.times(sectionTimesValid, at(times.Valid, u))
		r.times(sectionTimesTest, at(times.Test, u))
		r.features(s.Features, u)
	}).Digest(s.ItemIDs)
}

// Rows returns the digest of all private input: the ids of users, and their sequences in both domains.
func (c *Cross) Rows() RowDigest {
	return hashUsers(c.UserIDs, func(r *userRows, u int) {
		for k := range c.Domains {
			d, to := &c.Domains[k], byte(0)
			if k > 0 {
				to = sectionSecond - sectionTrain
			}
			r.items(sectionTrain+to, at(d.Train, u))
			r.items(sectionValid+to, d.Valid[u:u+1])
			r.items(sectionTest+to, d.Test[u:u+1])
		}
	}).Digest(c.Domains[0].ItemIDs, c.Domains[1].ItemIDs)
}
