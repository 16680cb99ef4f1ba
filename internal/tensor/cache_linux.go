package tensor

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
)

// NearCache returns how many bytes of data one core holds near it: the size of its
// second-level cache, a megabyte where the system does not say. It decides how work is
// cut and ordered, never what comes out.
var NearCache = sync.OnceValue(func() int {
	folders, _ := filepath.Glob("/sys/devices/system/cpu/cpu0/cache/index*") // none: the default
	for _, dir := range folders {
		if word(dir, "level") != "2" || word(dir, "type") == "Instruction" {
			continue
		}
		if kb, err := strconv.Atoi(strings.TrimSuffix(word(dir, "size"), "K")); err == nil && kb > 0 {
			return kb << 10
		}
	}
	return usualCache
})

// word returns what a file of one word says, "" where it cannot be read.
func word(dir, name string) string {
	b, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}
