package channel

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
)

// keyedByPart separates the streams of releases keyed by part from the others. No key given to
// Begin may start with it.
const keyedByPart = math.MaxUint64

// maxKey is the largest number of components of a key, its part included.
const maxKey = 5

// usedKeys remembers which keys a channel used, since two values with the same noise reveal their difference. The first
// component of a key, the pass over the data, never descends, and only the keys of the current pass are kept, 64 to a
// block. So the keys of one pass bound the memory: about 100 bytes a key at worst, and about two if the last components
// are dense. Keys are stored whole, so a new key is never mistaken for a used one.
type usedKeys struct {
	pass   uint64
	blocks map[keyBlock]uint64 // bit i: last component 64 at + i
}

// keyBlock identifies 64 keys that differ only in their last component.
type keyBlock struct {
	size   uint8 // components of the key
	parts  bool  // the last one is a part
	middle [maxKey - 2]uint64
	at     uint64 // last component / 64
}

// enter begins a pass or continues it.
func (u *usedKeys) enter(pass uint64) error {
	if pass < u.pass {
		return fmt.Errorf("key of pass %d after one of pass %d: the first component must not descend", pass, u.pass)
	}
	if pass > u.pass {
		clear(u.blocks)
		u.pass = pass
	}
	return nil
}

// whole marks the key of a release as used.
func (u *usedKeys) whole(key []uint64) error {
	if len(key) > maxKey {
		return fmt.Errorf("key of %d components, want at most %d", len(key), maxKey)
	}
	b, last := keyBlock{size: uint8(len(key))}, uint64(0)
	if len(key) > 0 {
		if key[0] == keyedByPart {
			return fmt.Errorf("key starts with %d, which is reserved", key[0])
		}
		if err := u.enter(key[0]); err != nil {
			return err
		}
	} else if err := u.enter(0); err != nil {
		return err
	}
	if len(key) > 1 {
		copy(b.middle[:], key[1:len(key)-1])
		last = key[len(key)-1]
	}
	if !u.set(b, last) {
		return fmt.Errorf("key %v is used twice: the noise would be the same", slices.Clone(key))
	}
	return nil
}

// byPart marks (key, part) as used for every part.
func (u *usedKeys) byPart(key []uint64, parts []int32) error {
	if len(key) < 1 || len(key) >= maxKey {
		return fmt.Errorf("key of %d components, want 1 to %d", len(key), maxKey-1)
	}
	if err := u.enter(key[0]); err != nil {
		return err
	}
	b := keyBlock{size: uint8(len(key) + 1), parts: true}
	copy(b.middle[:], key[1:])
	for _, p := range parts {
		if p < 0 {
			return fmt.Errorf("part %d of key %v, want at least 0", p, slices.Clone(key))
		}
		if !u.set(b, uint64(p)) {
			return fmt.Errorf("part %d of key %v is used twice: the noise would be the same", p, slices.Clone(key))
		}
	}
	return nil
}

// hasParts reports whether (key, part) was used for every part in the current pass; if not, missing is a part for which
// it was not.
func (u *usedKeys) hasParts(key []uint64, parts []int32) (missing int32, ok bool) {
	for _, p := range parts {
		if len(key) < 1 || len(key) >= maxKey || key[0] != u.pass || p < 0 {
			return p, false
		}
		b := keyBlock{size: uint8(len(key) + 1), parts: true, at: uint64(p) / 64}
		copy(b.middle[:], key[1:])
		if u.blocks[b]>>(uint64(p)%64)&1 == 0 {
			return p, false
		}
	}
	return 0, true
}

// set marks a key as used. ok is false if it was used already.
func (u *usedKeys) set(b keyBlock, last uint64) (ok bool) {
	b.at = last / 64
	bit := uint64(1) << (last % 64)
	old := u.blocks[b]
	if old&bit != 0 {
		return false
	}
	if u.blocks == nil {
		u.blocks = map[keyBlock]uint64{}
	}
	u.blocks[b] = old | bit
	return true
}

// state returns the blocks in ascending order, each as its size (plus 16 for parts), the middle
// components, the block and its bits; nil if there are none.
func (u *usedKeys) state() (list [][]uint64) {
	for b, bits := range u.blocks {
		head := uint64(b.size)
		if b.parts {
			head += byPartFlag
		}
		row := append([]uint64{head}, b.middle[:max(2, b.size)-2]...)
		list = append(list, append(row, b.at, bits))
	}
	slices.SortFunc(list, slices.Compare[[]uint64])
	return list
}

const byPartFlag = 16

// restore puts back a list from state. It fails on a list that state would not return.
func (u *usedKeys) restore(pass uint64, list [][]uint64) error {
	blocks := make(map[keyBlock]uint64, len(list))
	for i, row := range list {
		b, bits, err := parseBlock(pass, row)
		if err != nil {
			return fmt.Errorf("used keys %d: %w", i, err)
		}
		if i > 0 && slices.CompareFunc(list[i-1][:len(list[i-1])-1], row[:len(row)-1], cmp.Compare[uint64]) >= 0 {
			return fmt.Errorf("used keys %d: not in ascending order", i)
		}
		blocks[b] = bits
	}
	u.pass, u.blocks = pass, blocks
	return nil
}

func parseBlock(pass uint64, row []uint64) (b keyBlock, bits uint64, err error) {
	if len(row) < 3 {
		return b, 0, errors.New("too short")
	}
	size := row[0] &^ byPartFlag
	b.parts = row[0]&byPartFlag != 0
	if size > maxKey || len(row) != int(max(2, size))+1 {
		return b, 0, fmt.Errorf("%d numbers for keys of %d components", len(row), size)
	}
	b.size, b.at, bits = uint8(size), row[len(row)-2], row[len(row)-1]
	copy(b.middle[:], row[1:len(row)-2])
	switch {
	case bits == 0, b.at > math.MaxUint64/64:
		err = errors.New("out of range")
	case b.parts && (size < 2 || b.at > math.MaxInt32/64):
		err = errors.New("not parts")
	case !b.parts && pass == keyedByPart && size > 0, size == 0 && pass != 0, size < 2 && (b.at != 0 || bits != 1):
		err = errors.New("not a key of this pass")
	}
	return b, bits, err
}
