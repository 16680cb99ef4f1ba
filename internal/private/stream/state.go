package stream

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"path/filepath"
	"slices"

	"privrec/internal/run"
	"privrec/internal/system"
)

// stateName names the file of what a stream remembers between two commands. It is secret.
const stateName = "state.safetensors"

// progress is the part of the state that is not numbers of sums.
type progress struct {
	Step  int     `json:"step"`            // releases that were made
	Files []added `json:"files,omitempty"` // all that were added
	Chain string  `json:"chain"`           // digest of what is fixed, all files, and the steps that they are in
	// Day is the latest day of the files in the released steps, Open that of the open step; "" where none was stated.
	Day  string `json:"day,omitempty"`
	Open string `json:"open,omitempty"`

	Total Tally `json:"total"` // of all files
	Users int   `json:"users"` // length of the list of users in the state, in bytes
}

// added is a file of rows that was added.
type added struct {
	Digest string `json:"digest"`
	Step   int    `json:"step"` // the release that shows its rows first
}

// save replaces the state on disk. It is whole before and after.
func (f *Folder) save() error {
	users := f.sums.pack()
	f.now.Users = len(users)
	meta, err := json.Marshal(f.now)
	if err != nil {
		return err
	}
	var tensors []run.NamedTensor
	add := func(name string, data any, n int) {
		tensors = append(tensors, run.NamedTensor{Name: name, Shape: []int{n}, Data: data})
	}
	for _, x := range f.series() {
		st := x.series.state()
		add(x.name+".exact", x.exact, len(x.exact))
		add(x.name+".total", st.Total, len(st.Total))
		add(x.name+".memory", st.Memory, len(st.Memory))
		past := slices.Concat(st.Past...)
		if past == nil {
			past = []int64{}
		}
		add(x.name+".past", past, len(past))
	}
	words := make([]int64, (len(users)+7)/8)
	users = append(users, make([]byte, 8*len(words)-len(users))...)
	for k := range words {
		words[k] = int64(binary.LittleEndian.Uint64(users[8*k:]))
	}
	add("users", words, len(words))
	return system.WritePrivate(filepath.Join(f.Dir, stateName), func(w io.Writer) error {
		return run.WriteSafetensors(w, tensors, map[string]string{"stream": f.ID, "progress": string(meta)})
	})
}

// load reads the state from disk.
func (f *Folder) load() error {
	path := filepath.Join(f.Dir, stateName)
	tensors, meta, err := run.ReadSafetensors(path)
	if err != nil {
		return fmt.Errorf("read the state of the stream: %w", err)
	}
	bad := func(what string) error { return fmt.Errorf("read the state of the stream: %s: %s", path, what) }
	if meta["stream"] != f.ID {
		return bad("it is of another stream")
	}
	if err := json.Unmarshal([]byte(meta["progress"]), &f.now); err != nil {
		return bad(err.Error())
	}
	whole, real := map[string][]int64{}, map[string][]float64{}
	for _, t := range tensors {
		switch data := t.Data.(type) {
		case []int64:
			whole[t.Name] = data
		case []float64:
			real[t.Name] = data
		}
	}
	f.sums = NewSums(f.Settings, f.Catalogue)
	users := make([]byte, 0, 8*len(whole["users"]))
	for _, v := range whole["users"] {
		users = binary.LittleEndian.AppendUint64(users, uint64(v))
	}
	if f.now.Users < 0 || f.now.Users > len(users) {
		return bad("the list of users is cut off")
	}
	if err := f.sums.unpack(users[:f.now.Users]); err != nil {
		return bad(err.Error())
	}
	if len(whole["counts.exact"]) != len(f.sums.Counts) || len(whole["matrix.exact"]) != len(f.sums.Matrix) {
		return bad("it is of another catalogue")
	}
	f.sums.Counts, f.sums.Matrix = whole["counts.exact"], whole["matrix.exact"]
	return f.open(func(name string, width int) seriesState {
		st := seriesState{Step: f.now.Step, Memory: real[name+".memory"], Total: real[name+".total"]}
		for past := range slices.Chunk(whole[name+".past"], width) {
			st.Past = append(st.Past, slices.Clone(past))
		}
		return st
	})
}

// pack returns what all users contributed, by ascending id.
func (x *Sums) pack() []byte {
	var b []byte
	for _, id := range slices.Sorted(maps.Keys(x.users)) {
		u := x.users[id]
		b = append(binary.AppendUvarint(b, uint64(len(id))), id...)
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(u.factor))
		b = binary.AppendUvarint(b, u.used)
		for _, list := range [][]int32{u.rows, u.counted} {
			b = binary.AppendUvarint(b, uint64(len(list)))
			before := int32(0)
			for _, i := range list {
				b = binary.AppendUvarint(b, uint64(i-before))
				before = i
			}
		}
	}
	return b
}

// unpack reads what pack wrote.
func (x *Sums) unpack(b []byte) error {
	cut := errors.New("the list of users is damaged")
	number := func() uint64 {
		v, n := binary.Uvarint(b)
		if n <= 0 {
			b = nil
			return math.MaxUint64
		}
		b = b[n:]
		return v
	}
	for len(b) > 0 {
		n := number()
		if n > uint64(len(b)) || uint64(len(b))-n < 8 {
			return cut
		}
		id, u := string(b[:n]), &user{}
		u.factor = math.Float64frombits(binary.LittleEndian.Uint64(b[n:]))
		b = b[n+8:]
		u.used = number()
		for _, to := range []struct {
			list  *[]int32
			bound int
		}{{&u.rows, len(x.weights)}, {&u.counted, len(x.place)}} {
			n, at := number(), uint64(0)
			if n > uint64(to.bound) {
				return cut
			}
			for range n {
				more := number()
				if more >= uint64(to.bound)-at {
					return cut
				}
				at += more
				*to.list = append(*to.list, int32(at))
			}
		}
		x.users[id] = u
	}
	return nil
}
