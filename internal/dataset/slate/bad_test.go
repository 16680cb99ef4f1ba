package slate

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"privrec/internal/dataset"
	"privrec/internal/dataset/format"
	"privrec/internal/dataset/registry"
)

const badDir = "../../../testdata/bad/slate"

// readBad reads a file as its name says. Tables have tokens 0..19 and users 0..2.
func readBad(ctx context.Context, path string) error {
	dir, name := filepath.Split(path)
	tab := &tables{ctx: ctx, folder: dir, vocab: 20}
	var err error
	switch {
	case strings.HasSuffix(strings.TrimSuffix(name, ".gz"), "inter_impression.csv"):
		_, err = ReadZhihu(ctx, path)
	case strings.HasSuffix(name, "impressions.tsv"):
		_, err = ReadGeneric(ctx, path, format.TSV, registry.Columns{})
	case strings.HasSuffix(name, "behaviors.tsv"):
		_, err = ReadMIND(ctx, path)
	case strings.HasSuffix(name, "val.tsv"):
		_, err = tab.pairs(name)
	case strings.HasSuffix(name, "train_reconstructed.tsv"):
		_, err = tab.training(name, 3)
	case strings.HasSuffix(name, "sequence2user.tsv"):
		_, err = tab.owners(name)
	case strings.HasSuffix(name, "vocab.tsv"):
		tab.vocab = 0
		err = tab.vocabulary(name)
	case strings.HasSuffix(name, "user_items.tsv"):
		_, _, _, err = tab.logged(name)
	default:
		err = fmt.Errorf("no reader for %s", name)
	}
	return err
}

