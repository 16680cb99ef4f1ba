package hrnn

// Lesson holds an item to read, and the one to predict after it.
type Lesson struct {
	In, Out int32 // Out 0: the next item is held out, and nothing is learned; In 0: nothing is read
	Begin   Begin
}

// Lessons appends the lessons of one user, session by session, to dst. begins reports whether the
// item at a place, above 0, begins a session. learn reports whether the item at a place is a
// target; nil: all are.
func Lessons(dst []Lesson, items []int32, begins, learn func(place int) bool) []Lesson {
	next := User
	for place := range len(items) - 1 {
		if place > 0 && begins(place) && next == Nothing {
			next = Session
		}
		if begins(place + 1) {
			continue // the last item of a session, perhaps its only one
		}
		l := Lesson{In: items[place], Out: items[place+1], Begin: next}
		if learn != nil && !learn(place+1) {
			l.Out = 0
		}
		dst, next = append(dst, l), Nothing
	}
	return dst
}

// Schedule returns the lessons of users arranged in mini-batches of a width, side by side: lesson k of mini-batch b is
// the result's b·width+k. Each place of a mini-batch goes through a user's lessons and then takes the next user, in the
// order of users. At the end places run out of users, one by one: their lessons read nothing.
func Schedule(users [][]Lesson, width int) []Lesson {
	var out []Lesson
	places := make([][]Lesson, width)
	for next := 0; ; {
		at, some := len(out), false
		for k := range places {
			for len(places[k]) == 0 && next < len(users) {
				places[k], next = users[next], next+1
			}
			if len(places[k]) == 0 {
				out = append(out, Lesson{Begin: User})
				continue
			}
			out, places[k], some = append(out, places[k][0]), places[k][1:], true
		}
		if !some {
			return out[:at]
		}
	}
}
