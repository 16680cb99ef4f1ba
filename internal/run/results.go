package run

// moved counts, by task, the changes of this program that altered the results of an equal configuration. A change that
// alters results of a task raises its number here. Results of earlier programs are then stale, and are not shown as
// results of this one. A change that alters no result raises no number.
var moved = map[string]int{
	"train ials": 1, // the last digits of vectors
}

// ResultsOf returns how often changes of this program altered the results of a task such as "train lightgcn". Runs of
// equal numbers and configurations have equal results on the same kind of processor.
func ResultsOf(task string) int { return moved[task] }