// badFiles lists one file for each way to be wrong, its message after the path, and its
// hint.
var badFiles = []struct{ file, message, hint string }{
	{"blank.inter_impression.csv", ":2: blank line inside the file",
		"remove it, or check that the file was not cut and joined"},
	{"click-two.behaviors.tsv", ":1: field \"impressions\": not a shown item with its click: \"N3-2\"",
		"they look like N1-0 N2-1, separated by single spaces; the test set of MIND has no clicks and cannot be used here"},
	{"click-word.impressions.tsv", ":2: field \"clicked_at\": not a finite number: \"yes\"",
		""},
	{"clicked.user_items.tsv", ":2: field \"clicked_set\": 77 is above 19",
		""},
	{"columns.val.tsv", ":1: not the header: \"seq_id\\tuser\\texposure\\thistory\"",
		"the first line must be \"seq_id\\tuser\\tcomplete\\texposure\\thistory\""},
	{"commas.impressions.tsv", ":1: not the header: \"user,item,shown_at,clicked_at\"",
		"the first line must be \"user\\titem\\tshown_at\\tclicked_at\", or have shown and clicked in place of the last two; columns.yaml beside the table names columns that are called otherwise"},
	{"complete.val.tsv", ":2: field \"complete\": is 1, but there are 2 shown and 1 clicked items",
		""},
	{"cut.inter_impression.csv.gz", ":1: compressed file is cut short: unexpected EOF",
		"fetch or copy it again"},
	{"damaged.inter_impression.csv.gz", ":2: compressed file is damaged: gzip: invalid checksum",
		"fetch or copy it again"},
	{"eleven.val.tsv", ":2: field \"exposure\": 11 items, more than 10",
		""},
	{"empty.inter_impression.csv", ": file is empty",
		""},
	{"five.inter_impression.csv", ":1: 5 fields instead of 4 (user, answer, impression timestamp, click timestamp)",
		""},
	{"flag.val.tsv", ":2: field \"complete\": 2 is above 1",
		""},
	{"four.behaviors.tsv", ":1: field \"impressions\": 4 fields instead of 5 (impression, user, time, history, impressions)",
		"the line is short; was the file cut?"},
	{"fraction.inter_impression.csv", ":1: field \"impression timestamp\": time \"10.0123456789\" has 10 digits after the point",
		"at most 9 are read"},
	{"gap.sequence2user.tsv", ":3: field \"seq_id\": 2 in place of 1",
		""},
	{"gap.vocab.tsv", ":3: field \"token\": 2 in place of 1",
		""},
	{"header-only.impressions.tsv", ": no rows in the file",
		""},
	{"header.inter_impression.csv", ":1: field \"impression timestamp\": not a 64-bit integer: \"shown\"",
		""},
	{"history-spaces.behaviors.tsv", ":1: field \"history\": two spaces in a row",
		"items are separated by single spaces"},
	{"iso-time.behaviors.tsv", ":1: field \"time\": not a time: \"2019-11-11 09:05:58\"",
		"times of this format look like 11/11/2019 9:05:58 AM"},
	{"latin1.inter_impression.csv", ":2: invalid UTF-8",
		"convert the file, for example with: iconv -f latin1 -t utf-8"},
	{"magic.inter_impression.csv.gz", ": compressed file is cut short: unexpected EOF",
		"fetch or copy it again"},
	{"negative-click.inter_impression.csv", ":1: field \"click timestamp\": -5 is below 0",
		""},
	{"no-answer.inter_impression.csv", ":1: field \"answer\": empty",
		"every row needs a user and an item"},
	{"no-click.inter_impression.csv", ":1: field \"click timestamp\": missing time",
		"every row says when the item was shown; a click time of 0 means no click"},
	{"no-clicks.behaviors.tsv", ":1: field \"impressions\": not a shown item with its click: \"N2\"",
		"they look like N1-0 N2-1, separated by single spaces; the test set of MIND has no clicks and cannot be used here"},
	{"no-header.impressions.tsv", ":1: not the header: \"a\\tb\\t10\\t0\"",
		"the first line must be \"user\\titem\\tshown_at\\tclicked_at\", or have shown and clicked in place of the last two; columns.yaml beside the table names columns that are called otherwise"},
	{"no-item.impressions.tsv", ":2: field \"item\": empty",
		"every row needs a user and an item"},
	{"no-show.inter_impression.csv", ":2: field \"impression timestamp\": missing time",
		"every row says when the item was shown; a click time of 0 means no click"},
	{"no-time.behaviors.tsv", ":1: field \"time\": missing time",
		"times of this format look like 11/11/2019 9:05:58 AM"},
	{"no-time.impressions.tsv", ":2: field \"shown_at\": missing time",
		"every row says when the item was shown; a click time of 0 means no click"},
	{"no-token.val.tsv", ":2: field \"exposure\": not a 64-bit integer: \"\"",
		""},
	{"no-user.behaviors.tsv", ":1: field \"user\": empty",
		"every log needs a user"},
	{"no-user.impressions.tsv", ":2: field \"user\": empty",
		"every row needs a user and an item"},
	{"no-user.inter_impression.csv", ":2: field \"user\": empty",
		"every row needs a user and an item"},
	{"no-user.val.tsv", ":2: field \"user\": empty",
		"a user that is not known is -1"},
	{"not-complete.val.tsv", ":2: field \"complete\": is 0, but there are 10 shown and 5 clicked items",
		""},
	{"nothing-shown.behaviors.tsv", ":1: field \"impressions\": not a shown item with its click: \"\"",
		"they look like N1-0 N2-1, separated by single spaces; the test set of MIND has no clicks and cannot be used here"},
	{"only-blank.inter_impression.csv", ": no rows in the file",
		""},
	{"order.train_reconstructed.tsv", ":3: field \"row\": 1 is below 2",
		""},
	{"order.user_items.tsv", ":2: field \"user\": 1 in place of 0",
		""},
	{"overflow.inter_impression.csv", ":1: field \"impression timestamp\": timestamp \"99999999999999999999\" is too large",
		""},
	{"sequence.val.tsv", ":2: field \"seq_id\": -2 is below -1",
		""},
	{"short.train_reconstructed.tsv", ":2: 2 shown and 1 clicked items, training pairs have 10 and 5",
		""},
	{"show-zero.inter_impression.csv", ":1: field \"impression timestamp\": missing time",
		"every row says when the item was shown; a click time of 0 means no click"},
	{"six.val.tsv", ":2: field \"history\": 6 items, more than 5",
		""},
	{"special.val.tsv", ":2: field \"exposure\": 1 is below 4",
		""},
	{"tabs.inter_impression.csv", ":1: one field instead of 4 (user, answer, impression timestamp, click timestamp)",
		"the separator should be \",\", this line seems to use \"\\t\""},
	{"three.inter_impression.csv", ":2: field \"click timestamp\": 3 fields instead of 4 (user, answer, impression timestamp, click timestamp)",
		"the line is short; was the file cut?"},
	{"token.user_items.tsv", ":2: field \"shown_in_order\": 3 is below 4",
		""},
	{"unknown-token.val.tsv", ":2: field \"exposure\": 20 is above 19",
		""},
	{"user.train_reconstructed.tsv", ":2: field \"user\": 3 is above 2",
		""},
	{"word.impressions.tsv", ":2: field \"shown_at\": not a 64-bit integer: \"monday\"",
		""},
	{"word.sequence2user.tsv", ":2: field \"user\": not a 64-bit integer: \"p7\"",
		""},
	{"zero.inter_impression.csv", ":1: zero byte in a text file",
		"the file is binary or UTF-16; convert it to UTF-8 text"},
}

func TestBadFiles(t *testing.T) {
	entries, err := os.ReadDir(badDir)
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != len(badFiles) {
		t.Errorf("%d files in %s, %d listed here", len(entries), badDir, len(badFiles))
	}
	for _, c := range badFiles {
		t.Run(c.file, func(t *testing.T) {
			path := filepath.Join(badDir, c.file)
			err := readBad(t.Context(), path)
			var e *dataset.Error
			if !errors.As(err, &e) {
				t.Fatalf("error is %v, want a *dataset.Error", err)
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
