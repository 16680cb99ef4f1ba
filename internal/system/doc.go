// Package system holds what differs between operating systems: locks that end with their
// process, durable names, processes, and what they used.
//
// Three things are weaker on Windows than on Linux and macOS. A file cannot be replaced while
// another program reads it, so that a write fails where it would have succeeded. A folder's
// names are made durable only where the file system can do that, as NTFS can. A program that
// another one ends with TerminateProcess cannot save its state first, so that a run goes on
// from its last checkpoint. Locks are as strong everywhere.
package system
