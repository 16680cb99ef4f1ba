package goldentest

import (
	"maps"
	"os"
	"testing"
)

// folderVariable names other files to test.
const folderVariable = "PRIVREC_GOLDENS"

const goldens = "../../../testdata/goldens"

// rowsOfTheFiles is how many values there are in testdata/goldens.
const rowsOfTheFiles = 1042

func TestGoldens(t *testing.T) {
	folder := os.Getenv(folderVariable)
	if folder == "" {
		folder = goldens
	}
	fns := map[string]answers{}
	for _, part := range []map[string]answers{gaussian(), curves(), sampled(), losses(), randomisers(), composed(), audited()} {
		for fn := range part {
			if fns[fn] != nil {
				t.Errorf("%s is mapped twice", fn)
			}
		}
		maps.Copy(fns, part)
	}
	spare := map[string]bool{"KRRDelta": true} // which the files describe and give no row of
	if folder != goldens {
		for fn := range fns {
			spare[fn] = true
		}
	}
	if rows := library(t, folder, fns, spare); folder == goldens && rows != rowsOfTheFiles {
		t.Errorf("%d rows checked, want %d", rows, rowsOfTheFiles)
	}
}
