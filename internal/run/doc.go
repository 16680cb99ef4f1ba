// Package run gives every task the same surroundings: a strict configuration,
// a run directory that one process writes at a time, artefacts that appear
// whole or not at all (ledger.jsonl and log.jsonl grow line by line instead), a checkpoint that survives kill -9 at any moment, and a
// manifest that says what produced it.
//
// A run directory holds
//
//	config.yaml      the effective configuration, defaults filled in
//	manifest.json    version, machine, data hashes, seed, timings, status
//	metrics.json     results; no timings, so that a resumed run writes the same bytes
//	privacy.json     claimed and accounted budgets, and what is unprotected
//	ledger.jsonl     what is open and what is taken as public, then every release, in
//	                 order; closed by its last line when the run is done
//	*.tsv.gz         scores per user
//	log.jsonl        what happened when
//	checkpoint/      parameters, optimiser and positions (safetensors)
//	result.txt, result.json   what was printed
//	report.html      the same as a page, with figures
//	lock             held while a process writes
//
// The key "run" of every configuration belongs to this package (Settings); all
// other keys belong to the task. Number of workers, output directory and the
// cadence of checkpoints do not enter the configuration hash, because they do
// not enter the results.
package run
