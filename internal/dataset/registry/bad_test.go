package registry

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"privrec/internal/dataset"
	"privrec/internal/dataset/format"
	"privrec/internal/dataset/format/formattest"
)

// readByName chooses the reader by the end of a test file's name.
func readByName(ctx context.Context, path string) (*dataset.Log, *dataset.Features, error) {
	name := strings.TrimSuffix(strings.TrimSuffix(path, ".gz"), ".zst")
	var l *dataset.Log
	var f *dataset.Features
	var err error
	switch {
	case strings.HasSuffix(name, "ratings.dat"):
		l, err = ReadRatingsDat(ctx, path)
	case strings.HasSuffix(name, "users.dat"):
		f, err = ReadUsersDat(ctx, path)
	case strings.HasSuffix(name, "u.data"):
		l, err = ReadUData(ctx, path)
	case strings.HasSuffix(name, "u.user"):
		f, err = ReadUUser(ctx, path)
	case strings.HasSuffix(name, "review.json"):
		l, err = ReadYelpReviews(ctx, path)
	case strings.HasSuffix(name, "user.json"):
		f, err = readYelpUsers(ctx, path)
	case strings.HasSuffix(name, "user_log_format1.csv"):
		l, err = TmallLog{Action: "0", From: 1101, To: 1107}.Read(ctx, path)
	case strings.HasSuffix(name, "user_info_format1.csv"):
		f, err = ReadTmallUsers(ctx, path)
	case strings.HasSuffix(name, "ratings_Books.csv"):
		l, err = ReadAmazonRatings(ctx, path)
	case strings.HasSuffix(name, "behaviors.tsv"):
		l, err = ReadMIND(ctx, path)
	case strings.HasSuffix(name, "sessions.tsv"):
		l, err = ReadSplitSessions(ctx, path)
	case strings.HasSuffix(name, "inter_impression.csv"):
		l, err = ReadZhihuRec(ctx, path)
	case strings.HasSuffix(name, ".inter"):
		l, err = format.ReadInter(ctx, path)
	case strings.HasSuffix(name, ".user"):
		f, err = format.ReadUserAtomic(ctx, path, nil)
	case strings.HasSuffix(name, ".csv"):
		l, err = format.Table{Sep: ","}.Read(ctx, path)
	case strings.HasSuffix(name, ".tsv"):
		l, err = format.Table{Sep: "\t"}.Read(ctx, path)
	default: // .adj, .txt
		l, err = format.ReadAdjacency(ctx, path)
	}
	return l, f, err
}

