package dataset

import "fmt"

// Source says where data came from and how strong they are as evidence.
type Source struct {
	Items   *Stated  `json:"stated_items,omitempty"` // which items there are, where that was stated
	Users   *Stated  `json:"stated_users,omitempty"` // which users there are, where that was stated
	Title   string   `json:"title"`
	Hash    string   `json:"hash"` // see Log.Hash
	Files   []File   `json:"files,omitempty"`
	StandIn bool     `json:"stand_in"`
	Level   Level    `json:"level"`
	Checks  []Check  `json:"checks,omitempty"`
	Notes   []string `json:"notes,omitempty"` // differences from the paper worth printing
	Cache   string   `json:"-"`               // what the cache did, for the log

	Decided Decisions `json:"-"` // by rows of many users
}

// File is one source file.
type File struct {
	Path   string `json:"path"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`

	Modified int64 `json:"-"` // nanoseconds since 1970, to notice a change while reading
}

// String returns the path with the size.
func (f File) String() string { return fmt.Sprintf("%s (%d bytes)", f.Path, f.Bytes) }
