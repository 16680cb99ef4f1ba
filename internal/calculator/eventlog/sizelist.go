package eventlog

import (
	"bytes"
	"fmt"
	"slices"

	"privrec/internal/config"
)

// largeText is the number of bytes from which the lists of batch sizes of a text are read separately. A general YAML
// reader takes several hundred bytes for each number.
const largeText = 1 << 20

// parse reads a document into a value of a type that holds events. logs returns its logs. For a large text, the lists
// of batch sizes are removed before and put into the logs after.
func parse[C any](path string, text []byte, logs func(*C) []*Log) (C, *config.Document, error) {
	var none C
	if len(text) > largeText {
		short, lists := lift(text)
		out, doc, err := config.ParseUpTo(maxBytes, path, short, nil, none)
		if err == nil && put(logs(&out), lists) {
			return out, doc, nil
		}
	}
	return config.ParseUpTo(maxBytes, path, text, nil, none)
}

// put puts lists into the logs with their marks, and reports whether each list found its log.
func put(logs []*Log, lists [][]int64) bool {
	used := 0
	for _, l := range logs {
		if len(l.BatchSizes) == 1 && l.BatchSizes[0] < 0 {
			k := -l.BatchSizes[0] - 1
			if k >= int64(len(lists)) || lists[k] == nil {
				return false
			}
			l.BatchSizes, lists[k] = lists[k], nil
			used++
		}
	}
	return used == len(lists)
}

var sizesKey = []byte("batch_sizes")

// lift replaces each list of batch sizes in brackets of a text by a mark and spaces. The mark of list k is -1-k, which
// is never a size. Lists with anything but whole numbers stay.
func lift(text []byte) (short []byte, lists [][]int64) {
	short = bytes.Clone(text)
	for at := 0; ; {
		i := bytes.Index(short[at:], sizesKey)
		if i < 0 {
			return short, lists
		}
		at += i + len(sizesKey)
		first, end, list := list64(short, at)
		if list == nil {
			continue
		}
		mark := fmt.Appendf(nil, "%d", -1-len(lists))
		if len(mark) > end-first {
			continue
		}
		for j := first; j < end; j++ {
			if c := short[j]; c != '\n' && c != '\r' {
				short[j] = ' '
			}
		}
		if bytes.ContainsAny(short[first:first+len(mark)], "\r\n") {
			first = end - len(mark)
		}
		copy(short[first:], mark)
		lists, at = append(lists, list), end
	}
}

// list64 reads a list of whole numbers in brackets, the value of a key that ends at a position. The list spans first to
// end, without its brackets; nil: there is no list, or it has other values.
func list64(text []byte, at int) (first, end int, list []int64) {
	space := func() {
		for at < len(text) && bytes.IndexByte([]byte(" \t\r\n"), text[at]) >= 0 {
			at++
		}
	}
	for _, c := range []byte(`":[`) {
		space()
		if at < len(text) && text[at] == c {
			at++
		} else if c != '"' {
			return 0, 0, nil
		}
	}
	first = at
	list = []int64{}
	for {
		space()
		from := at
		n := int64(0)
		for at < len(text) && text[at] >= '0' && text[at] <= '9' && at-from < 16 {
			n, at = 10*n+int64(text[at]-'0'), at+1
		}
		if at == from || at-from > 1 && text[from] == '0' {
			return 0, 0, nil
		}
		list = append(list, n)
		space()
		switch {
		case at < len(text) && text[at] == ',':
			at++
		case at < len(text) && text[at] == ']':
			return first, at, slices.Clip(list)
		default:
			return 0, 0, nil
		}
	}
}
