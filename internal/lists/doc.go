// Package lists reads lists of recommendations, the truth they are measured against, and the rows that a recommender
// was trained on, in the forms in which other programs write them.
//
// # Forms
//
// What a file is, its first bytes say, not its name. It may be gzip or zstd.
//
//   - A table, with tabs, commas, semicolons or ::, and a header that names the columns, as format.Meaning knows them.
//     Lists may have a rank and a score, the truth a relevance, histories a time. Other columns are named as not read.
//     Names may have RecBole's types, as in user_id:token. A list may be a row, its items in rec_1, rec_2 and so on.
//   - JSON lines: an object in each, with the columns of a table, or with lists of ids or of objects for a user.
//   - A TREC run: six fields, user Q0 item rank score name. Its scores order a list, as trec_eval does it.
//   - TREC qrels: four fields, user 0 item relevance.
//   - MovieLens' ratings.dat: user::item::rating::time.
//   - Parquet, with the columns of a table, or lists in its cells (package parquet).
//
// Ids are text: 7 and 7.0 are two users. Nothing is skipped and nothing is guessed. A fault is a *dataset.Error with
// file, line (in Parquet row) and column.
package lists
