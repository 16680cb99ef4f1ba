package parquet

import (
	"encoding/binary"
	"errors"
)

var errRuns = errors.New("runs of values are damaged")

// runs decodes n whole numbers of a bit width from the hybrid of run lengths and bit packing, and calls each with every
// one.
func runs(b []byte, width, n int, each func(v uint32) error) error {
	if width > 32 {
		return errRuns
	}
	size := (width + 7) / 8
	for n > 0 {
		head, used := binary.Uvarint(b)
		if used <= 0 {
			return errRuns
		}
		b = b[used:]
		if head&1 == 0 {
			count := head >> 1
			if count == 0 || len(b) < size {
				return errRuns
			}
			v := uint32(0)
			for i := range size {
				v |= uint32(b[i]) << (8 * i)
			}
			b = b[size:]
			if width < 32 && v>>width != 0 {
				return errRuns
			}
			for range min(count, uint64(n)) {
				if err := each(v); err != nil {
					return err
				}
			}
			n -= int(min(count, uint64(n)))
			continue
		}
		groups := head >> 1 // of eight values
		if groups == 0 || groups > uint64(len(b)) && width > 0 {
			return errRuns
		}
		count := min(int(min(groups, 1<<28))*8, n)
		if need := (count*width + 7) / 8; need > len(b) {
			return errRuns
		}
		for i := range count {
			v := uint32(0)
			for k := range width {
				bit := i*width + k
				v |= uint32(b[bit/8]>>(bit%8)&1) << k
			}
			if err := each(v); err != nil {
				return err
			}
		}
		b = b[min(len(b), int(min(groups, 1<<28))*width):]
		n -= count
	}
	return nil
}
