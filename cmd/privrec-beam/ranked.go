package main

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"privrec/internal/dataset/format"
	"privrec/internal/tensor"
)

// evaluateKind is the name of the command that ranks.
const evaluateKind = "evaluate"

// Kinds of a user's rows. Rows come in this order.
const (
	isVector = iota
	isTrain
	isTruth
	isIrrelevant // truth with a relevance below 1
)

// rankCounts counts the users of a shard and their rows.
type rankCounts struct {
	Users         int64  `json:"users"`
	Vectors       int64  `json:"users_with_a_vector"`
	TestUsers     int64  `json:"test_users"`
	Unlisted      int64  `json:"test_users_without_a_vector"`
	TrainRows     int64  `json:"train_rows"`
	TestRows      int64  `json:"test_rows"`
	UnseenUsers   int64  `json:"test_users_without_training_rows"`
	UnseenItems   int64  `json:"test_items_without_training_rows"`
	RepeatedTrain int64  `json:"repeated_training_rows"`
	RepeatedTruth int64  `json:"repeated_truth_rows"`
	Irrelevant    int64  `json:"truth_rows_with_a_relevance_below_1"`
	TruthTrained  int64  `json:"truth_rows_that_were_trained_on"`
	Vectorless    int64  `json:"items_without_a_vector"`
	Words         int64  `json:"users_whose_id_is_no_number"`
	Strange       string `json:"strange,omitempty"` // file of items without a vector
}

// add adds the counts of other users.
func (c *rankCounts) add(x rankCounts) {
	for _, p := range []struct{ to, of *int64 }{
		{&c.Users, &x.Users}, {&c.Vectors, &x.Vectors}, {&c.TestUsers, &x.TestUsers}, {&c.Unlisted, &x.Unlisted},
		{&c.TrainRows, &x.TrainRows},
		{&c.TestRows, &x.TestRows}, {&c.UnseenUsers, &x.UnseenUsers}, {&c.RepeatedTrain, &x.RepeatedTrain},
		{&c.RepeatedTruth, &x.RepeatedTruth},
		{&c.Irrelevant, &x.Irrelevant}, {&c.TruthTrained, &x.TruthTrained}, {&c.Words, &x.Words},
	} {
		*p.to += *p.of
	}
}

// rankRows reads vectors of users and their rows, and keeps the users of a shard, on a worker.
type rankRows struct {
	o      *ranking
	file   int // that is read
	inputs []string
	goods  *goods
	bad    func(b badRow) error

	id, item, relevance int

	counts  rankCounts
	items   []int64         // training rows, by item with a vector, and then rows of the truth
	strange map[string]bool // items without a vector, and whether the truth has them
	u       rankedUser
	at      []byte // the user's id
	some    bool   // rows of the user are good
	began   bool
	out     *os.File
	keep    pieceWriter
	buf     []byte
}

// kindOf returns the kind of the rows of the file.
func (k *rankRows) kindOf() int {
	tables := len(k.inputs) - len(k.o.Users)
	switch {
	case k.file >= tables:
		return isVector
	case k.file >= tables-k.o.Truth:
		return isTruth
	}
	return isTrain
}

func (k *rankRows) isVectors() bool { return k.kindOf() == isVector }

func (k *rankRows) readVectors(ctx context.Context, dir string,
	add func(user, held []byte, p place) error) (string, error) {
	path := k.inputs[k.file]
	s, err := readSide(ctx, k.o.side(k.file-(len(k.inputs)-len(k.o.Users))), 0, dir)
	if err != nil {
		return "", err
	}
	if s.Rows.Cols != k.goods.rows.Cols {
		return "", fmt.Errorf("%s: users have %d numbers each, and items %d: are rows and columns of one of them "+
			"exchanged?", path, s.Rows.Cols, k.goods.rows.Cols)
	}
	for i, id := range s.IDs {
		k.buf = k.buf[:0]
		for _, x := range tensor.Row(s.Rows, i) {
			k.buf = binary.LittleEndian.AppendUint64(k.buf, math.Float64bits(float64(x)))
		}
		if err := add([]byte(id), append([]byte{isVector}, k.buf...),
			place{time: isVector, line: uint64(i + 1)}); err != nil {
			return "", err
		}
	}
	return s.Files[0].SHA256, nil
}

