// Package cli is the command line: flags, commands, exit codes. It and what lies in its
// folder alone know cobra, progress bars and terminals; everything below reports through
// run.Progress and slog, and returns errors. Package screen shows progress, package complete
// offers words to a shell.
//
// Rules of voice: results go to standard output, progress and logs to standard
// error. A failure ends with one line that starts with "error:", lower case, no
// full stop, naming file, line and field; further problems of the same input
// follow as "also:" lines, and a "hint:" line where a fix is known. The exit code is decided in one place, exitCode.
package cli
