package slate

// lengthen continues a slate of the extracted tables in the log of its user up to t
// items beside those that were deleted, as the builder would have cut it. The slate is
// looked for after the latest click, where the click's place is known. It is nil when
// the slate is not in the log or the log ends too early: a builder makes no pair then.
func lengthen(log, slate, behaviour []int32, t int) []int32 {
	if t <= tableT {
		return slate
	}
	if len(slate) == 0 {
		return nil
	}
	at := -1
	for i := max(0, end(log, behaviour)); i+len(slate) <= len(log) && at < 0; i++ {
		if contains(log[i:i+len(slate)], slate) {
			at = i
		}
	}
	n := len(slate) + t - tableT
	if at < 0 || at+n > len(log) {
		return nil
	}
	return log[at : at+n]
}
