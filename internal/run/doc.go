// Package run gives every task the same environment: a strict configuration; a run directory that one process
// writes at a time; artefacts that are written whole or not at all (only ledger.jsonl and log.jsonl grow line
// by line); a checkpoint that survives kill -9 at any moment; and a manifest that says what produced the run.
//
// A run directory holds
//
//	config.yaml      the effective configuration, defaults filled in
//	manifest.json    version, machine, data hashes, seed, timings, status
//	metrics.json     results; no timings, so that a resumed run writes the same bytes
//	privacy.json     claimed and accounted budgets, and what is unprotected
//	ledger.jsonl     what is unprotected and what is taken as public, then every
//	                 release in order; the last line of a finished run closes it
//	*.tsv.gz         scores per user
//	log.jsonl        events with their time
//	checkpoint/      parameters, optimiser and positions (safetensors)
//	result.txt, result.json   the printed results
//	report.html      the same as a page, with figures
//	lock             present while a process writes
//
// The key "run" of every configuration belongs to this package (Settings), all other keys to the task. Number
// of workers, output directory and the time between checkpoints are not in the configuration hash, because they
// do not change the results.
package run
