package run

// moved counts, by task, the changes of this program after which an equal configuration measures something
// else. A change that moves results of a task raises its number here: results of earlier programs are
// stale then, and are not shown as if this program had made them. A change that moves no result raises none.
var moved = map[string]int{}

// ResultsOf returns the number of a task's results, such as "train lightgcn". Runs of equal numbers and
// configurations have equal results, on the same kind of processor.
func ResultsOf(task string) int { return moved[task] }