func (k *rankRows) columns(r *format.Rows) (err error) {
	k.id, k.item, k.relevance = 0, 1, -1
	if r.Form() == format.Lines {
		return nil
	}
	if k.id, err = r.Column("user_id"); err != nil {
		return err
	}
	if k.item, err = r.Column("item_id"); err != nil {
		return err
	}
	if k.kindOf() == isTruth {
		k.relevance = slices.Index(r.Columns, "relevance")
	}
	return nil
}

func (k *rankRows) row(r *format.Rows, add func(user, held []byte, p place) error) error {
	id, kind := r.Fields[k.id], k.kindOf()
	if len(id) == 0 {
		return r.Fail("user_id", "empty", "")
	}
	items := r.Fields[k.item : k.item+1]
	if r.Form() == format.Lines {
		items = r.Fields[1:]
	}
	for _, x := range items {
		if len(x) == 0 {
			return r.Fail("item_id", "empty", "")
		}
		if _, ok := k.goods.place[string(x)]; !ok && kind == isTrain {
			return r.Fail("item_id", fmt.Sprintf("%.40q has no vector", x), "")
		}
	}
	what := byte(kind)
	if k.relevance >= 0 {
		v, err := strconv.ParseFloat(string(r.Fields[k.relevance]), 64)
		if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
			return r.Fail("relevance", fmt.Sprintf("%.40q is no finite number", r.Fields[k.relevance]), "")
		}
		if v < 1 {
			what = isIrrelevant
		}
	}
	p := place{time: int64(what), line: uint64(r.Line())}
	for _, x := range items {
		k.buf = append(append(k.buf[:0], what), x...)
		if err := add(id, k.buf, p); err != nil {
			return err
		}
	}
	return nil
}

// rankedUser holds a user: a vector, and the items of training rows and of the truth. Items are numbers among those
// with a vector.
type rankedUser struct {
	vector  []tensor.Float // nil: none
	train   []int32
	truth   []int32
	strange []string // file of items without a vector
}

func (k *rankRows) begin(dir string) (err error) {
	k.items, k.strange = make([]int64, 2*len(k.goods.ids)), map[string]bool{}
	if k.out, err = os.Create(filepath.Join(dir, "ranked")); err != nil {
		return err
	}
	k.keep.w = bufio.NewWriterSize(k.out, 1<<17)
	return nil
}

func (k *rankRows) user(id []byte) error {
	err := k.flush()
	k.at, k.some, k.began = append(k.at[:0], id...), false, true
	k.u = rankedUser{vector: k.u.vector[:0], train: k.u.train[:0], truth: k.u.truth[:0], strange: k.u.strange[:0]}
	return err
}

func (k *rankRows) held(key, held []byte) error {
	file, line := whereOf(key)
	switch what, item := held[0], held[1:]; what {
	case isVector:
		if len(k.u.vector) > 0 {
			return k.bad(badRow{k.inputs[file], line, "user: a second vector", string(k.at)})
		}
		for ; len(item) > 0; item = item[8:] {
			k.u.vector = append(k.u.vector, tensor.Float(math.Float64frombits(binary.LittleEndian.Uint64(item))))
		}
		k.some = true
	case isTrain:
		if len(k.u.vector) == 0 {
			return k.bad(badRow{k.inputs[file], line, "user_id: has no vector", string(k.at) + " " + string(item)})
		}
		k.u.train = append(k.u.train, k.goods.place[string(item)])
	case isTruth:
		k.some = true
		if i, ok := k.goods.place[string(item)]; ok {
			k.u.truth = append(k.u.truth, i)
		} else {
			k.u.strange = append(k.u.strange, string(item))
		}
	case isIrrelevant: // its item is among those of the files all the same
		k.some = true
		k.counts.Irrelevant++
		if _, ok := k.goods.place[string(item)]; !ok {
			k.strange[string(item)] = k.strange[string(item)]
		}
	}
	return nil
}

