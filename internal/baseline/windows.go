package baseline

// window is a stretch of a sequence that is read at once, with its labels.
type window struct {
	user       int32
	start, end int32 // places [start, end) of the user's sequence; the last of them is only a label
	first      int32 // the labels are the places [first, end)
}

// windows returns windows in which each item but a user's first is a label once. A window reads at most length items.
// The first window of a user learns all of its labels. Each further one learns the next stride labels, or those that
// are left, each from at least length-stride+1 items before it. A stride of 1 gives every prefix a window of its own,
// cut to its latest length items, as the augmentation of Tan, Xu, Liu (DLRS 2016) does. A prefix of up to length items
// is then part of the first window, which is the same for a model that only looks back. stride lies in 1..length.
func windows(sequences [][]int32, length, stride int) []window {
	var all []window
	for u, s := range sequences {
		for first := 1; first < len(s); {
			end := min(len(s), first+stride)
			if first == 1 {
				end = min(len(s), length+1)
			}
			all = append(all, window{user: int32(u), start: int32(max(0, end-1-length)), end: int32(end),
				first: int32(first)})
			first = end
		}
	}
	return all
}
