// Package imported reads the files of a model that another program trained, and makes a run directory of them, so
// that the commands that work on runs work on it.
//
// # What the directory holds
//
// The files of every run (package run), and in the folder "imported" copies of what was read, so that the run does not
// need the files it came from:
//
//	imported/train.tsv.gz    user_id, item_id: rows that the model was trained on, each user's in the order of time
//	imported/truth.tsv.gz    user_id, item_id: rows that it is measured by; not there where none were given
//	imported/others.tsv.gz   user_id, item_id: rows that it was not trained on, the non-members of attacks on membership;
//	                         not there where none were given
//	imported/lists.tsv.gz    user_id, item_id, rank, and score where lists have scores: what the model shows (import lists)
//	imported/users.tsv.gz, imported/items.tsv.gz   ids in the order of the rows of model.safetensors, and which of them have
//	                         a vector (import vectors)
//
// metrics.json is an outcome of protocol top-n with what was counted in the files (Summary); without truth it has no
// evaluations. privacy.json says that nothing is known or claimed (experiment.Elsewhere). scores.tsv.gz has the metrics
// of every user of the truth, for privrec compare.
//
// # The frame
//
// Every form of imported model has the same rows (Rows, read by Read) and the same answers, which are
// experiment.Carrying: histories, recommendations, an evaluation against the truth, and the rows themselves. The forms
// differ in what the model shows (Shown):
//
//   - lists: experiment.Listing. Nothing is behind them, so that whatever needs the scores of other items, vectors or
//     a model to train again is refused.
//   - scores: Answers that are experiment.Scoring too. A form that ranks users by items here, such as vectors,
//     implements Shown by a scorer and embeds Answers.
//
// A form is a task with the verb "import", made of Form by Task. Its Load reads the form's own files when the run is
// made, and its Again reads what the run keeps when it is asked.
//
// # Ids and faults
//
// Ids are text, the same in all files; users and items are numbered in the order of dataset.Ascending over all files.
// Refused, with file, line and field: an item twice in a list, a rank twice in a list, a score or a rank that is no
// finite number, lists without any user or item of the training rows, a row that is said to be trained on and not.
// Counted and shown (Counts): users of lists without training rows, users without a list, listed items that no other
// file has, listed items of the user's own training rows, lists shorter than the longest, equal scores, repeated rows,
// rows of the truth that were trained on or have a relevance below 1.
package imported
