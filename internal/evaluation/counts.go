package evaluation

import (
	"slices"

	"privrec/internal/lists"
)

// counts holds numbers about the files that a user should check.
type counts struct {
	listed, judged, both int // users
	short                int // lists with fewer items than the largest cut-off
	repeats              int // rows of lists whose item stands earlier in the list
	repeat               repeat
	again                int  // rows of the truth that were there before
	ties                 int  // rows of lists with the score of another of the list
	irrelevant           int  // rows of the truth with a relevance below 1
	unknown, unknownRows int  // listed items that neither truth nor training rows have, and their rows
	rising               bool // the scores of every list rise with the rows of the file
	own                  int  // rows of lists whose item is in the user's training rows
}

// repeat locates the first row that repeats an item of its list, and the line of the first occurrence.
type repeat struct {
	again lists.Row
	first int32
}

// count returns the counts of the files.
func (f *files) count(cutoffs []int) (c counts) {
	length, judged := make([]int, len(f.ids.Users.IDs)), make([]bool, len(f.ids.Users.IDs))
	known := make([]bool, len(f.ids.Items.IDs))
	type pair struct{ user, item int32 }
	was := make(map[pair]bool, len(f.truth.Rows))
	for _, r := range f.truth.Rows {
		if was[pair{r.User, r.Item}] {
			c.again++
		}
		was[pair{r.User, r.Item}], judged[r.User], known[r.Item] = true, true, true
		if r.Score < 1 {
			c.irrelevant++
		}
	}
	trained := map[pair]bool{}
	if f.train != nil {
		for _, r := range f.train.Rows {
			trained[pair{r.User, r.Item}], known[r.Item] = true, true
		}
	}
	line := make(map[pair]int32, len(f.recs.Rows))
	type score struct {
		user  int32
		score float64
	}
	scores := map[score]int{}
	strange := map[int32]bool{}
	for _, r := range f.recs.Rows {
		length[r.User]++
		if first, is := line[pair{r.User, r.Item}]; is {
			if c.repeats++; c.repeats == 1 {
				c.repeat = repeat{r, first}
			}
		} else {
			line[pair{r.User, r.Item}] = r.Line
		}
		if f.recs.Scored {
			scores[score{r.User, r.Score}]++
		}
		if !known[r.Item] {
			strange[r.Item] = true
			c.unknownRows++
		}
		if trained[pair{r.User, r.Item}] {
			c.own++
		}
	}
	c.unknown, c.rising = len(strange), f.recs.Rising(len(length))
	for _, n := range scores {
		if n > 1 {
			c.ties += n
		}
	}
	for u, n := range length {
		if n > 0 {
			c.listed++
			if n < slices.Max(cutoffs) {
				c.short++
			}
		}
		if judged[u] {
			c.judged++
			if n > 0 {
				c.both++
			}
		}
	}
	return c
}