// badFiles lists one file for each way to be wrong, its message after the path, and
// its hint.
var badFiles = []struct{ file, message, hint string }{
	{"after-quote.csv", ":2: field 1 has text after its closing quote",
		""},
	{"age-word.u.user", ":2: field \"age\": not a finite number: \"old\"",
		""},
	{"blank-line.ratings.dat", ":2: blank line inside the file",
		"remove it, or check that the file was not cut and joined"},
	{"comma.inter", ":1: one column in the header: \"user_id:token,item_id:token\"",
		"columns of a RecBole file are separated by tabs"},
	{"damaged.ratings.dat.gz", ":2: compressed file is damaged: gzip: invalid checksum",
		"fetch or copy it again"},
	{"duplicate-column.csv", ":1: field \"user_id\": duplicate header column (columns 1 and 3)",
		""},
	{"duplicate-column.inter", ":1: field \"item_id\": duplicate header column (columns 2 and 4)",
		""},
	{"empty-id.ratings.dat", ":1: field \"user\": not an id: \"\"",
		"ids of this format are integers from 0 to 2147483647"},
	{"empty-item.inter", ":2: field \"item_id\": empty",
		"every row needs a user and an item"},
	{"empty.ratings.dat", ": file is empty",
		""},
	{"fraction-id.ratings.dat", ":1: field \"user\": not an id: \"1.5\"",
		"ids of this format are integers from 0 to 2147483647"},
	{"fraction-time.ratings.dat", ":1: field \"timestamp\": timestamp \"978300760.5\" is not a whole number",
		"give times as whole seconds or milliseconds, so that their order is exact"},
	{"header-cut.ratings.dat.gz", ": compressed file is cut short: unexpected EOF",
		"fetch or copy it again"},
	{"header-only.inter", ": no interactions in the file",
		""},
	{"invalid-utf8.ratings.dat", ":2: invalid UTF-8",
		"convert the file, for example with: iconv -f latin1 -t utf-8"},
	{"long-line.ratings.dat", ":1: 5 fields instead of 4 (user, item, rating, timestamp)",
		""},
	{"magic-cut.ratings.dat.gz", ": compressed file is cut short: unexpected EOF",
		"fetch or copy it again"},
	{"magic-cut.ratings.dat.zst", ": compressed file is cut short: unexpected EOF",
		"fetch or copy it again"},
	{"missing-column.inter", ":1: field \"item_id\": column is missing from the header",
		"the header has user_id, rating"},
	{"negative-id.ratings.dat", ":1: field \"item\": negative id \"-10\"",
		""},
	{"negative.adj", ":1: field \"item\": negative id \"-2\"",
		""},
	{"no-types.inter", ":1: field \"user_id\": header has no type",
		"a RecBole header reads user_id:token, item_id:token, rating:float, ... separated by tabs"},
	{"no-user.user", ":1: field \"user_id\": column is missing from the header",
		"the header has age; is the separator right?"},
	{"only-blank.ratings.dat", ": no interactions in the file",
		""},
	{"open-quote.csv", ":2: field 1 has an opening quote and no closing one",
		"a quoted field must end on its own line"},
	{"overflow-id.ratings.dat", ":2: field \"user\": id \"2147483648\" is too large",
		"ids of this format are integers from 0 to 2147483647"},
	{"overflow-time.ratings.dat", ":1: field \"timestamp\": timestamp \"99999999999999999999\" is too large",
		""},
	{"rating-empty.ratings.dat", ":1: field \"rating\": not a finite number: \"\"",
		""},
	{"rating-hex.ratings.dat", ":1: field \"rating\": not a finite number: \"0x1p3\"",
		""},
	{"rating-inf.ratings.dat", ":1: field \"rating\": not a finite number: \"Inf\"",
		""},
	{"rating-nan.ratings.dat", ":1: field \"rating\": not a finite number: \"NaN\"",
		""},
	{"rating-overflow.ratings.dat", ":1: field \"rating\": rating \"1e39\" is too large",
		""},
	{"rating-word.ratings.dat", ":2: field \"rating\": not a finite number: \"good\"",
		""},
	{"header.sessions.tsv", ":1: the header is not session, split and items, separated by tabs",
		"the items of a session are in one column, oldest first, separated by spaces"},
	{"part.sessions.tsv", ":3: field \"split\": not a part: \"valid\"",
		"a session is of train or of test"},
	{"twice.sessions.tsv", ":3: field \"session\": session \"1\" has a second line",
		"the first is line 2"},
	{"one.sessions.tsv", ":2: field \"items\": a session of one item",
		"a session has two items or more, since each but the first is a label"},
	{"gap.sessions.tsv", ":2: field \"items\": empty item",
		"items are separated by single spaces"},
	{"unnamed.sessions.tsv", ":2: field \"session\": empty",
		"every row needs a user and an item"},
	{"sequence.user", ":1: field \"tags\": a user feature of type token_seq is not supported",
		"drop the column, or give one value a user"},
	{"short-line.ratings.dat", ":2: field \"timestamp\": 3 fields instead of 4 (user, item, rating, timestamp)",
		"the line is short; was the file cut?"},
	{"short-line.u.user", ":1: field \"zip\": 4 fields instead of 5 (user, age, gender, occupation, zip)",
		"the line is short; was the file cut?"},
	{"stray-quote.csv", ":2: field 1 has a quote inside an unquoted value \"a\\\"b\"",
		"quote the whole field and double the quotes in it"},
	{"tabs.adj", ":2: field \"user\": not an id: \"1\\t2\\t3\"",
		"numbers must stand between single spaces, this line uses \"\\t\""},
	{"truncated.ratings.dat.gz", ": compressed file is cut short: unexpected EOF",
		"fetch or copy it again"},
	{"truncated.ratings.dat.zst", ": compressed file is cut short: unexpected EOF",
		"fetch or copy it again"},
	{"two-spaces.adj", ":1: field \"item\": not an id: \"\"",
		"ids of this format are integers from 0 to 2147483647"},
	{"unknown-type.inter", ":1: field \"item_id\": unknown type \"word\"",
		"types are token, float, token_seq, float_seq"},
	{"unnamed-column.csv", ":1: column 2 has no name",
		""},
	{"user-twice.adj", ":2: field \"user\": user \"0\" has a second line",
		"the first is line 1"},
	{"user-twice.u.user", ":2: field \"user\": user \"1\" has a second line of features",
		"the first is on line 1"},
	{"utf16.ratings.dat", ": the file is UTF-16, want UTF-8",
		"convert it, for example with: iconv -f utf-16 -t utf-8"},
	{"utf16.csv", ": the file is UTF-16, want UTF-8",
		"convert it, for example with: iconv -f utf-16 -t utf-8"},
	{"index.csv", ":1: the first column has no name",
		"write the file without it if it counts rows: pandas with index=False, R with row.names=FALSE"},
	{"index-quoted.csv", ":1: the first column has no name",
		"write the file without it if it counts rows: pandas with index=False, R with row.names=FALSE"},
	{"unnamed-first.csv", ":1: the first column has no name",
		"write the file without it if it counts rows: pandas with index=False, R with row.names=FALSE"},
	{"iso-day.inter", ":2: field \"timestamp\": a date in place of a number: \"2019-11-11\"",
		"write times as numbers; in Unix seconds, of UTC, this one is 1573430400"},
	{"iso-time.inter", ":2: field \"timestamp\": a date in place of a number: \"2019-11-11T09:05:58.5\"",
		"write times as numbers; in Unix seconds, of UTC, this one is 1573463158"},
	{"iso-zone.inter", ":2: field \"timestamp\": a date in place of a number: \"2019-11-11 09:05:58+02:00\"",
		"write times as numbers; in Unix seconds, of UTC, this one is 1573455958"},
	{"wrong-type.csv", ":1: field \"user_id\": type is \"float\", want \"token\"",
		"write user_id:token in the header"},
	{"half-typed.csv", ":1: field \"user_id\": column is missing from the header",
		"the header has user_id:token, item_id"},
	{"tabs.csv", ":1: field \"user_id\": column is missing from the header",
		"the header has user_id:token\titem_id:token; its columns are separated by tabs: name it .tsv"},
	{"commas.tsv", ":1: field \"user_id\": column is missing from the header",
		"the header has user_id,item_id; its columns are separated by commas: name it .csv"},
	{"one-column.csv", ":1: field \"user_id\": column is missing from the header",
		"the header has user item; is the separator right?"},
	{"wrong-separator.ratings.dat", ":1: one field instead of 4 (user, item, rating, timestamp)",
		"the separator should be \"::\", this line seems to use \"\\t\""},
	{"wrong-type.inter", ":1: field \"rating\": type is \"token\", want \"float\"",
		"write rating:float in the header"},
	{"zero-byte.ratings.dat", ":1: zero byte in a text file",
		"the file is binary or UTF-16; convert it to UTF-8 text"},
	{"action.user_log_format1.csv", ":2: field \"action_type\": not an action: \"4\"",
		"actions are 0 click, 1 cart, 2 purchase, 3 favourite"},
	{"after-object.review.json", ":1: not JSON: the end of the line should stand at byte 127, got \"x\"",
		""},
	{"again.user.json", ":3: field \"user\": user \"uA\" has a second line of features",
		"the first is on line 1"},
	{"again.user_info_format1.csv", ":3: field \"user\": user \"1\" has a second line of features",
		"the first is on line 2"},
	{"array.review.json", ":2: not a JSON object: \"[\\\"uA\\\"]\"",
		"each line of this file is one object between { and }"},
	{"bare-name.review.json", ":1: not JSON: a name between quotes should stand at byte 52, got \"stars:5,\\\"useful\\\":0,\\\"funny\\\":0,\\\"cool\\\":0,\\\"t\"...",
		""},
	{"bare-word.review.json", ":1: not JSON: a value should stand at byte 60, got \"NaN,\\\"useful\\\":0,\\\"funny\\\":0,\\\"cool\\\":0,\\\"text\\\"\"...",
		""},
	{"columns-2018.ratings_Books.csv", ":10: field \"user\": the first columns are item and user, in the order of the 2018 release",
		"take the 2014 file (ratings_<Category>.csv), or swap the columns"},
	{"cut-text.review.json", ":2: JSON object ends too early, a name between quotes should follow",
		"the line is short; was the file cut?"},
	{"cut.review.json", ":2: JSON object ends too early, a comma or } should follow",
		"the line is short; was the file cut?"},
	{"date-february.review.json", ":1: field \"date\": not a date: \"2017-02-29\"",
		"dates of this format look like 2018-07-07 or 2018-07-07 22:09:11"},
	{"date-hour.review.json", ":1: field \"date\": not a date: \"2017-02-28 24:00:00\"",
		"dates of this format look like 2018-07-07 or 2018-07-07 22:09:11"},
	{"date-word.review.json", ":1: field \"date\": not a date: \"yesterday\"",
		"dates of this format look like 2018-07-07 or 2018-07-07 22:09:11"},
	{"day.user_log_format1.csv", ":2: field \"time_stamp\": not a day: \"1301\"",
		"days of this format are mmdd: 1101 for 1 November"},
	{"fans-null.user.json", ":1: field \"fans\": not a number: \"null\"",
		""},
	{"four.behaviors.tsv", ":1: field \"impressions\": 4 fields instead of 5 (impression, user, time, history, impressions)",
		"the line is short; was the file cut?"},
	{"header.behaviors.tsv", ":1: field \"impression\": not an id: \"impression\"",
		"ids of this format are integers from 0 to 2147483647"},
	{"header.inter_impression.csv", ":1: field \"user\": not an id: \"user_id\"",
		"ids of this format are integers from 0 to 2147483647"},
	{"header.ratings_Books.csv", ":1: field \"rating\": not a finite number: \"rating\"",
		""},
	{"iso-time.behaviors.tsv", ":1: field \"time\": not a time: \"2019-11-11T09:05:58\"",
		"times of this format look like 11/11/2019 9:05:58 AM"},
	{"item.user_log_format1.csv", ":2: field \"item_id\": not an id: \"x\"",
		"ids of this format are integers from 0 to 2147483647"},
	{"month.behaviors.tsv", ":1: field \"time\": not a time: \"13/11/2019 9:05:58 AM\"",
		"times of this format look like 11/11/2019 9:05:58 AM"},
	{"negative-click.inter_impression.csv", ":1: field \"click timestamp\": negative time \"-1\"",
		"0 means no click"},
	{"no-action.user_log_format1.csv", ":1: field \"action_type\": column is missing from the header",
		"the header has user_id, item_id, cat_id, seller_id, brand_id, time_stamp"},
	{"no-click-time.inter_impression.csv", ":1: field \"click timestamp\": not a finite number: \"\"",
		""},
	{"no-clicks.behaviors.tsv", ":1: field \"impressions\": not a shown item with its click: \"N1\"",
		"they look like N1-0 N2-1, separated by single spaces; the test set of MIND has no clicks and cannot be used here"},
	{"no-clicks.user_log_format1.csv", ": no rows left after step \"clicks\" (1 rows before it)",
		"is this the whole file, and the one the recipe is for?"},
	{"no-colon.review.json", ":1: not JSON: a colon should stand at byte 59, got \"5,\\\"useful\\\":0,\\\"funny\\\":0,\\\"cool\\\":0,\\\"text\\\":\\\"\"...",
		""},
	{"no-comma.review.json", ":1: not JSON: a comma or } should stand at byte 52, got \"\\\"stars\\\":5,\\\"useful\\\":0,\\\"funny\\\":0,\\\"cool\\\":0,\"...",
		""},
	{"no-date.review.json", ":1: field \"date\": missing from the object",
		""},
	{"no-day.user_log_format1.csv", ":2: field \"time_stamp\": not a day: \"\"",
		"days of this format are mmdd: 1101 for 1 November"},
	{"no-fans.user.json", ":1: field \"fans\": missing from the object",
		""},
	{"no-gender.user_info_format1.csv", ":2: field \"gender\": 2 fields instead of 3 (user_id, age_range, gender)",
		"the line is short; was the file cut?"},
	{"no-item.ratings_Books.csv", ":1: field \"item\": empty",
		"every row needs a user and an item"},
	{"no-name.behaviors.tsv", ":1: field \"impressions\": not a shown item with its click: \"-1\"",
		"they look like N1-0 N2-1, separated by single spaces; the test set of MIND has no clicks and cannot be used here"},
	{"no-user.behaviors.tsv", ":1: field \"user\": empty",
		"every row needs a user and an item"},
	{"nothing-clicked.behaviors.tsv", ": no clicks in the file",
		""},
	{"nothing-clicked.inter_impression.csv", ": no rows left after step \"clicked\" (1 rows before it)",
		"is this the whole file, and the one the recipe is for?"},
	{"other-days.user_log_format1.csv", ": no rows left after step \"days 1101 to 1107\" (2 rows before it)",
		"is this the whole file, and the one the recipe is for?"},
	{"short-line.user_log_format1.csv", ":2: field \"action_type\": 6 fields instead of 7 (user_id, item_id, cat_id, seller_id, brand_id, time_stamp, action_type)",
		"the line is short; was the file cut?"},
	{"single-quotes.review.json", ":1: not JSON: a name between quotes should stand at byte 2, got \"'review_id':'r','user_id':'uA','business\"...",
		""},
	{"stars-huge.review.json", ":1: field \"stars\": rating \"1e39\" is too large",
		""},
	{"stars-text.review.json", ":1: field \"stars\": not a number: \"\\\"5\\\"\"",
		""},
	{"three.inter_impression.csv", ":1: field \"click timestamp\": 3 fields instead of 4 (user, answer, impression timestamp, click timestamp)",
		"the line is short; was the file cut?"},
	{"three.ratings_Books.csv", ":1: field \"timestamp\": 3 fields instead of 4 (user, item, rating, timestamp)",
		"the line is short; was the file cut?"},
	{"two-spaces.behaviors.tsv", ":1: field \"impressions\": not a shown item with its click: \"\"",
		"they look like N1-0 N2-1, separated by single spaces; the test set of MIND has no clicks and cannot be used here"},
	{"user-control.review.json", ":1: field \"user_id\": control character in \"u\\x01A\"",
		""},
	{"user-empty.review.json", ":1: field \"user_id\": empty",
		"every row needs a user and an item"},
	{"user-null.review.json", ":1: field \"user_id\": not a text: \"null\"",
		""},
	{"user-two.review.json", ":1: field \"user_id\": is twice in one object",
		""},
}

func TestBadFiles(t *testing.T) {
	entries, err := os.ReadDir(formattest.BadDir)
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != len(badFiles) {
		t.Errorf("%d files in %s, %d listed here", len(entries), formattest.BadDir, len(badFiles))
	}
	for _, c := range badFiles {
		t.Run(c.file, func(t *testing.T) {
			path := filepath.Join(formattest.BadDir, c.file)
			_, _, err := readByName(t.Context(), path)
			var e *dataset.Error
			if !errors.As(err, &e) {
				t.Fatalf("error is %v, want an *Error", err)
			}
			if got := strings.TrimPrefix(e.Error(), path); got != c.message {
				t.Errorf("message %q\nwant    %q", got, c.message)
			}
			if e.Hint != c.hint {
				t.Errorf("hint %q\nwant %q", e.Hint, c.hint)
			}
		})
	}
}
