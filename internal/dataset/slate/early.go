package slate

import (
	"fmt"

	"privrec/internal/dataset"
)

// early reports whether the item of a row was clicked before it was shown.
func (l *Log) early(row int) bool { return l.Clicked[row] != 0 && l.Clicked[row] < l.Shown[row] }

// early returns the number of clicks before their item was shown. It fails if there are any and the options forbid
// them, or if they are more than half of all clicks: then the times are wrong, not the clicks.
func (r *raw) early(l *Log, clicks int, o Options) (int, error) {
	early := l.rung("clicked before it was shown", l.early)
	if early.Rows == 0 {
		return 0, nil
	}
	hint := ""
	switch {
	case 2*early.Rows > clicks:
		hint = "do the times of clicks have another unit (s and ms) or clock than those of shown items, or are they " +
			"flags 0 or 1?"
	case o.Early == EarlyRefuse:
		hint = "early: keep uses such clicks, drop takes the items as shown and not clicked"
	default:
		r.ladder = append(r.ladder, early)
		r.notes = append(r.notes,
			fmt.Sprintf("%d of %d clicks (%.1f %%) come before their item was shown (option early: %s)",
				early.Rows, clicks, 100*float64(early.Rows)/float64(clicks), o.Early))
		return early.Rows, nil
	}
	row := 0
	for !l.early(row) {
		row++
	}
	return 0, &dataset.Error{File: l.Name, Line: l.line(row), Field: l.clickColumn, Hint: hint,
		Msg: fmt.Sprintf("%d of %d clicks come before their item was shown, this one first: user %q was shown %q at "+
			"%d and clicked at %d",
			early.Rows, clicks, l.UserIDs[l.Users[row]], l.ItemIDs[l.Items[row]], l.Shown[row], l.Clicked[row])}
}

// line returns the line of a row in the file, 0 if there is none.
func (l *Log) line(row int) int {
	if l.lines == nil {
		return 0
	}
	return int(l.lines[row])
}

// repeats returns the log without rows that repeat an earlier row of the user in all columns, if the log allows to omit
// them. It counts them in any case.
func (r *raw) repeats(l *Log) *Log {
	type record struct {
		item           int32
		shown, clicked int64
	}
	again := make([]bool, len(l.Users))
	met := map[record]bool{}
	n := 0
	for _, rows := range l.byUser(false) {
		clear(met)
		for _, row := range rows {
			x := record{l.Items[row], l.Shown[row], l.Clicked[row]}
			if again[row] = met[x]; again[row] {
				n++
			}
			met[x] = true
		}
	}
	if n == 0 {
		return l
	}
	r.ladder = append(r.ladder, l.rung("repeated rows", func(row int) bool { return again[row] }))
	what := "they stay, as in the paper's counts"
	if l.once {
		what = "they are left out"
		l = l.without(again)
	}
	r.notes = append(r.notes, fmt.Sprintf("%d rows repeat an earlier one in user, item and both times: %s", n, what))
	return l
}

// without returns a copy of a log without the given rows.
func (l *Log) without(drop []bool) *Log {
	out := *l
	out.Users, out.Items, out.Shown, out.Clicked, out.lines = nil, nil, nil, nil, nil
	for row, d := range drop {
		if d {
			continue
		}
		out.Users, out.Items = append(out.Users, l.Users[row]), append(out.Items, l.Items[row])
		out.Shown, out.Clicked = append(out.Shown, l.Shown[row]), append(out.Clicked, l.Clicked[row])
		if l.lines != nil {
			out.lines = append(out.lines, l.lines[row])
		}
	}
	return &out
}

// lengthen returns up to t items of a slate of the extracted tables, continued in the log of its user as the builder
// would have cut it, without the deleted items. It looks for the slate after the latest click if the place of that is
// known. It returns nil if the slate is not in the log or the log ends too early: a builder makes no pair then.
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
