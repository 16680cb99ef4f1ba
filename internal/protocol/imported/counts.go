package imported

import (
	"fmt"
	"slices"
	"strings"

	"privrec/internal/run"
)

// Counts holds numbers about the imported files that a user should check, such as users without a list.
type Counts struct {
	Listed       int `json:"users_with_a_list"`
	ListRows     int `json:"list_rows"`
	Longest      int `json:"longest_list"`
	Shortest     int `json:"shortest_list"`
	Short        int `json:"lists_shorter_than_the_longest"`
	Strangers    int `json:"listed_users_without_training_rows"`
	NonMembers   int `json:"of_them_non_members"`
	Unlisted     int `json:"users_without_a_list"` // of the training rows and the truth
	UnknownItems int `json:"listed_items_of_no_other_file"`
	UnknownRows  int `json:"list_rows_of_such_items"`
	Own          int `json:"list_rows_of_the_users_own_training_items"`
	Vectorless   int `json:"items_without_a_vector,omitempty"` // of the truth
	Ties         int `json:"list_rows_with_the_score_of_another_of_the_list"`
	// Rising says that the scores of every list rise with the rows of the file: the last row of each is taken as best.
	Rising bool `json:"scores_rise_with_the_rows,omitempty"`

	RepeatedTrain  int `json:"repeated_training_rows"`
	RepeatedTruth  int `json:"repeated_truth_rows"`
	RepeatedOthers int `json:"repeated_non_member_rows"`
	Irrelevant     int `json:"truth_rows_with_a_relevance_below_1"`
	TruthTrained   int `json:"truth_rows_that_were_trained_on"`

	Left []string `json:"left_out,omitempty"` // what the files hold that was not read, in sentences
}

// count counts the lists. known tells which items occur in some row.
func (s *listed) count(n *Counts, known []bool) {
	strange := map[int32]bool{}
	scores := map[float64]int{}
	for u, list := range s.lists {
		d := s.rows.Data
		if len(list) == 0 {
			if len(d.Train[u])+len(d.Test[u]) > 0 {
				n.Unlisted++
			}
			continue
		}
		if n.Listed == 0 || len(list) < n.Shortest {
			n.Shortest = len(list)
		}
		n.Listed++
		n.ListRows += len(list)
		n.Longest = max(n.Longest, len(list))
		if len(d.Train[u]) == 0 {
			n.Strangers++
			if s.rows.Others != nil && len(s.rows.Others[u]) > 0 {
				n.NonMembers++
			}
		}
		clear(scores)
		for _, e := range list {
			if !known[e.Item] {
				strange[e.Item] = true
				n.UnknownRows++
			}
			if _, own := slices.BinarySearch(d.Train[u], e.Item); own {
				n.Own++
			}
			scores[e.Score]++
		}
		for _, k := range scores { // NaN, of lists without scores, equals nothing
			if k > 1 {
				n.Ties += k
			}
		}
	}
	for _, list := range s.lists {
		if len(list) > 0 && len(list) < n.Longest {
			n.Short++
		}
	}
	n.UnknownItems, s.longest = len(strange), n.Longest
}

// warnings returns sentences about what makes results doubtful. metrics.json has them with the data, and results show
// them before all other notes.
func (n Counts) warnings() (out []string) {
	if n.unknown() {
		out = append(out, fmt.Sprintf("warning: %.1f %% of the rows of lists (%d of %d) hold items of no other file: "+
			"they count as misses, and attacks know nothing of them; ids are text, 7 and 7.0 are two items",
			100*float64(n.UnknownRows)/float64(n.ListRows), n.UnknownRows, n.ListRows))
	}
	if n.Rising {
		out = append(out, "warning: the scores of every list rise with the rows of the file, and the largest is "+
			"taken as best: if the smallest is, as with ranks and distances, all lists are turned around; call the "+
			"column rank, or turn the sign")
	}
	return out
}

// warn reports the warnings while the files are read.
func (n Counts) warn(env *run.Env) {
	for _, w := range n.warnings() {
		env.Log.Warn(strings.TrimPrefix(w, "warning: "))
	}
}

// unknown reports whether at least half of the rows of lists have items that no other file has.
func (n Counts) unknown() bool { return n.ListRows > 0 && 2*n.UnknownRows >= n.ListRows }

// notes returns a sentence for each count that is not 0.
func (n Counts) notes() (notes []string) {
	notes = n.warnings()
	add := func(n int, format string, args ...any) {
		if n > 0 {
			notes = append(notes, fmt.Sprintf(format, args...))
		}
	}
	add(n.Strangers-n.NonMembers,
		"%d users have a list and neither training rows nor rows of non-members: attacks leave them out, because "+
			"nothing is known of them to guess", n.Strangers-n.NonMembers)
	add(n.NonMembers, "%d users have a list and were not trained on: the non-members of attacks on users", n.NonMembers)
	add(n.Unlisted, "%d users of the training rows or the truth have no list: they count 0 where they have truth, "+
		"and attacks leave them out", n.Unlisted)
	add(n.Short, "%d lists are shorter than the longest, of %d items; the shortest has %d", n.Short, n.Longest,
		n.Shortest)
	if !n.unknown() {
		add(n.UnknownItems, "%d listed items are in no other file (%d rows): ids are text, 7 and 7.0 are two items",
			n.UnknownItems, n.UnknownRows)
	}
	add(n.Own, "%d rows of lists hold an item of the user's own training rows: lists that show what users have give "+
		"it away without any attack", n.Own)
	add(n.Vectorless, "%d items of the truth have no vector: they are never found", n.Vectorless)
	add(n.Ties, "%d rows of lists share their score with another of the same list, and keep the order of their ranks "+
		"or of the file", n.Ties)
	add(n.RepeatedTrain, "%d training rows were there before and count once", n.RepeatedTrain)
	add(n.RepeatedTruth, "%d rows of the truth were there before and count once", n.RepeatedTruth)
	add(n.RepeatedOthers, "%d rows of non-members were there before and count once", n.RepeatedOthers)
	add(n.Irrelevant, "%d rows of the truth have a relevance below 1 and are not relevant", n.Irrelevant)
	add(n.TruthTrained, "%d rows of the truth were trained on too: finding them again shows nothing", n.TruthTrained)
	return append(notes, n.Left...)
}
