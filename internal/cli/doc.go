// Package cli is the command line. It is the only package that knows cobra,
// progress bars and terminals; everything below it reports through run.Progress
// and slog, and returns errors.
//
// Rules of voice: results go to standard output, progress and logs to standard
// error. A failure ends with one line that starts with "error:", lower case, no
// full stop, naming file, line and field; further problems of the same input
// follow as "also:" lines, and a "hint:" line where a fix is known. The exit code is decided in one place, exitCode.
package cli
