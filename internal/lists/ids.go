package lists

import "privrec/internal/dataset"

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

// Kind says what the rows of a file are.
type Kind uint8

// The kinds of rows.
const (
	Recommended Kind = iota // lists: rank and score count
	Truth                   // relevance counts
	Training                // user and item count
	History                 // training rows whose order counts: the time too, where there is one
)

// File is what was read of one file.
type File struct {
	Path   string
	Digest string // hexadecimal SHA-256 of the file as it is on disk
	Form   string // in words, such as "TREC run"
	Rows   []Row  // in the order of the file
	Ranked bool   // rows have ranks
	Scored bool   // rows have scores
	Graded bool   // rows have relevances
	Timed  bool   // rows of histories have times
}

// maxRows is the most rows of a file, 40 bytes each.
const maxRows = 1 << 27

// Fail returns an error at a row.
func (f *File) Fail(r Row, field, msg, hint string) error {
	return &dataset.Error{File: f.Path, Line: int(r.Line), Field: field, Msg: msg, Hint: hint}
}
