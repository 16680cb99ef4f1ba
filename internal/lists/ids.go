package lists

import (
	"fmt"
	"path/filepath"
	"strings"

	"privrec/internal/dataset"
	"privrec/internal/dataset/format"
)

// IDs numbers the users and items of several files that belong together.
type IDs struct {
	Users, Items dataset.Interner
}

// Row is a row of a file.
type Row struct {
	User, Item int32
	Line       int32   // in the file, from 1; of Parquet the row, from 1
	Rank       int64   // of lists that have ranks; of histories that have times, the time
	Score      float64 // of lists that have scores; of the truth the relevance, 1 where the file has none
}

// Kind names what the rows of a file hold.
type Kind uint8

// The kinds of rows.
const (
	Recommended Kind = iota // lists: rank and score count
	Truth                   // relevance counts
	Training                // user and item count
	History                 // training rows whose order counts: the time too, where there is one
)

// File holds the content read from one file.
type File struct {
	Path   string
	Digest string // hexadecimal SHA-256 of the file as it is on disk
	Form   string // in words, such as "TREC run"
	Rows   []Row  // in the order of the file
	Ranked bool   // rows have ranks
	Scored bool   // rows have scores
	Graded bool   // rows have relevances
	Rated  bool   // rows of the truth have ratings: those above 0 are relevant, and count alike
	Timed  bool   // rows of histories have times

	Unread  []string // columns that nothing is read of
	Taken   []string // columns that are read under a name that is not usual, with what they are taken for
	Fillers int      // rows of lists that hold no item, and are left out
	Gaps    int      // places of lists in wide tables that hold no item
	Empty   int      // rows that hold an empty list
	perUnit int64    // how many of the times of the rows make one of the file's unit
}

// Left returns sentences on content of the file that was not read.
func (f *File) Left() (notes []string) {
	name := filepath.Base(f.Path)
	if n := len(f.Unread); n == 1 {
		notes = append(notes, fmt.Sprintf("%s: the column %s is not read", name, f.Unread[0]))
	} else if n > 1 {
		notes = append(notes, fmt.Sprintf("%s: the columns %s are not read", name, strings.Join(f.Unread, ", ")))
	}
	for _, x := range f.Taken {
		notes = append(notes, name+": "+x)
	}
	if f.Gaps > 0 {
		notes = append(notes, fmt.Sprintf("%s: %d places of lists are empty, and left out", name, f.Gaps))
	}
	if f.Empty > 0 {
		notes = append(notes, fmt.Sprintf("%s: %d rows hold an empty list, and are left out", name, f.Empty))
	}
	if f.Fillers > 0 {
		notes = append(notes, fmt.Sprintf(
			"%s: %d rows have the least score of 32 bits, which fills lists that have no more items: they are left out",
			name, f.Fillers))
	}
	if counted := format.Counted(f.perUnit); counted != "" {
		notes = append(notes, name+": "+counted)
	}
	if f.Rated {
		notes = append(notes, name+
			": an item with a rating above 0 is relevant, others are not; a column relevance says it otherwise")
	}
	return notes
}

// maxRows is the largest number of rows of a file, 40 bytes each.
const maxRows = 1 << 27

// Fail returns an error at a row.
func (f *File) Fail(r Row, field, msg, hint string) error {
	return &dataset.Error{File: f.Path, Line: int(r.Line), Field: field, Msg: msg, Hint: hint}
}
