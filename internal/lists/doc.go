// Package lists reads lists of recommendations, the truth they are measured against, and the rows that a recommender
// was trained on, in the forms in which other programs write them.
//
// # Forms
//
// What a file is, its first bytes say, not its name. It may be gzip or zstd.
//
//   - A table, with tabs or commas, and a header that names the columns. Users are in the column user_id, user, userId
//     or uid, items in item_id, item, itemId or iid. Lists may have rank, and score or prediction; the truth may have
//     relevance, histories timestamp or time. Other columns are ignored. Names may have RecBole's types, as in
//     user_id:token.
//   - A TREC run: six fields, user Q0 item rank score name. Its scores order a list, as trec_eval does it.
//   - TREC qrels: four fields, user 0 item relevance.
//   - MovieLens' ratings.dat: user::item::rating::time.
//   - Parquet, with the columns of a table (package parquet).
//
// Ids are text: 7 and 7.0 are two users. Nothing is skipped and nothing is guessed. A fault is a *dataset.Error with
// file, line (in Parquet row) and column.
package lists