// flush counts and keeps the current user.
func (k *rankRows) flush() error {
	if !k.began || !k.some {
		return nil
	}
	u, c := &k.u, &k.counts
	c.Users++
	if _, err := strconv.ParseInt(string(k.at), 10, 64); err != nil {
		c.Words++
	}
	u.train = once(u.train, &c.RepeatedTrain)
	u.truth = once(u.truth, &c.RepeatedTruth)
	u.strange = once(u.strange, &c.RepeatedTruth)
	if len(u.vector) > 0 {
		c.Vectors++
	}
	for _, i := range u.train {
		k.items[i]++
	}
	for _, i := range u.truth {
		k.items[len(k.goods.ids)+int(i)]++
		if _, had := slices.BinarySearch(u.train, i); had {
			c.TruthTrained++
		}
	}
	for _, id := range u.strange {
		k.strange[id] = true
	}
	c.TrainRows += int64(len(u.train))
	if n := len(u.truth) + len(u.strange); n > 0 {
		c.TestRows += int64(n)
		c.TestUsers++
		if len(u.vector) == 0 {
			c.Unlisted++
		}
		if len(u.train) == 0 {
			c.UnseenUsers++
		}
	}
	return k.keep.add(k.at, u.append(nil))
}

// once sorts a list and keeps each entry once.
func once[T int32 | string](list []T, repeated *int64) []T {
	slices.Sort(list)
	short := slices.Compact(list)
	*repeated += int64(len(list) - len(short))
	return short
}

// append appends the user in the form that read reads.
func (u *rankedUser) append(b []byte) []byte {
	b = binary.AppendUvarint(b, uint64(len(u.vector)))
	for _, x := range u.vector {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(float64(x)))
	}
	b = appendItems(appendItems(b, u.train), u.truth)
	for _, id := range u.strange {
		b = append(binary.AppendUvarint(b, uint64(len(id))), id...)
	}
	return b
}

// errUser is the error for a user that append did not write.
var errUser = errors.New("a damaged user")

// read reads a user.
func (u *rankedUser) read(b []byte) (err error) {
	n, used := binary.Uvarint(b)
	if used <= 0 || n > uint64(len(b)-used)/8 {
		return errUser
	}
	b = b[used:]
	u.vector, u.strange = nil, nil
	for range n {
		u.vector = append(u.vector, tensor.Float(math.Float64frombits(binary.LittleEndian.Uint64(b))))
		b = b[8:]
	}
	if u.train, b, err = readItems(nil, b); err != nil {
		return err
	}
	if u.truth, b, err = readItems(nil, b); err != nil {
		return err
	}
	for len(b) > 0 {
		n, used := binary.Uvarint(b)
		if used <= 0 || n > uint64(len(b)-used) {
			return errUser
		}
		u.strange, b = append(u.strange, string(b[used:used+int(n)])), b[used+int(n):]
	}
	return nil
}

func (k *rankRows) end() error {
	if err := k.flush(); err != nil {
		return err
	}
	return closed(k.keep.w, k.out)
}

func (k *rankRows) users() int64 { return k.counts.Users }

// write stores counts and users where the driver and other workers find them.
func (k *rankRows) write(ctx context.Context, work string, note *shardNote) error {
	name := fmt.Sprintf("%05d-%s", note.Shard, attempt())
	note.Sums, note.Kept, note.Ranking = join(work, "items-"+name), join(work, "users-"+name), &k.counts
	if len(k.strange) > 0 {
		k.counts.Strange = join(work, "strange-"+name)
		if err := writeIDs(ctx, k.counts.Strange, k.strange); err != nil {
			return err
		}
	}
	if err := writeSums(ctx, note.Sums, k.items); err != nil {
		return err
	}
	return copyFile(ctx, k.out.Name(), note.Kept, false)
}

// byNumber returns the order of users on one machine: by number if all ids are numbers, otherwise by bytes.
func byNumber(numbers bool) func(a, b []byte) int {
	if !numbers {
		return slices.Compare[[]byte]
	}
	return func(a, b []byte) int {
		x, _ := strconv.ParseInt(string(a), 10, 64) // all users' ids were found to be numbers
		y, _ := strconv.ParseInt(string(b), 10, 64)
		switch {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return slices.Compare(a, b)
	}
}
