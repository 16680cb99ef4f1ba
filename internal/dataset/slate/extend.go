package slate

// lengthen continues a slate of the extracted tables in the log of its user. It returns up to t
// items, without the deleted ones, as the builder would have cut it. It looks for the slate
// after the latest click, where the place of the click is known. It returns nil when the slate
// is not in the log or the log ends too early: a builder makes no pair then.
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
