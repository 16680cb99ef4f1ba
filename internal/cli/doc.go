// Package cli is the command line: flags, commands, exit codes. Only this package and those in its folder know
// cobra, progress bars and terminals. Packages beneath report through run.Progress and slog, and return errors.
// Package screen shows progress, package complete offers words to a shell.
//
// Results go to standard output, progress and logs to standard error. A failure ends with one line that begins
// with "error:", in lower case and without a full stop, and names file, line and field. Further problems of the
// same input follow as "also:" lines, and a "hint:" line where a fix is known. One function, exitCode, decides
// the exit code.
package cli
