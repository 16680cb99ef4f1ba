package slate

// owning returns the users of pairs that were published without them. A slate without its unknown items is contiguous
// in the log of its user, whose unknown items were deleted too. If several users fit or no item of the slate is left,
// the clicks must also be in the log, in their order. It returns -1 for a pair unless exactly one candidate is left.
func owning(rows []pairRow, candidates []int32, shown [][]int32) []int32 {
	met := map[int32][]int32{} // item -> candidates to whom it was shown
	for _, u := range candidates {
		for _, x := range distinct(shown[u]) {
			met[x] = append(met[x], u)
		}
	}
	out := make([]int32, len(rows))
	for i, r := range rows {
		left := candidates
		if len(r.slate) > 0 {
			for _, x := range r.slate {
				if len(met[x]) < len(left) {
					left = met[x]
				}
			}
			left = keep(left, func(u int32) bool { return contains(shown[u], r.slate) })
		}
		if len(left) != 1 {
			left = keep(left, func(u int32) bool { return embeds(shown[u], r.behaviour) })
		}
		out[i] = -1
		if len(left) == 1 {
			out[i] = left[0]
		}
	}
	return out
}

func keep(users []int32, ok func(int32) bool) []int32 {
	var out []int32
	for _, u := range users {
		if ok(u) {
			out = append(out, u)
		}
	}
	return out
}

// contains reports whether part is in log without gaps.
func contains(log, part []int32) bool {
next:
	for i := 0; i+len(part) <= len(log); i++ {
		for j, x := range part {
			if log[i+j] != x {
				continue next
			}
		}
		return true
	}
	return false
}

// embeds reports whether a behaviour, latest click first, occurs in log in its order, with or without gaps.
func embeds(log, behaviour []int32) bool { return end(log, behaviour) >= 0 }

// end returns the place in log of a behaviour's latest click if every click is taken at its first possible place, and
// -1 if the behaviour does not embed.
func end(log, behaviour []int32) int {
	at := -1
	for k := len(behaviour) - 1; k >= 0; k-- {
		at++
		for at < len(log) && log[at] != behaviour[k] {
			at++
		}
		if at == len(log) {
			return -1
		}
	}
	return at
}
